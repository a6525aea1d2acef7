"""Changing the own password, and choosing the first one.

Whoever knows the present password may change it; where there is none, being signed in is enough. All
other sessions and all tokens end with it.
"""

from typing import Any

from django.contrib import messages
from django.db import DatabaseError
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.authenticate import check
from accounts.directory import UsersUnknown
from accounts.forms import Field, Form
from accounts.login_page import too_many
from accounts.new_passwords import new_password_problem, set_password
from accounts.next_url import safe_next
from accounts.own.person import own_user, start_anew, write_own
from accounts.passwords import TooBusy
from accounts.sessions import Step
from accounts.steps import onward
from accounts.time import now
from accounts.writing import Manifest
from console.audit.trail import AuditUnavailable, Recording
from console.kube.client import ConsoleClient
from console.kube.errors import ApiError
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.http import ConsoleRequest
from console.views import problems
from console.views.errors import error_page


def password_form(entry: Entry[User]) -> Form:
    secret: dict[str, Any] = {"type": "password", "required": True}
    hint = _("8 to 64 characters, with a lower-case letter, an upper-case letter and a digit.")
    fields = [
        Field("password", _("New password"), hint=hint, autocomplete="new-password", **secret),
        Field("again", _("New password again"), autocomplete="new-password", **secret),
    ]
    return Form([*present_password(entry), *fields])


def present_password(entry: Entry[User]) -> list[Field]:
    """Asked for before anything that keeps others out changes, where there is one."""
    if not entry.projection.has_password:
        return []
    text = _("Present password")
    return [Field("current", text, "password", autocomplete="current-password", required=True)]


async def change_password(request: ConsoleRequest, entry: Entry[User], form: Form) -> bool:
    """True if it is done; else the form says why not. Raises `UsersUnknown` and DatabaseError."""
    form.read(request)
    user = entry.projection
    problem = new_password_problem(form["password"], name=user.name, email=user.email)
    if problem:
        form.refuse("password", problem)
    elif form["again"] != form["password"]:
        form.refuse("again", _("This is not the same password."))
    elif "current" in form.by_name and form["current"] == form["password"]:
        form.refuse("password", _("This is the present password."))
    try:
        if form.is_right and "current" in form.by_name:
            await check_present(request, user, form)
        if form.is_right:
            await write_own(request, "password", _writing(form["password"]))
            await start_anew(request, user)
    except TooBusy:
        form.error = _("Too many passwords are being checked at this moment. Try again soon.")
    except (ApiError, AuditUnavailable) as error:
        problems.apply(error, form)
    return form.is_right


@sensitive_post_parameters("current", "password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
async def choose_password(request: ConsoleRequest) -> HttpResponse:
    """`/password/confirm`: the one page of a user whose password must change."""
    if getattr(request, "step", None) is not Step.PASSWORD:
        return HttpResponseRedirect(reverse("accounts:own:account"))
    given = request.POST if request.method == "POST" else request.GET
    next_url = safe_next(given.get("next", ""))
    try:
        entry = own_user(request)
        form = password_form(entry)
        if request.method == "POST" and await change_password(request, entry, form):
            messages.success(request, _("The password is changed."))
            return HttpResponseRedirect(await onward(request.session, next_url))
    except (ApiError, UsersUnknown):
        return error_page(request, 503, _("The users have not arrived from the cluster."))
    except DatabaseError:
        return error_page(request, 503, _("The database cannot be used."))
    context = {"form": form, "next": next_url, "who": request.pending}
    status = 200 if form.is_right else 400
    return render(request, "accounts/own/choose_password.html", context, status=status)


async def check_present(request: ConsoleRequest, user: User, form: Form) -> None:
    """Of a form that has `present_password`. Counted as any other attempt, so that a browser left open
    does not give the password away."""
    attempt = await check(request, user.name, form["current"])
    if attempt.wait is not None:
        form.error = too_many(attempt.wait)
    elif attempt.user is None:
        form.refuse("current", _("This is not the present password."))


def _writing(password: str) -> Any:
    async def write(client: ConsoleClient, user: Manifest, recording: Recording) -> Manifest:
        return await set_password(
            client, user, password, now(), must_change=False, audit_id=recording.audit_id
        )

    return write
