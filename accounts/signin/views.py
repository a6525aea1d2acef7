"""The way in and the way out."""

import base64
import binascii
import logging

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.federation.signin import sign_in_through
from accounts.federation.signout import provider_logout
from accounts.protection.endings import tell_replicas
from accounts.protection.records import origin_of
from accounts.providers.options import catalogue
from accounts.signin import sessions
from accounts.signin.authenticate import Attempt, first_step
from accounts.signin.language import speak_to
from accounts.signin.login_page import LoginForm, locked_page, login_page
from accounts.signin.next_url import safe_next
from accounts.signin.passwords import TooBusy
from accounts.signin.sessions import State, onward
from accounts.users.directory import UsersUnknown, trusted_users
from console.audit.trail import SESSIONS, AuditUnavailable, record, request_action
from console.kube.clock import SystemClock
from console.kube.current import get_runtime
from console.ui.http import ConsoleRequest
from console.views.errors import error_page

log = logging.getLogger(__name__)

_clock = SystemClock()
KEY = "kubesphere"
MAX_LENGTH = 8192
#: Stands where the password was shorter than the key.
_FILLING = 64


@sensitive_post_parameters("password", "encrypt")
@require_http_methods(["GET", "HEAD", "POST"])
async def login(request: ConsoleRequest, provider: str = "") -> HttpResponse:
    """`provider`: who checks the password, where the address says so."""
    await catalogue()
    try:
        trusted_users()
        if request.method == "POST":
            return await _sign_in(request, provider)
    except UsersUnknown:
        return error_page(
            request, 503, _("Nobody can log in yet: the users have not arrived from the cluster.")
        )
    except (AuditUnavailable, DatabaseError) as error:
        log.error("A login failed, because the database cannot be used: %s", error)
        return error_page(request, 503, _("Nobody can log in: the database cannot be used."))
    return _offer(request, provider)


def _offer(request: ConsoleRequest, provider: str) -> HttpResponse:
    """The form, or the way on for somebody who is signed in already."""
    # KubeSphere's links say referer.
    next_url = safe_next(request.GET.get("next") or request.GET.get("referer", ""))
    if request.account is not None or request.pending is not None:
        return HttpResponseRedirect(next_url)
    state: State = request.session_state  # type: ignore[attr-defined]
    ended = "ended" in request.GET or state is State.ENDED
    error = _("Your session has ended. Log in again.") if ended else None
    form = LoginForm(error=error, next=next_url, provider=provider)
    return login_page(request, form)


async def _sign_in(request: ConsoleRequest, provider: str) -> HttpResponse:
    """Raises `UsersUnknown`, `AuditUnavailable` and DatabaseError; then nobody is signed in."""
    username = request.POST.get("username", "")
    next_url = safe_next(request.POST.get("next", ""))
    password = request.POST.get("password", "") or decode(request.POST.get("encrypt", ""))
    provider = provider or request.POST.get("provider", "")
    if provider:
        return await sign_in_through(request, provider, username, password, next_url)
    try:
        attempt = await first_step(request, username, password)
    except TooBusy:
        text = _("Too many people log in at this moment. Try again in a few seconds.")
        return login_page(request, LoginForm(username, text, next_url), status=503)
    if await _admit(request, attempt):
        response = HttpResponseRedirect(await onward(request.session, next_url))
        speak_to(response, attempt.name)
        return response
    shown = username if username.isprintable() and len(username) <= 253 else ""
    if attempt.wait is not None:
        return locked_page(request, LoginForm(shown, next=next_url), attempt.wait)
    text = _("Wrong name or password.")
    return login_page(request, LoginForm(shown, text, next_url), status=401)


async def _admit(request: HttpRequest, attempt: Attempt) -> bool:
    """Records the attempt and, if it succeeded, gives the browser a session of its own."""
    async with record(request_action(request, "login", SESSIONS, actor=attempt.name)) as entry:
        if attempt.user is None:
            entry.answered(401 if attempt.wait is None else 429, attempt.reason)
            return False
        await sessions.begin(
            request.session,
            attempt.user,
            _clock.now(),
            credential=attempt.credential,
            origin=origin_of(request),
        )
        await request.session.asave(must_create=True)
        rotate_token(request)
    return True


@require_POST
async def logout(request: ConsoleRequest) -> HttpResponse:
    """Ends the session in the database, so that a copy of the cookie is worth nothing either, and then
    the one at the identity provider, if it has one."""
    where = await provider_logout(request.session)
    try:
        async with record(request_action(request, "logout", SESSIONS)):
            await request.session.aflush()
    except AuditUnavailable:
        # Staying signed in would be the greater harm.
        await request.session.aflush()
    if request.account is not None:
        # What else is open in this browser looks at its session again, wherever it is served.
        await tell_replicas(get_runtime().console, request.account, _clock.now())
    if where:
        # A page, since browsers may hold a redirect that comes of a form to this origin.
        return render(request, "accounts/leave.html", {"where": where})
    return HttpResponseRedirect(reverse("accounts:login"))


# `encrypt`, the form in which KubeSphere's login page sends a password.
#
# It is no encryption: the key is in every browser. It is read so that programs that log in to
# KubeSphere can log in here; over TLS, `password` in clear is as good.


def decode(value: str) -> str:
    """The password; "" for what cannot be one. Without an `@`, the value is the password itself."""
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
