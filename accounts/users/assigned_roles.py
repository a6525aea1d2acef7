"""Roles, workspaces and departments of a user, as far as the viewer may see them."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.factory import UnknownKind
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
)
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.text import escape_invisible
from console.ui.navigation.projects import may_see_workspace, visible_workspaces
from rbac.builtin import Origin, origin_of
from rbac.levels import TYPES, HeldRole, Level, RoleScope
from rbac.memberships import identity_of
from rbac.names import source_of
from rbac.process_clusters import get_authorizer, get_role_levels
from rbac.projection import IAM
from rbac.rules import AccessQuestion
from rbac.subject_rights import Grant

LEVELS: dict[Level, str | Promise] = {
    Level.GLOBAL: gettext_lazy("Platform"),
    Level.WORKSPACE: gettext_lazy("Workspace"),
    Level.CLUSTER: gettext_lazy("Cluster"),
    Level.PROJECT: gettext_lazy("Project"),
}
#: Maximum number of roles, and of links to workspaces. A user may have roles in thousands of projects.
MOST, MOST_LINKS = 100, 20


@dataclass(frozen=True, slots=True)
class AssignedRole:
    """A role of a user.

    `where` is the workspace or project, or "". `through` is the group that has the role, or "" if
    the user is bound directly. The URLs are "" if the viewer may not see the page.
    """

    level: str | Promise
    role: str
    url: str
    where: str
    where_url: str
    through: str


@dataclass(frozen=True, slots=True)
class UserRoles:
    """The roles and departments of a user. `more` is the number of roles that are not listed."""

    roles: tuple[AssignedRole, ...] = ()
    more: int = 0
    departments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedLink:
    name: str
    url: str


def user_roles(access: Access, user: str, *, direct: bool = False) -> UserRoles:
    """Return the roles of a user of the host cluster. With `direct`, leave out roles of groups."""
    try:
        identity = identity_of(get_runtime(), user)
    except InvalidIdentity:
        return UserRoles()
    # Every user has the roles of Kubernetes' own groups. Several bindings may grant the same role.
    found = [
        role
        for role in dict.fromkeys(_rows(access, identity))
        if not role.through.startswith("system:") and not (direct and role.through)
    ]
    departments = tuple(map(escape_invisible, identity.groups))
    return UserRoles(tuple(found[:MOST]), max(0, len(found) - MOST), departments)


def _rows(access: Access, identity: Identity) -> Iterator[AssignedRole]:
    for held in visible_held_roles(access, identity):
        yield _row(access, held.place, held.role, held.subject)
    for grant in visible_grants(access, identity):
        kind, _namespace, name = grant.role
        level = Level.CLUSTER if kind == "ClusterRole" else Level.PROJECT
        place = RoleScope(level, namespace=grant.namespace)
        yield _row(access, place, name, grant.subject)


def _row(access: Access, place: RoleScope, role: str, subject: str) -> AssignedRole:
    kind, _space, name = subject.partition(" ")
    where, where_url = place.workspace or place.namespace, ""
    if place.workspace and may_see_workspace(access, place.workspace):
        where_url = reverse("workspace", args=(place.workspace,))
    elif place.namespace:
        where_url = reverse("project_overview", args=(HOST, place.namespace))
    return AssignedRole(
        LEVELS[Level.PROJECT if place.namespace else place.level],
        escape_invisible(role),
        _role_url(access, place, role),
        escape_invisible(where),
        where_url,
        escape_invisible(name) if kind == "Group" else "",
    )


def _role_url(access: Access, place: RoleScope, role: str) -> str:
    # The pages of roles belong to an app above this package.
    if not _may(access, "get", TYPES[place.level].roles, place, role):
        return ""
    if place.level is Level.PROJECT:
        return reverse("access:project_role", args=(place.namespace, role))
    return reverse("access:role", args=(place.level.value, role))


def visible_held_roles(
    access: Access, identity: Identity, *, is_self: bool = False
) -> Iterator[HeldRole]:
    """Yield the platform and workspace roles whose bindings the viewer may list."""
    for held in get_role_levels().roles_of(identity, acting=False):
        if is_self or _may(access, "list", TYPES[held.place.level].bindings, held.place):
            yield held


def visible_grants(access: Access, identity: Identity, *, is_self: bool = False) -> Iterator[Grant]:
    """Yield the native grants whose bindings the viewer may list, without those that the controllers
    created from platform and workspace roles.
    """
    for grant in get_authorizer().grants(identity, acting=False):
        if source_of(grant.binding) is None and (is_self or can_view_binding(access, grant)):
            yield grant


def can_view_binding(access: Access, grant: Grant) -> bool:
    bindings = ROLE_BINDINGS if grant.namespace else CLUSTER_ROLE_BINDINGS
    return access.can("list", bindings, namespace=grant.namespace)


def _may(access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = "") -> bool:
    """Return True if Kubernetes RBAC or, for platform and workspace roles, such a role allows the
    request.
    """
    if access.can(verb, gvr, namespace=place.namespace, name=name):
        return True
    asked = AccessQuestion(verb, gvr.group, gvr.resource, name=name)
    ours = place.level in (Level.GLOBAL, Level.WORKSPACE)
    return ours and get_role_levels().is_allowed(access.identity, asked, place)


def platform_role_links(access: Access, user: str) -> list[NamedLink]:
    """Return the pages of the platform roles that the viewer may grant, with the user filled in."""
    place = RoleScope(Level.GLOBAL)
    if not all(_may(access, verb, GLOBAL_ROLE_BINDINGS, place) for verb in ("list", "create")):
        return []
    try:
        entries = get_runtime().informer(GLOBAL_ROLES).store.snapshot().entries.values()
    except UnknownKind:
        return []
    names = sorted(
        role.name
        for role in (entry.projection for entry in entries)
        if origin_of(Level.GLOBAL, role.name, role.labels, template=role.template)
        not in (Origin.TEMPLATE, Origin.PROJECTED)
    )
    query = urlencode({"subject": user})
    urls = ((name, _role_url(access, place, name)) for name in names)
    return [
        NamedLink(escape_invisible(name), f"{url}?{query}#grant-title") for name, url in urls if url
    ]


def invite_links(access: Access, user: str) -> list[NamedLink]:
    """Return the forms that invite the user into the workspaces in which the viewer may invite."""
    members, query = GVR(IAM, "v1alpha2", "workspacemembers"), urlencode({"user": user})
    found = (
        name
        for name in visible_workspaces(access)
        if access.can("update", WORKSPACE_TEMPLATES, name=name)
        or _may(access, "create", members, RoleScope(Level.WORKSPACE, name))
    )
    return [
        NamedLink(escape_invisible(name), f"{reverse('workspace_invite', args=(name,))}?{query}")
        for name, _position in zip(found, range(MOST_LINKS), strict=False)
    ]
