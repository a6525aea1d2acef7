"""The way in and the way out."""

import logging
import math
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts import sessions
from accounts.authenticate import Attempt, authenticate
from accounts.directory import UsersUnknown, trusted_users
from accounts.next_url import START, safe_next
from accounts.passwords import TooBusy
from accounts.protection.origins import origin_of
from accounts.sessions import State
from console.audit.trail import SESSIONS, AuditUnavailable, record, request_action
from console.kube.clock import SystemClock
from console.ui.http import ConsoleRequest
from console.views.errors import error_page

log = logging.getLogger(__name__)

_clock = SystemClock()


@dataclass(frozen=True, slots=True)
class LoginForm:
    """What the page shows; the password is never in it."""

    username: str = ""
    error: str | None = None
    next: str = START


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
async def login(request: ConsoleRequest) -> HttpResponse:
    try:
        trusted_users()
        if request.method == "POST":
            return await _sign_in(request)
    except UsersUnknown:
        return error_page(
            request, 503, _("Nobody can log in yet: the users have not arrived from the cluster.")
        )
    except (AuditUnavailable, DatabaseError) as error:
        log.error("A login failed, because the database cannot be used: %s", error)
        return error_page(request, 503, _("Nobody can log in: the database cannot be used."))
    return _offer(request)


def _offer(request: ConsoleRequest) -> HttpResponse:
    """The form, or the way on for somebody who is signed in already."""
    next_url = safe_next(request.GET.get("next", ""))
    if request.account is not None or request.pending is not None:
        return HttpResponseRedirect(next_url)
    state: State = request.session_state  # type: ignore[attr-defined]
    ended = "ended" in request.GET or state is State.ENDED
    error = _("Your session has ended. Log in again.") if ended else None
    return _form(request, LoginForm(error=error, next=next_url))


async def _sign_in(request: ConsoleRequest) -> HttpResponse:
    """Raises `UsersUnknown`, `AuditUnavailable` and DatabaseError; then nobody is signed in."""
    username = request.POST.get("username", "")
    next_url = safe_next(request.POST.get("next", ""))
    try:
        attempt = await authenticate(request, username, request.POST.get("password", ""))
    except TooBusy:
        text = _("Too many people log in at this moment. Try again in a few seconds.")
        return _form(request, LoginForm(username, text, next_url), status=503)
    if await _admit(request, attempt):
        return HttpResponseRedirect(next_url)
    shown = username if username.isprintable() and len(username) <= 253 else ""
    if attempt.wait is not None:
        response = _form(request, LoginForm(shown, too_many(attempt.wait), next_url), status=429)
        response["Retry-After"] = str(math.ceil(attempt.wait))
        return response
    return _form(request, LoginForm(shown, _("Wrong name or password."), next_url), status=401)


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


def too_many(wait: float) -> str:
    """`wait`: seconds until there may be another attempt."""
    minutes = math.ceil(wait / 60)
    text = ngettext(
        "There were too many failed attempts. Try again in %(minutes)s minute.",
        "There were too many failed attempts. Try again in %(minutes)s minutes.",
        minutes,
    )
    return text % {"minutes": minutes}


def _form(request: HttpRequest, form: LoginForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "cluster_name": settings.CLUSTER_NAME}
    return render(request, "accounts/login.html", context, status=status)


@require_POST
async def logout(request: ConsoleRequest) -> HttpResponse:
    """Ends the session in the database, so that a copy of the cookie is worth nothing either."""
    try:
        async with record(request_action(request, "logout", SESSIONS)):
            await request.session.aflush()
    except AuditUnavailable:
        # Staying signed in would be the greater harm.
        await request.session.aflush()
    return HttpResponseRedirect(reverse("accounts:login"))
