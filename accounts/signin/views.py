"""Sign-in and sign-out views."""

import base64
import binascii

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.federation.signin import handle_errors, sign_in_through
from accounts.federation.signout import provider_logout
from accounts.protection.records import origin_of
from accounts.protection.revocation import notify_replicas
from accounts.providers.options import read_current_providers
from accounts.signin import sessions
from accounts.signin.authenticate import Attempt, first_step
from accounts.signin.language import set_user_language
from accounts.signin.login_page import LoginForm, locked_page, login_page
from accounts.signin.next_url import safe_next_url
from accounts.signin.passwords import TooBusy
from accounts.signin.sessions import State, next_page_url
from accounts.time import now
from accounts.users.directory import trusted_users
from console.audit.trail import AuditUnavailable, record_session
from console.kube.host_runtime import get_runtime
from console.ui.core.requests import ConsoleRequest

KEY = "kubesphere"
MAX_LENGTH = 8192
#: Padding used if the password is shorter than the key.
_FILLING = 64


@sensitive_post_parameters("password", "encrypt")
@require_http_methods(["GET", "HEAD", "POST"])
@handle_errors
async def login(request: ConsoleRequest, provider: str = "") -> HttpResponse:
    """Render and process the sign-in form. `provider` is the identity provider given in the URL."""
    await read_current_providers()
    trusted_users()
    if request.method == "POST":
        return await _sign_in(request, provider)
    return _offer(request, provider)


def _offer(request: ConsoleRequest, provider: str) -> HttpResponse:
    """Render the sign-in form, or redirect a user who is already signed in."""
    # KubeSphere's links use the parameter `referer`.
    next_url = safe_next_url(request.GET.get("next") or request.GET.get("referer", ""))
    if request.account is not None or request.pending is not None:
        return HttpResponseRedirect(next_url)
    state: State = request.session_state  # type: ignore[attr-defined]
    ended = "ended" in request.GET or state is State.ENDED
    error = _("Your session has ended. Sign in again.") if ended else None
    form = LoginForm(error=error, next=next_url, provider=provider)
    return login_page(request, form)


async def _sign_in(request: ConsoleRequest, provider: str) -> HttpResponse:
    """Process the sign-in form.

    Raise `UsersNotCached`, `AuditUnavailable` or DatabaseError; no session is created in that
    case.
    """
    username = request.POST.get("username", "")
    next_url = safe_next_url(request.POST.get("next", ""))
    password = request.POST.get("password", "") or decode(request.POST.get("encrypt", ""))
    provider = provider or request.POST.get("provider", "")
    if provider:
        return await sign_in_through(request, provider, username, password, next_url)
    try:
        attempt = await first_step(request, username, password)
    except TooBusy:
        text = _("Too many users are signing in. Try again in a few seconds.")
        return login_page(request, LoginForm(username, text, next_url), status=503)
    if await _admit(request, attempt):
        response = HttpResponseRedirect(await next_page_url(request.session, next_url))
        set_user_language(response, attempt.name)
        return response
    shown = username if username.isprintable() and len(username) <= 253 else ""
    if attempt.wait is not None:
        return locked_page(request, LoginForm(shown, next=next_url), attempt.wait)
    text = _("Incorrect username or password.")
    return login_page(request, LoginForm(shown, text, next_url), status=401)


async def _admit(request: HttpRequest, attempt: Attempt) -> bool:
    """Audit the attempt and, if it succeeded, create a new session."""
    async with record_session(request, "login", actor=attempt.name) as entry:
        if attempt.user is None:
            entry.set_outcome(401 if attempt.wait is None else 429, attempt.reason)
            return False
        await sessions.start_session(
            request.session,
            attempt.user,
            now(),
            credential=attempt.credential,
            origin=origin_of(request),
        )
        await request.session.asave(must_create=True)
        rotate_token(request)
    return True


@require_POST
async def logout(request: ConsoleRequest) -> HttpResponse:
    """Delete the session from the database, which also invalidates copies of the cookie.

    Then sign out at the identity provider if the session came from one.
    """
    where = await provider_logout(request.session)
    try:
        async with record_session(request, "logout"):
            await request.session.aflush()
    except AuditUnavailable:
        # Sign out even if the audit trail is unavailable: staying signed in would be worse.
        await request.session.aflush()
    if request.account is not None:
        # Other websockets of this browser, on any replica, then check their session again.
        await notify_replicas(get_runtime().console, request.account, now())
    if where:
        # Render a page instead of a redirect, because browsers may apply the CSP directive
        # `form-action` to redirects after a form post.
        return render(request, "accounts/leave.html", {"where": where})
    return HttpResponseRedirect(reverse("accounts:login"))


# Decoding of `encrypt`, the format in which KubeSphere's sign-in page sends a password.
#
# The format is obfuscation, not encryption, because every browser has the key. It is supported so
# that clients written for KubeSphere can sign in here. Over TLS, a plain `password` is equally
# secure.


def decode(value: str) -> str:
    """Return the decoded password, or "" if the value is malformed. A value without `@` is the
    plain password.
    """
    signs, at, chars = value.partition("@")
    if not at:
        return value
    try:
        bits = base64.b64decode(signs, validate=True).decode("ascii")
        if len(value) > MAX_LENGTH or len(bits) != len(chars) or not set(bits) <= {"0", "1"}:
            return ""
        codes: list[int] = []
        for place, (bit, char) in enumerate(zip(bits, chars, strict=True)):
            salt = ord(KEY[place]) if place < len(KEY) else codes[place - len(KEY)]
            codes.append(2 * ord(char) - salt + int(bit))
        text = bytes(code for code in codes if code != _FILLING)
        return base64.b64decode(text, validate=True).decode()
    except (ValueError, binascii.Error):
        return ""
