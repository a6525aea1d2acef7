"""`/account`: the own profile, password, logins and sessions, in this order on one page.

Each form has an address of its own, which answers with the whole page if something is wrong.
"""

import uuid
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.db import DatabaseError
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from accounts.directory import UsersUnknown
from accounts.forms import Form
from accounts.own.history import history_of
from accounts.own.password import change_password, password_form
from accounts.own.person import own_name, own_user
from accounts.own.profile import change_profile, profile_form
from accounts.protection import signins
from accounts.protection.endings import tell_replicas
from accounts.time import now
from console.audit.trail import SESSIONS, AuditUnavailable, record, request_action
from console.kube.errors import ApiError
from console.kube.projections import User
from console.kube.runtime import get_runtime
from console.kube.store import Entry
from console.ui.http import ConsoleRequest
from console.ui.shell import THEME_COOKIE
from console.views.errors import error_page
from console.views.guard import refuse_anonymous
from console.views.preferences import YEAR

Page = Callable[[ConsoleRequest, Entry[User]], Coroutine[Any, Any, HttpResponse]]
View = Callable[..., Coroutine[Any, Any, HttpResponse]]

OTHERS = "others"


def own_page(page: Page) -> View:
    """For whoever is signed in with a browser, with their own user. A token is for the cluster."""

    @wraps(page)
    async def view(request: ConsoleRequest) -> HttpResponse:
        refusal = refuse_anonymous(request)
        if refusal is not None:
            return refusal
        if getattr(request, "bearer", None) is not None:
            return error_page(request, 403, _("You may not do this."))
        try:
            return await page(request, own_user(request))
        except (ApiError, UsersUnknown):
            return error_page(request, 503, _("The users have not arrived from the cluster."))
        except (AuditUnavailable, DatabaseError):
            return error_page(request, 503, _("The database cannot be used."))

    return view


@require_safe
@own_page
async def account(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    return await _page(request, entry)


@require_POST
@own_page
async def profile(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    form = profile_form(request, entry)
    if not await change_profile(request, entry, form):
        return await _page(request, entry, profile=form)
    with override(form["language"]):
        messages.success(request, _("The profile is saved."))
    response = HttpResponseRedirect(reverse("accounts:own:account"))
    chosen = {
        settings.LANGUAGE_COOKIE_NAME: form["language"],
        THEME_COOKIE: form["theme"],
    }
    secure = bool(settings.SESSION_COOKIE_SECURE)
    for cookie, value in chosen.items():
        response.set_cookie(
            cookie, value, max_age=YEAR, secure=secure, httponly=True, samesite="Lax"
        )
    return response


@sensitive_post_parameters("current", "password", "again")
@require_POST
@own_page
async def password(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    form = password_form(entry)
    if not await change_password(request, entry, form):
        return await _page(request, entry, password=form)
    messages.success(request, _("The password is changed. All other sessions have ended."))
    return HttpResponseRedirect(reverse("accounts:own:account"))


@require_POST
@own_page
async def end_sessions(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    """`session`: the id of one, or `others`."""
    name, given = own_name(request), request.POST.get("session", "")
    current = request.session.session_key
    async with record(request_action(request, "delete", SESSIONS)) as recording:
        if given == OTHERS:
            ended = await sync_to_async(signins.end_all)(name, but=current)
        else:
            ended = int(_is_id(given) and await sync_to_async(signins.end_one)(name, given))
        if not ended:
            recording.answered(404, "NotFound")
    if ended:
        await tell_replicas(get_runtime().console, name, now())
        text = ngettext("Ended %(number)s session.", "Ended %(number)s sessions.", ended)
        messages.success(request, text % {"number": ended})
    else:
        messages.warning(request, _("There is no such session any more."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#sessions")


def _is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


async def _page(
    request: ConsoleRequest,
    entry: Entry[User],
    *,
    profile: Form | None = None,
    password: Form | None = None,
) -> HttpResponse:
    name = entry.key.name
    current = request.session.session_key
    context = {
        "name": name,
        "profile": profile or profile_form(request, entry),
        "password": password or password_form(entry),
        "history": await history_of(name),
        "sessions": await sync_to_async(signins.signed_in)(name, now(), current=current),
        "others": OTHERS,
        "kubeconfig_days": settings.KUBECONFIG_HOURS // 24,
        "kubeconfig_hours": settings.KUBECONFIG_HOURS,
    }
    status = 200 if profile is None and password is None else 400
    return render(request, "accounts/own/account.html", context, status=status)
