"""List of the roles of a level with their number of holders and origin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from access.roles.labels import ORIGINS, description_of
from access.roles.lookup import (
    ROLES_ENTRY,
    RolesNotCached,
    ScopedRole,
    informer_of,
    is_allowed,
    is_allowed_natively,
    new_url,
    role_of,
    visible_holders,
)
from access.roles.undo_change import undo_description
from console.kube.gvr import GVR, ROLE_BINDINGS
from console.kube.indexes import indexes_of
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.links import list_url
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import LivePage, etag_of_page
from console.ui.navigation.projects import visible_namespaces
from console.views.back_link import place_crumbs
from console.views.guard import access_of
from console.views.page import page
from rbac.builtin import Origin
from rbac.levels import TYPES, Level, RoleScope

#: Maximum number of roles on the page. The list of the resource type has all of them.
MOST = 300
#: Origins of roles that were not created by users.
HIDDEN_ORIGINS = frozenset({Origin.KUBERNETES, Origin.PROJECTED, Origin.TEMPLATE})

TITLES: dict[Level, str | Promise] = {
    Level.GLOBAL: gettext_lazy("Platform"),
    Level.WORKSPACE: gettext_lazy("Workspaces"),
    Level.CLUSTER: gettext_lazy("Cluster"),
    Level.PROJECT: gettext_lazy("Projects"),
}


@dataclass(frozen=True, slots=True)
class LevelTab:
    """A tab for one level."""

    title: str | Promise
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class RoleRow:
    """A row in the list of roles. `held` is the number of holders, or None if the viewer may not
    see them. `place` is the workspace or project.
    """

    name: str
    alias: str
    url: str
    place: str
    description: str
    origin: str
    held: int | None
    created: datetime | None


def _types(params: QueryDict, workspace: str = "") -> tuple[GVR, ...]:
    """Return the resource types that the page depends on. Raise `Http404`."""
    level = Level.WORKSPACE if workspace else _level(params, Level.GLOBAL)
    of_level = TYPES[level]
    # A cluster role can also be bound in single projects.
    return (
        of_level.roles,
        of_level.bindings,
        *((ROLE_BINDINGS,) if level is Level.CLUSTER else ()),
    )


def _check(access: Access, params: QueryDict, workspace: str = "") -> None:
    if not workspace:
        _tabs(access)


def _look(access: Access, params: QueryDict, workspace: str = "") -> object:
    place = RoleScope(Level.WORKSPACE, workspace) if workspace else _place(params, _tabs(access))
    try:
        return _content(access, place, _sorted_lines(access, place, params))
    except RolesNotCached:
        return None


def _tabs(access: Access) -> list[Level]:
    """Return the levels at which the viewer may list roles. Raise `Denied` if there are none."""
    tabs = [level for level in TITLES if _may_look(access, level)]
    if not tabs:
        raise Denied("list", TYPES[Level.GLOBAL].roles)
    return tabs


def _place(params: QueryDict, tabs: Sequence[Level]) -> RoleScope:
    """Return the scope that the query parameters select. Raise `Http404`."""
    level = _level(params, tabs[0])
    return RoleScope(level, "", params.get("namespace", "") if level is Level.PROJECT else "")


def _level(params: QueryDict, usual: Level) -> Level:
    """Return the level that the query parameters select. Raise `Http404`."""
    given = params.get("level", usual.value)
    if given not in set(Level):
        raise Http404
    return Level(given)


@page("GET", follows=LivePage(_types, _check, _look), menu=ROLES_ENTRY)
async def roles(request: ConsoleRequest) -> HttpResponse:
    """GET /access/roles?level=…; `namespace` limits the list to a project, `all` includes roles
    that were not created by users.
    """
    access = access_of(request)
    tabs = _tabs(access)
    return await _shown(request, access, _place(request.GET, tabs), tabs)


@page(
    "GET",
    follows=LivePage(_types, _check, _look),
    menu=MenuEntry(("workspace",), 40, gettext_lazy("Roles"), "shield-check"),
)
async def workspace_roles(request: ConsoleRequest, workspace: str) -> HttpResponse:
    """GET /workspaces/{workspace}/roles"""
    access = access_of(request)
    return await _shown(request, access, RoleScope(Level.WORKSPACE, workspace), ())


async def _shown(
    request: ConsoleRequest, access: Access, place: RoleScope, tabs: Sequence[Level]
) -> HttpResponse:
    lines = _sorted_lines(access, place, request.GET)
    etag = etag_of_page(_content(access, place, lines))
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified()
    await update_counts(request.cluster)
    kind = kinds.by_type(TYPES[place.level].roles)
    context = {
        "tabs": [_tab(level, place.level) for level in tabs],
        "level": place.level.value,
        "level_title": TITLES[place.level],
        "crumbs": place_crumbs(access, place.workspace, place.namespace),
        "place": place,
        "lines": lines[:MOST],
        "more": max(0, len(lines) - MOST),
        "everything": bool(request.GET.get("all")),
        "url": _address(request, place),
        "undo": await undo_description(request, place, ""),
        "etag": etag,
        "namespaces": visible_namespaces(access),
        "new_url": _new_url(access, place),
        "list_url": list_url(HOST, kind.segment, place.namespace) if kind else "",
    }
    return render(request, "access/roles/list.html", context)


def _address(request: ConsoleRequest, place: RoleScope) -> str:
    """Return the page URL with its level, which may be missing in the request."""
    params = request.GET.copy()
    if not place.workspace:
        params["level"] = place.level.value
    return f"{request.path}?{params.urlencode()}" if params else request.path


def _sorted_lines(access: Access, place: RoleScope, params: QueryDict) -> list[RoleRow]:
    """Return the rows. Raise `Denied`, `RolesNotCached`."""
    found = _lines(access, place, everything=bool(params.get("all")))
    return sorted(found, key=lambda line: (line.place, line.name))


def _content(access: Access, place: RoleScope, lines: Sequence[RoleRow]) -> object:
    """Return everything on the page that can change."""
    return lines[:MOST], len(lines), place, _new_url(access, place)


def _tab(level: Level, current: Level) -> LevelTab:
    return LevelTab(
        TITLES[level], f"{reverse('access:roles')}?level={level.value}", level is current
    )


def _may_look(access: Access, level: Level) -> bool:
    """Return True if the viewer may list some roles of the level."""
    gvr = TYPES[level].roles
    allowed = access.namespaces_where("list", gvr)
    if allowed is None or (level is Level.PROJECT and allowed):
        return True
    if level is Level.PROJECT:
        return False
    if level is Level.WORKSPACE:
        return any(True for _one in _readable(access, RoleScope(level)))
    return is_allowed(access, "list", gvr, RoleScope(level))


def _readable(access: Access, place: RoleScope) -> Iterator[Entry[Any]]:
    """Yield the roles that the viewer may list. Raise `Denied`, `RolesNotCached`."""
    level, gvr = place.level, TYPES[place.level].roles
    store = informer_of(gvr).store
    if level is Level.PROJECT:
        allowed = access.namespaces_where("list", gvr)
        wanted = {place.namespace} if place.namespace else None
        spaces = wanted if allowed is None else (allowed if wanted is None else wanted & allowed)
        if spaces is not None:
            if not spaces:
                raise Denied("list", gvr, place.namespace)
            index = indexes_of(store).by_namespace
            yield from (entry for space in sorted(spaces) for entry in index.get(space))
            return
    elif level is Level.WORKSPACE and not is_allowed_natively(access, "list", gvr, place):
        index = indexes_of(store).by_label
        spaces = (
            {place.workspace}
            if place.workspace
            else {e.projection.workspace for e in store.snapshot().entries.values()} - {""}
        )
        for space in sorted(spaces):
            if is_allowed(access, "list", gvr, RoleScope(level, space)):
                yield from index.get(f"kubesphere.io/workspace={space}")
            elif place.workspace:
                raise Denied("list", gvr)
        return
    elif not is_allowed(access, "list", gvr, place):
        raise Denied("list", gvr)
    for entry in store.snapshot().entries.values():
        if not place.workspace or entry.projection.workspace == place.workspace:
            yield entry


def _lines(access: Access, place: RoleScope, everything: bool) -> Iterator[RoleRow]:
    for entry in _readable(access, place):
        item = entry.projection
        role = role_of(place.level, entry)
        origin = role.origin
        if origin in HIDDEN_ORIGINS and not everything:
            continue
        yield RoleRow(
            item.name,
            item.alias,
            role.url,
            role.place.workspace or entry.key.namespace,
            description_of(role),
            str(ORIGINS[origin]),
            _held(access, role),
            item.created,
        )


def _held(access: Access, role: ScopedRole) -> int | None:
    if not is_allowed(access, "list", TYPES[role.place.level].bindings, role.place):
        return None
    return len({(one.subject, one.namespace) for one in visible_holders(access, role)})


def _new_url(access: Access, place: RoleScope) -> str:
    """Return the URL of the form that creates a role, or "" if the viewer may not create one or the
    scope is not selected.
    """
    if place.level is Level.PROJECT and not place.namespace:
        return ""
    if place.level is Level.WORKSPACE and not place.workspace:
        return ""
    if not is_allowed(access, "create", TYPES[place.level].roles, place):
        return ""
    return new_url(place)
