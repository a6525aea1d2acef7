"""The console level of an address: platform, cluster, workspace or project.

The address alone decides (ADR 24): the project, workspace or cluster that it names, if the viewer can
access that level.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlencode

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from console.kube.gvr import GLOBAL_ROLES, ROLES, USERS, WORKSPACE_ROLES, WORKSPACES, Key
from console.kube.names import is_dns_label, is_dns_subdomain
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.kind import segment_of
from console.ui.core.menu import NAV_ENTRIES, LevelName, MenuEntry, menu
from console.ui.navigation.projects import (
    can_access_project,
    host_access,
    may_see_workspace,
    visible_namespaces,
    visible_workspaces,
    workspace_of,
)

#: Number of cached URLs.
KEPT = 5000
#: Pages of roles and permissions, whose query can name a workspace or a project.
_ROLE_PAGES = frozenset(
    f"access:{name}"
    for name in ("roles", "workspace_roles", "new_role", "role", "project_role", "who_may")
)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the console.

    `cluster` is the cluster whose objects are shown. It is the host on the platform and in
    workspaces. `workspace` is empty outside a workspace, and for a project whose workspace the
    viewer can't see. `namespace` is the project's namespace.
    """

    name: LevelName
    cluster: str = HOST
    workspace: str = ""
    namespace: str = ""

    @property
    def url(self) -> str:
        """URL of the level's overview page."""
        if self.name == "project" and self.workspace and self.cluster != HOST:
            place = (self.workspace, self.cluster, self.namespace)
            return reverse("workspace_cluster_project", args=place)
        return self.page_url(menu().levels[self.name][0])

    def page_url(self, entry: MenuEntry) -> str:
        """Return the URL of an entry's page, or "" if the page requires a workspace that the level
        does not have.
        """
        name, parts = menu().pages[entry]
        place = tuple(getattr(self, part) for part in parts)
        url = _address(name, *place) if all(place) else ""
        narrowed = url and self.namespace and "namespace" not in parts
        return f"{url}?{urlencode({'namespace': self.namespace})}" if narrowed else url


@lru_cache(KEPT)
def _address(name: str, *place: str) -> str:
    return reverse(name, args=place)


class Orientation(NamedTuple):
    """The level of an address for a viewer.

    `current` is the URL segment of the open kind, or the view name of the page. `named` is True if
    the address names the level, and `platform` if the viewer may see the platform.
    """

    level: Level
    current: str = ""
    named: bool = False
    platform: bool = False


def orientation(match: ResolverMatch | None, params: QueryDict, access: Access) -> Orientation:
    """Return the level of an address, which the viewer can access.

    If the viewer can't access the level that the address names, or the address names none, the
    result is the cluster in the address or the viewer's outermost level.
    """
    platform = may_see_platform(access)
    if match is None:
        return Orientation(_home_level(access, platform=platform), platform=platform)
    match = _represented_page(match, access)
    named = _named_level(match, params, access)
    found = accessible(named, access) if named is not None else None
    if found is not None:
        return Orientation(found, _current(match, found), True, platform)
    cluster = access.cluster.name
    outer = named is not None and (cluster != HOST or platform)
    home = Level("cluster", cluster) if outer else _home_level(access, platform=platform)
    return Orientation(home, _current(match, home), False, platform)


def orientation_at(path: str, query: str, access: Access) -> Orientation:
    """Return `orientation` for the path and query of a page."""
    try:
        return orientation(resolve(path), QueryDict(query), access)
    except (Resolver404, SuspiciousOperation):
        return orientation(None, QueryDict(), access)


def may_see_platform(access: Access) -> bool:
    """Return True if the viewer has platform permissions beyond their own workspaces."""
    access = host_access(access)
    return any(access.can("list", gvr) for gvr in (USERS, GLOBAL_ROLES, WORKSPACES))


def project_filter(params: QueryDict) -> str:
    """Return the project that the query filters by, or "" if it is not exactly one."""
    given = [name for name in params.getlist("namespace") if name]
    # Values that are not valid namespace names have no URL.
    return given[0] if len(given) == 1 and is_dns_label(given[0]) else ""


def accessible(level: Level, access: Access) -> Level | None:
    """Return the level with the project's workspace filled in, or None if the viewer can't access
    it.
    """
    match level.name:
        case "workspace":
            return level if may_see_workspace(access, level.workspace) else None
        case "project" if not can_access_project(access, level.namespace):
            return None
        case "project":
            return replace(level, workspace=workspace_of(access, level.namespace))
        case _:
            return level


def _represented_page(match: ResolverMatch, access: Access) -> ResolverMatch:
    """Return the page that the object in the URL has, such as the overview of a namespace, or the
    page itself. Both have the same level.
    """
    kind = access.cluster.kinds.find(str(match.kwargs.get("resource", "")))
    if kind is None or "name" not in match.kwargs:
        return match
    key = Key(str(match.kwargs.get("namespace", "")), str(match.kwargs["name"]))
    url = kind.page_url(access.cluster.name, key)
    try:
        return resolve(unquote(url)) if url else match
    except Resolver404:
        return match


def _current(match: ResolverMatch, level: Level) -> str:
    if match.view_name in _ROLE_PAGES and level.name == "workspace":
        return "access:workspace_roles"
    if match.view_name in _ROLE_PAGES and level.name == "project":
        return segment_of(ROLES)
    return str(match.kwargs.get("resource") or match.view_name or "")


def _named_level(match: ResolverMatch, params: QueryDict, access: Access) -> Level | None:
    kwargs, cluster = match.kwargs, access.cluster.name
    kind = access.cluster.kinds.find(str(kwargs.get("resource", "")))
    workspace, namespace = _named_place(match, params, access)
    if workspace and not namespace:
        return Level("workspace", cluster, workspace)
    # Lists of cluster-scoped kinds have no projects.
    if namespace and (kind is None or kind.view.namespaced):
        return Level("project", cluster, workspace, namespace)
    entry = menu().by_name.get(match.view_name)
    if kind is not None and cluster == HOST:
        entry = NAV_ENTRIES.get(kind.nav.entry)
    if entry is not None and "platform" in entry.levels:
        return Level("platform")
    return Level("cluster", cluster) if "cluster" in kwargs or "cluster" in params else None


def _named_place(match: ResolverMatch, params: QueryDict, access: Access) -> tuple[str, str]:
    """Return the workspace and the project that the address names."""
    kwargs, of_roles = match.kwargs, match.view_name in _ROLE_PAGES
    workspace, namespace = (str(kwargs.get(name, "")) for name in ("workspace", "namespace"))
    if of_roles and kwargs.get("level") == "workspace":
        given = params.get("workspace", "")
        # Other values have no URL.
        own = given if is_dns_subdomain(given) else ""
        workspace = own or _workspace_of_role(access, kwargs.get("name"))
    if not workspace and not namespace and ("cluster" in kwargs or of_roles):
        namespace = project_filter(params)
    return workspace, namespace


def _workspace_of_role(access: Access, name: str | None) -> str:
    informer = access.cluster.runtime.informers().get(WORKSPACE_ROLES)
    entry = informer.store.get(Key("", name)) if informer is not None and name else None
    return str(entry.projection.workspace) if entry is not None else ""


def _home_level(access: Access, *, platform: bool) -> Level:
    """Return the platform, or the viewer's only workspace or project, or the cluster."""
    if platform:
        return Level("platform")
    workspaces = visible_workspaces(access)
    if len(workspaces) == 1:
        return Level("workspace", workspace=workspaces[0])
    projects = visible_namespaces(access)
    project = Level("project", access.cluster.name, namespace=projects[0]) if projects else None
    found = accessible(project, access) if project is not None and len(projects) == 1 else None
    return found or Level("cluster", access.cluster.name)
