"""The console level of a request: platform, cluster, workspace or project.

List and overview pages have a level in their URL, and a cookie stores the most recent levels. An
object's page has no level: it keeps the previous level if that level contains the object.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlencode

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.urls import ResolverMatch, reverse

from console.kube.gvr import GLOBAL_ROLES, USERS, WORKSPACES
from console.kube.names import is_dns_label
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.menu import NAV_ENTRIES, LevelName, MenuEntry, menu
from console.ui.navigation.projects import (
    can_access_project,
    host_access,
    may_see_workspace,
    workspace_of,
)

COOKIE = "level"
#: Maximum number of levels in the cookie: the current one and the previous ones.
RECENT = 6
#: Number of cached URLs.
KEPT = 5000


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

    def to_cookie(self, account: str) -> str:
        """Return the cookie value for this level and account, or "" if a name can't be stored."""
        # The workspace of a project is looked up on each request.
        workspace = self.workspace if self.name == "workspace" else ""
        parts = (self.name, self.cluster, workspace, self.namespace)
        fits = all(is_dns_label(part) for part in parts if part) and account.isascii()
        return "/".join((account, *parts)) if fits else ""


@lru_cache(KEPT)
def _address(name: str, *place: str) -> str:
    return reverse(name, args=place)


def level_of(request: HttpRequest, access: Access | None) -> tuple[Level, bool]:
    """Return the viewer's level on this page, and True if the page's URL determines it.

    The result is always a level that the viewer can access. If the URL determines no accessible
    level, the result is the previous level if it contains the object in the URL, otherwise the
    innermost level that does.
    """
    match = request.resolver_match
    cluster = access.cluster.name if access is not None else HOST
    if access is None:
        return Level("cluster", cluster), False
    named = _level_of_url(match, request, access) if match is not None else None
    if named is not None and (found := _accessible(named, access)):
        return found, True
    known = last_level(request, access)
    namespace = str(match.kwargs.get("namespace", "")) if match is not None else ""
    if known is not None and (match is None or _contains_object(known, match, namespace, access)):
        return known, False
    project = Level("project", cluster, namespace=namespace)
    if namespace and (found := _accessible(project, access)):
        return found, False
    if known is not None and not may_see_platform(access):
        return known, False
    if match is not None and "cluster" in match.kwargs and not _of_platform(match, access):
        return Level("cluster", cluster), False
    return Level("platform" if may_see_platform(access) else "cluster", cluster), False


def last_level(request: HttpRequest, access: Access) -> Level | None:
    """Return the viewer's most recent level, or None if the viewer can no longer access it."""
    level = next(iter(levels_in_cookie(request)), None)
    if level is None or level.cluster != access.cluster.name:
        return None
    return _accessible(level, access)


def levels_in_cookie(request: HttpRequest) -> list[Level]:
    """Return the levels in the viewer's cookie, most recent first, without access checks."""
    found = []
    for text in request.COOKIES.get(COOKIE, "").split("|")[:RECENT]:
        parts = text.split("/")
        if len(parts) == 5 and parts[0] == getattr(request, "account", None):
            found.append(_parse_level(*parts[1:]))
    return [level for level in found if level is not None]


def cookie_value(level: Level, request: HttpRequest) -> str:
    """Return the new cookie value with `level` first, or "" if the level can't be stored."""
    account = str(getattr(request, "account", ""))
    first = level.to_cookie(account)
    before = (one.to_cookie(account) for one in levels_in_cookie(request))
    return "|".join(list(dict.fromkeys((first, *before)))[:RECENT]) if first else ""


def recent_levels(request: HttpRequest, access: Access, level: Level) -> tuple[Level, ...]:
    """Return the other workspaces and projects in the cookie that the viewer can still access, most
    recent first.
    """
    found = []
    for one in levels_in_cookie(request):
        cluster = clusters.get(one.cluster)
        if one.name not in ("workspace", "project") or cluster is None:
            continue
        there = access if cluster is access.cluster else cluster.access_for(access.identity)
        found.append(_accessible(one, there))
    return tuple(one for one in found if one is not None and one != level)


def may_see_platform(access: Access) -> bool:
    """Return True if the viewer has platform permissions beyond their own workspaces."""
    access = host_access(access)
    return any(access.can("list", gvr) for gvr in (USERS, GLOBAL_ROLES, WORKSPACES))


def project_filter(request: HttpRequest) -> str:
    """Return the project that the list is filtered by, or "" if it is not exactly one."""
    try:
        given = [name for name in request.GET.getlist("namespace") if name]
    except SuspiciousOperation:
        return ""
    # Values that are not valid namespace names have no URL.
    return given[0] if len(given) == 1 and is_dns_label(given[0]) else ""


def _level_of_url(match: ResolverMatch, request: HttpRequest, access: Access) -> Level | None:
    kwargs, cluster = match.kwargs, access.cluster.name
    namespace = str(kwargs.get("namespace", ""))
    if workspace := str(kwargs.get("workspace", "")):
        return Level("project" if namespace else "workspace", cluster, workspace, namespace)
    entry = menu().by_name.get(match.view_name)
    if match.view_name != "list" and (entry is None or (entry.kinds and "name" in kwargs)):
        # An object's page has no level.
        return None
    if _of_platform(match, access):
        return Level("platform")
    namespace = namespace or project_filter(request)
    return Level("project" if namespace else "cluster", cluster, namespace=namespace)


def _contains_object(level: Level, match: ResolverMatch, namespace: str, access: Access) -> bool:
    """Return True if the level contains the object in the URL. Cluster-scoped objects such as nodes
    belong to every level, users only to the platform.
    """
    match level.name:
        case "platform":
            return True
        case "project" if namespace:
            return level.namespace == namespace
        case "workspace" if namespace:
            return workspace_of(access, namespace) == level.workspace
        case _:
            return not _of_platform(match, access)


def _of_platform(match: ResolverMatch, access: Access) -> bool:
    entry = menu().by_name.get(match.view_name)
    kind: ResourceKind | None = access.cluster.kinds.find(str(match.kwargs.get("resource", "")))
    if kind is not None and access.cluster.name == HOST:
        entry = NAV_ENTRIES.get(kind.nav.entry)
    return entry is not None and "platform" in entry.levels


def _accessible(level: Level, access: Access) -> Level | None:
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


def _parse_level(name: str, cluster: str, workspace: str, namespace: str) -> Level | None:
    """Parse one level of the cookie. Return None if it is invalid."""
    if not all(is_dns_label(part) for part in (cluster, workspace or "x", namespace or "x")):
        return None
    match name:
        case "platform":
            return Level("platform")
        case "cluster":
            return Level("cluster", cluster)
        case "workspace" if workspace:
            return Level("workspace", HOST, workspace)
        case "project" if namespace:
            return Level("project", cluster, workspace, namespace)
        case _:
            return None
