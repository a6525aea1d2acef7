"""Find the role that a URL names, and check the viewer's permissions for it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.factory import UnknownKind
from console.kube.gvr import CLUSTER_ROLES, GLOBAL_ROLES, GVR, ROLE_BINDINGS, ROLES, Key
from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied, NotLoaded
from console.views.back_link import Crumb, place_crumbs
from rbac.builtin import Origin, origin_of
from rbac.holders import RoleHolder, holders
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.process_clusters import get_role_levels
from rbac.rules import AccessQuestion, Rules, parse_rules

ROLES_ENTRY = MenuEntry(
    ("platform",),
    40,
    gettext_lazy("Roles"),
    "shield-check",
    lambda access: any(
        access.namespaces_where("list", gvr) != frozenset()
        for gvr in (GLOBAL_ROLES, CLUSTER_ROLES, ROLES)
    ),
)


class RolesNotCached(NotLoaded):
    """A required list of roles or bindings is not loaded yet."""

    text = gettext_lazy("The roles are not loaded yet. Try again later.")


@dataclass(frozen=True, slots=True)
class ScopedRole:
    """An existing role."""

    place: RoleScope
    entry: Entry[Any]

    @property
    def name(self) -> str:
        return self.entry.key.name

    @property
    def rules(self) -> Rules:
        return parse_rules(self.entry.original().get("rules"))

    @property
    def annotations(self) -> dict[str, str]:
        return self.entry.original()["metadata"].get("annotations") or {}

    @property
    def origin(self) -> Origin:
        role = self.entry.projection
        return origin_of(
            self.place.level,
            role.name,
            role.labels,
            template=role.template,
            workspace=role.workspace,
        )

    @property
    def is_grantable(self) -> bool:
        """False for templates and for roles that the controllers derive from other roles."""
        return self.origin not in (Origin.TEMPLATE, Origin.PROJECTED)

    @property
    def url(self) -> str:
        return role_url(self.place, self.name)


def role_url(place: RoleScope, name: str, act: str = "") -> str:
    given = (act,) if act else ()
    if place.level is Level.PROJECT:
        return reverse("access:project_role", args=(place.namespace, name, *given))
    return reverse("access:role", args=(place.level.value, name, *given))


def visible_role_url(access: Access, place: RoleScope, name: str) -> str:
    """Return the URL of the role's page, or "" if the viewer may not see it, the role does not
    exist, or the roles are not loaded.
    """
    try:
        role = find_role(access, place.level, place.namespace, name)
    except (Denied, RolesNotCached, Http404):
        return ""
    return role.url if role is not None else ""


def list_url(place: RoleScope) -> str:
    if place.level is Level.WORKSPACE and place.workspace:
        return reverse("access:workspace_roles", args=(place.workspace,))
    query = {"level": place.level.value, "namespace": place.namespace}
    return _with_query(reverse("access:roles"), query)


def role_crumbs(access: Access, place: RoleScope, role: ScopedRole | None = None) -> list[Crumb]:
    """Return the path to the pages of a role: its workspace or project, the list of roles and, for
    forms, the `role`.
    """
    crumbs = place_crumbs(access, place.workspace, place.namespace)
    crumbs.append(Crumb(_("Roles"), list_url(place), up=role is None))
    return [*crumbs, Crumb(role.name, role.url, up=True)] if role is not None else crumbs


def new_url(place: RoleScope, source: str = "") -> str:
    """Return the URL of the form that creates a role in this scope. If `source` is set, the form is
    filled with that role's rules.
    """
    query = {"from": source, "workspace": place.workspace, "namespace": place.namespace}
    return _with_query(reverse("access:new_role", args=(place.level.value,)), query)


def _with_query(url: str, query: Mapping[str, str]) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{url}?{urlencode(given)}" if given else url


def level_of(text: str) -> Level:
    try:
        return Level(text)
    except ValueError:
        raise Http404 from None


def informer_of(gvr: GVR) -> Informer[Any]:
    """Return the informer of a type. Raise `RolesNotCached` if it has not synced, and Http404 if the
    cluster does not have the type.
    """
    try:
        informer = get_runtime().informer(gvr)
    except UnknownKind as error:
        raise Http404 from error
    if not informer.freshness.synced:
        raise RolesNotCached
    return informer


def is_allowed(access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = "") -> bool:
    """Return True if Kubernetes RBAC or, where it cannot decide, a platform or workspace role
    allows the request.
    """
    return is_allowed_natively(access, verb, gvr, place, name) or is_allowed_by_role(
        access, verb, gvr, place, name
    )


def is_allowed_natively(
    access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = ""
) -> bool:
    return access.can(verb, gvr, namespace=place.namespace, name=name)


def is_allowed_by_role(
    access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = ""
) -> bool:
    if place.level in NATIVE or (place.level is Level.WORKSPACE and not place.workspace):
        return False
    asked = AccessQuestion(verb, gvr.group, gvr.resource, name=name)
    return get_role_levels().is_allowed(access.identity, asked, place)


def visible_holders(access: Access, role: ScopedRole) -> Iterator[RoleHolder]:
    """Yield the holders of a role. The viewer must be allowed to list the bindings in the role's
    scope.

    A cluster role can also be bound in projects. Holders in projects whose bindings the viewer
    may not list are left out.
    """
    of_cluster = role.place.level is Level.CLUSTER
    projects = access.namespaces_where("list", ROLE_BINDINGS) if of_cluster else None
    for one in holders(access.cluster.runtime, role.place, role.name):
        if not one.namespace or projects is None or one.namespace in projects:
            yield one


def find_role(access: Access, level: Level, namespace: str, name: str) -> ScopedRole | None:
    """Return the role, or None if it does not exist, which is revealed only to viewers who may read
    all roles. Raise `Denied`, `RolesNotCached`.
    """
    gvr = TYPES[level].roles
    entry = informer_of(gvr).store.get(Key(namespace, name))
    role = role_of(level, entry) if entry is not None else None
    # The check for a missing workspace role uses no workspace, so that viewers without cluster-wide
    # permission get the same error for missing and forbidden roles.
    if not is_allowed(
        access, "get", gvr, role.place if role else RoleScope(level, "", namespace), name
    ):
        raise Denied("get", gvr, namespace)
    return role


def role_of(level: Level, entry: Entry[Any]) -> ScopedRole:
    workspace = entry.projection.workspace if level is Level.WORKSPACE else ""
    return ScopedRole(RoleScope(level, workspace, entry.key.namespace), entry)
