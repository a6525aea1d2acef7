"""Page of a role: its rules, holders, origin, and the corresponding native role."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpResponse, HttpResponseBase, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from access.roles.forms import further_text
from access.roles.labels import KINDS, ORIGINS, SUBJECTS, description_of
from access.roles.lookup import (
    ROLES_ENTRY,
    RolesNotCached,
    ScopedRole,
    find_role,
    is_allowed,
    level_of,
    new_url,
    role_crumbs,
    role_url,
    visible_holders,
    visible_role_url,
)
from access.roles.tree import titles
from access.roles.undo_change import undo_description
from accounts.users.directory import users
from console.kube.factory import UnknownKind
from console.kube.gvr import CLUSTER_ROLES, GVR, ROLE_BINDINGS, USERS, Key
from console.kube.host_runtime import get_runtime
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.kind import segment_of
from console.ui.core.links import action_url, object_url
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import LivePage, etag_of_page
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import View, page
from rbac.authorizer import PLATFORM_ADMIN
from rbac.builtin import Origin
from rbac.holders import RoleHolder
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.names import GLOBAL_ROLE, WORKSPACE_ROLE, projected_name, source_of
from rbac.projection import CLUSTER_ADMIN, has_granting_rules
from rbac.rule_descriptions import describe_rules
from rbac.templates import template_names, templates_for

#: Maximum number of holders on the page.
MOST = 200


@dataclass(frozen=True, slots=True)
class HolderRow:
    """A row in the list of holders. `where` is the project, or "" for the role's whole scope.
    `removable` is True if the viewer may revoke the role.
    """

    kind: str | Promise
    name: str
    url: str
    where: str
    binding: str
    removable: bool
    holding: RoleHolder


def _types(params: QueryDict, level: str, name: str, namespace: str = "") -> tuple[GVR, ...]:
    """Return the resource types that the page depends on. Raise `Http404`."""
    found = level_of(level)
    of_level = TYPES[found]
    # The page also shows the native ClusterRole. Cluster roles can also be bound in projects.
    more = {CLUSTER_ROLES, *((ROLE_BINDINGS,) if found is Level.CLUSTER else ())}
    # Holders link to their accounts if these exist.
    return (of_level.roles, of_level.bindings, *sorted(more - set(of_level[:2])), USERS)


def _look(access: Access, params: QueryDict, level: str, name: str, namespace: str = "") -> object:
    try:
        found = find_role(access, level_of(level), namespace, name)
    except RolesNotCached:
        found = None
    return _content(access, found, _known_holders(access, found)) if found is not None else None


def _content(access: Access, found: ScopedRole, lines: Sequence["HolderRow"] | None) -> object:
    """Return everything on the page that can change."""
    buttons = _buttons(access, found, found.origin)
    return found.entry.resource_version, lines, buttons, _native(access, found)


def _known_holders(access: Access, found: ScopedRole) -> Sequence["HolderRow"] | None:
    """Return the holders, or None if the viewer may not see them."""
    known = is_allowed(access, "list", TYPES[found.place.level].bindings, found.place)
    return list(_holders(access, found)) if known else None


def role_view(
    *methods: str,
    verb: str = "",
    of_bindings: bool = False,
    follows: LivePage | None = None,
    menu: MenuEntry | None = None,
) -> Callable[[View], View]:
    """Decorate a view of the role that the URL names. The view is called with the role if the user
    may read the role, and may `verb` the role or, with `of_bindings`, the bindings in its scope.
    """

    def decorate(view: View) -> View:
        @page(*methods, follows=follows, menu=menu)
        @wraps(view)
        async def guarded(
            request: ConsoleRequest, level: str, name: str, namespace: str = ""
        ) -> HttpResponseBase:
            access = access_of(request)
            found = find_role(access, level_of(level), namespace, name)
            if found is None:
                text = _("Role %(name)s not found.") % {"name": escape_invisible(name)}
                return error_page(request, 404, text)
            types = TYPES[found.place.level]
            gvr, named = (types.bindings, "") if of_bindings else (types.roles, name)
            if verb and not is_allowed(access, verb, gvr, found.place, named):
                raise Denied(verb, gvr, namespace)
            return await view(request, found)

        return guarded

    return decorate


@role_view("GET", follows=LivePage(_types, _look, _look), menu=ROLES_ENTRY)
async def role(request: ConsoleRequest, found: ScopedRole) -> HttpResponse:
    """GET shows the role. `subject` fills in the form that grants the role to a user."""
    subject = escape_invisible(request.GET.get("subject", ""))
    given = {"kind": "User", "subject": subject} if subject else None
    return await role_page(request, found, given=given)


async def role_page(
    request: ConsoleRequest,
    found: ScopedRole,
    *,
    error: str = "",
    given: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    access, bindings = access_of(request), TYPES[found.place.level].bindings
    lines = _known_holders(access, found)
    rules = found.rules
    undo = await undo_description(request, found.place, found.name)
    etag = etag_of_page(_content(access, found, lines))
    if status == 200 and request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified()
    await update_counts(request.cluster)
    origin = found.origin
    names = template_names(found.annotations)
    item = found.entry.projection
    context: dict[str, Any] = {
        "role": found,
        "kind": KINDS[found.place.level],
        "alias": escape_invisible(item.alias),
        "description": description_of(found),
        "facts": _facts(found, origin),
        "templates": titles(names, templates_for(get_runtime(), found.place)),
        "sentences": describe_rules(rules),
        "yaml": further_text(rules),
        "left_out": found.place.level is Level.GLOBAL
        and found.name != PLATFORM_ADMIN
        and has_granting_rules(rules),
        "native": _native(access, found),
        "holders": lines[:MOST] if lines is not None else None,
        "more": max(0, len(lines or ()) - MOST),
        "may_grant": lines is not None
        and found.is_grantable
        and is_allowed(access, "create", bindings, found.place),
        "subjects": [("User", SUBJECTS["User"]), ("Group", SUBJECTS["Group"])],
        "given": given or {},
        "buttons": _buttons(access, found, origin),
        "crumbs": role_crumbs(access, found.place),
        "error": error,
        "undo": undo,
        "etag": etag,
    }
    return render(request, "access/roles/role.html", context, status=status)


def _facts(found: ScopedRole, origin: Origin) -> Sequence[tuple[str, str]]:
    item, place = found.entry.projection, found.place
    facts = [
        (_("Origin"), str(ORIGINS[origin])),
        (_("Workspace"), place.workspace),
        (_("Project"), place.namespace),
        (_("Creator"), item.creator),
        (_("Created"), item.created.strftime("%Y-%m-%d %H:%M:%S UTC") if item.created else ""),
    ]
    return [(label, escape_invisible(text)) for label, text in facts if text]


def _holders(access: Access, found: ScopedRole) -> Iterator[HolderRow]:
    for one in visible_holders(access, found):
        place = RoleScope(Level.PROJECT, "", one.namespace) if one.namespace else found.place
        removable = (
            one.source is None
            and not is_manager_binding(found, one)
            and is_allowed(access, "delete", one.gvr, place, one.binding)
            and is_allowed(access, "update", one.gvr, place, one.binding)
        )
        is_bound_wider = one.namespace and found.place.level is Level.CLUSTER
        yield HolderRow(
            SUBJECTS.get(one.kind, one.kind),
            escape_invisible(one.name),
            _subject_url(access, one),
            one.namespace if is_bound_wider else "",
            one.binding,
            removable,
            one,
        )


def is_manager_binding(found: ScopedRole, one: RoleHolder) -> bool:
    """Return True for the binding of the workspace's manager, which has the name of the role and is
    maintained by the controllers.
    """
    return found.name == one.binding == f"{found.place.workspace}-admin"


def _subject_url(access: Access, one: RoleHolder) -> str:
    # Bindings may contain any name, including names without a user and names that cannot be part of
    # a URL.
    if one.kind != "User" or not one.name or "/" in one.name:
        return ""
    url = reverse("access:rights", args=(one.name,))
    if one.name == access.identity.name:
        return url
    known = access.can("get", USERS, name=one.name) and users().store.get(Key("", one.name))
    return url if known else ""


def _native(access: Access, found: ScopedRole) -> list[tuple[str, str, str]]:
    """Return label, text and URL (or "") of the corresponding native role."""
    level, name = found.place.level, found.name
    if level in NATIVE:
        source = source_of(name)
        if source is None:
            return [(_("In Kubernetes"), _("a built-in Kubernetes role"), "")]
        known = {GLOBAL_ROLE: Level.GLOBAL, WORKSPACE_ROLE: Level.WORKSPACE}
        of = known.get(source.level)
        url = visible_role_url(access, RoleScope(of), source.name) if of else ""
        return [(_("Derived from"), f"{source.level} {source.name}", url)]
    if level is Level.GLOBAL and name == PLATFORM_ADMIN:
        return [_object(access, CLUSTER_ROLES, CLUSTER_ADMIN)]
    source_level = GLOBAL_ROLE if level is Level.GLOBAL else WORKSPACE_ROLE
    line = _object(access, CLUSTER_ROLES, projected_name(source_level, name))
    if level is Level.WORKSPACE:
        where = _("every project of the workspace")
        return [line, (_("Applies in"), where, "")]
    return [line]


def _object(access: Access, gvr: GVR, name: str) -> tuple[str, str, str]:
    try:
        there = get_runtime().informer(gvr).store.get(Key("", name)) is not None
    except UnknownKind:
        there = False
    label = _("In Kubernetes")
    if not there:
        return (
            label,
            _("none: the role has no rules, or the controllers have not processed the role yet"),
            "",
        )
    kind = kinds.by_type(gvr)
    shown = kind is not None and access.can("get", gvr, name=name)
    url = object_url(HOST, kind.segment, Key("", name)) if kind and shown else ""
    return label, f"ClusterRole {name}", url


def _buttons(access: Access, found: ScopedRole, origin: Origin) -> list[tuple[str, str]]:
    gvr, place = TYPES[found.place.level].roles, found.place
    buttons = []
    if origin is Origin.OWN and is_allowed(access, "update", gvr, place, found.name):
        buttons.append((_("Edit role"), role_url(place, found.name, "edit")))
    if is_allowed(access, "create", gvr, place) and origin is not Origin.PROJECTED:
        buttons.append((_("Copy role"), new_url(place, found.name)))
    if origin is Origin.OWN and is_allowed(access, "delete", gvr, place, found.name):
        url = action_url("delete", HOST, segment_of(gvr), found.entry.key)
        buttons.append((_("Delete role"), url))
    return buttons
