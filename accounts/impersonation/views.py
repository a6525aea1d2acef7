"""Views to start viewing the console as another user, allow changes, and stop."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.admin.views import require, user_not_found, user_url
from accounts.impersonation.state import (
    PEOPLE,
    VIEWING,
    Refusal,
    Viewing,
    may_view,
    refusal_of,
    target_of,
)
from accounts.time import now
from accounts.users.directory import users
from console.audit.trail import record_request
from console.kube.gvr import USERS, Key
from console.kube.identity import Identity
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.views.errors import error_page
from console.views.page import page
from rbac.rule_descriptions import describe_rule

#: Maximum number of excess permissions listed in a message.
MOST = 5


@page("GET", "POST")
async def begin(request: ConsoleRequest, name: str) -> HttpResponse:
    """Explain viewing as another user (GET) or start it (POST)."""
    viewer: Identity = request.own_identity  # type: ignore[attr-defined]
    if _viewing(request) is not None:
        text = _(
            "You are already viewing the console as another user. Stop viewing as that user first."
        )
        return error_page(request, 403, text)
    require(request, "get", name)
    if not may_view(viewer, name):
        raise Denied("impersonate", USERS)
    target = target_of(name)
    if target is None:
        return user_not_found(request, name)
    refusal = refusal_of(viewer, target)
    if refusal is not None:
        return _page(request, name, _problem(refusal, name), 403)
    if request.method != "POST":
        return _page(request, name)
    entry = users().store.get(Key("", name))
    uid = entry.projection.uid if entry is not None else ""
    async with record_request(request, "impersonate", PEOPLE, name=name):
        content = {"name": name, "uid": uid, "since": now().timestamp(), "writes": False}
        await request.session.aset(VIEWING, content)
    return HttpResponseRedirect(reverse("dashboard"))


@page("GET", "POST")
async def confirm(request: ConsoleRequest) -> HttpResponse:
    """Allow changes, which are made as the other user."""
    viewing = _viewing(request)
    if viewing is None:
        return HttpResponseRedirect(reverse("dashboard"))
    if request.method != "POST":
        context = {"name": viewing.name, "who": request.account}
        return render(request, "accounts/impersonation/confirm.html", context)
    where = {"name": viewing.name, "subresource": "changes"}
    async with record_request(request, "impersonate", PEOPLE, **where):
        kept: dict[str, Any] = await request.session.aget(VIEWING, {})
        await request.session.aset(VIEWING, {**kept, "writes": True})
    return HttpResponseRedirect(reverse("dashboard"))


@page("POST")
async def end(request: ConsoleRequest) -> HttpResponse:
    viewing = _viewing(request)
    if viewing is None:
        return HttpResponseRedirect(reverse("dashboard"))
    where = {"name": viewing.name, "subresource": "end"}
    async with record_request(request, "impersonate", PEOPLE, **where):
        await request.session.apop(VIEWING, None)
    messages.success(request, _("You are using the console as yourself again."))
    return HttpResponseRedirect(user_url(viewing.name))


def _viewing(request: ConsoleRequest) -> Viewing | None:
    found: Viewing | None = getattr(request, "viewing", None)
    return found


def _problem(refusal: Refusal, name: str) -> str:
    if refusal.is_self:
        return _("You cannot view the console as yourself.")
    rights = "; ".join(describe_rule(rule) for rule in refusal.beyond[:MOST])
    text = _("%(name)s has permissions that you don't have: %(rights)s.")
    return text % {"name": name, "rights": rights}


def _page(request: ConsoleRequest, name: str, error: str = "", status: int = 200) -> HttpResponse:
    context = {"name": name, "error": error, "back": user_url(name)}
    return render(request, "accounts/impersonation/begin.html", context, status=status)
