"""Page of one account: details, sign-in history, sessions and actions."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from accounts.admin.authority import check_holds_no_more, may_change
from accounts.impersonation.state import may_view
from accounts.mfa.factors import has_factor
from accounts.oauth.holders import has_first_password
from accounts.protection import browser_sessions
from accounts.protection.attempts import user_locked_for
from accounts.protection.records import history_of
from accounts.signin.login_page import too_many
from accounts.time import now
from accounts.users.assigned_roles import invite_links, platform_role_links, user_roles
from accounts.users.directory import trusted_users
from accounts.users.states import ACTIVE, CHANGED_ANNOTATION, DISABLED, LOCKED
from console.kube.gvr import LOGIN_RECORDS, USERS, Key
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import Action
from console.ui.core.clusters import HOST
from console.ui.core.links import list_url
from console.ui.core.menu import USERS_ENTRY
from console.ui.core.permissions import Denied, Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.details.detail import object_tabs
from console.ui.lists.rows import MenuItem, action_bar
from console.views.back_link import object_path
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page

SEGMENT = "users.iam.kubesphere.io"


@dataclass(frozen=True, slots=True)
class ActionButton:
    label: str | Promise
    url: str


@page("GET")
async def accounts(request: ConsoleRequest) -> HttpResponse:
    """Redirect to the list of users."""
    require(request, "list")
    return HttpResponseRedirect(list_url(HOST, SEGMENT))


@page("GET", menu=USERS_ENTRY)
async def show(request: ConsoleRequest, name: str) -> HttpResponse:
    access = require(request, "get", name)
    entry = trusted_users().store.get(Key("", name))
    return user_not_found(request, name) if entry is None else await _page(request, access, entry)


def require(request: ConsoleRequest, verb: str, name: str = "") -> Access:
    """Return the viewer's access. Raise `Denied` without permission, whether or not the user
    exists.
    """
    access = access_of(request)
    if not access.can(verb, USERS, name=name):
        raise Denied(verb, USERS)
    return access


def user_url(name: str) -> str:
    return reverse("accounts:administration:show", args=(name,))


def user_not_found(request: ConsoleRequest, name: str) -> HttpResponse:
    return error_page(
        request, 404, _("User %(name)s not found.") % {"name": escape_invisible(name)}
    )


async def _page(request: ConsoleRequest, access: Access, entry: Entry[User]) -> HttpResponse:
    name = entry.key.name
    # The permissions page belongs to an app above this package.
    links = [ActionButton(_("Permissions"), reverse("access:rights", args=(name,)))]
    if name != access.identity.name and may_view(access.identity, name):
        url = reverse("accounts:viewing:begin", args=(name,))
        links.append(ActionButton(_("View as %(name)s") % {"name": escape_invisible(name)}, url))
    kind = access.cluster.kinds.of(USERS)
    if kind is None:
        raise Http404
    path = object_path(request, kind, access, entry.key)
    actions = [
        replace(item, url=path.with_list(item.url)) for item in await _actions(access, entry)
    ]
    context: dict[str, Any] = {
        "name": name,
        "uid": entry.projection.uid,
        "crumbs": path.crumbs(inside=False),
        "tabs": path.tabs(object_tabs(access, kind, entry.key)),
        "facts": await _facts(entry),
        "links": links,
        "actions": action_bar(actions),
        "roles": user_roles(access, name),
        "platform_roles": platform_role_links(access, name),
        "invitations": invite_links(access, name),
    }
    allowed, context["why_not"] = _allowed(access, name)
    if allowed:
        context["sessions"] = await sync_to_async(browser_sessions.list_sessions)(name, now())
    if access.can("list", LOGIN_RECORDS):
        context["history"] = await history_of(name)
    return render(request, "accounts/admin/show.html", context)


def _allowed(access: Access, name: str) -> tuple[bool, str]:
    """Return whether the viewer may change the user, and the reason if the user holds more
    permissions.
    """
    if access.can("patch", USERS, name=name):
        return True, ""
    if not may_change(access, name):
        return False, ""
    try:
        check_holds_no_more(access, name)
    except Refused as error:
        return False, str(error)
    return True, ""


async def _actions(access: Access, entry: Entry[User]) -> list[MenuItem]:
    """Return the actions that are permitted and currently applicable, including checks that query
    SQL.
    """
    kind = access.cluster.kinds.of(USERS)
    return [
        MenuItem(action, action.url(access.cluster.name, SEGMENT, entry.key))
        for action in (kind.every_action if kind is not None else ())
        if not action.is_bulk_only
        and (
            action.is_allowed(access, USERS, entry.key)
            or action.by_console(access, USERS, entry.key)
        )
        and action.applicable(entry)
        and await _is_possible(action, access, entry.key)
    ]


async def _is_possible(action: Action, access: Access, key: Key) -> bool:
    try:
        await action.check(access, USERS, key)
    except Refused:
        return False
    return True


async def _facts(entry: Entry[User]) -> list[tuple[str, str]]:
    user, original = entry.projection, entry.original()
    spec, status = original.get("spec") or {}, original.get("status") or {}
    wait = await user_locked_for(entry)
    facts = [
        (_("Status"), _state_text(user)),
        (_("Locked"), too_many(wait) if wait and user.state != DISABLED else ""),
        (_("Email"), str(spec.get("email") or "")),
        (_("Display name"), str(spec.get("displayName") or "")),
        (_("Description"), str(spec.get("description") or "")),
        (_("Password"), _password_text(user)),
        (_("Second factor"), _("On") if await has_factor(user) else _("Off")),
        (_("Password changed"), _moment(user.annotations.get(CHANGED_ANNOTATION))),
        (_("Last sign-in"), _moment(status.get("lastLoginTime"))),
    ]
    return [(label, escape_invisible(text)) for label, text in facts if text]


def _state_text(user: User) -> str:
    if user.deleted is not None:
        return _("Terminating")
    known = {"": _("Waiting"), ACTIVE: _("Active"), DISABLED: _("Disabled"), LOCKED: _("Locked")}
    return known.get(user.state, user.state)


def _password_text(user: User) -> str:
    if not user.has_password:
        return _("none")
    return _("must be changed at the next sign-in") if has_first_password(user) else ""


def _moment(text: object) -> str:
    """Format a time in UTC with a resolution of seconds."""
    try:
        return datetime.fromisoformat(str(text)).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return ""
