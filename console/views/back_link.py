"""The way back from the pages of an object to the list that the user came from, with its filters.

The first request has the list in its `Referer`. Links between the pages of an object pass the list's
query in the parameter `list`, which canonical URLs don't contain. Both are validated like a list
URL. Without a valid list, the way back leads to the list of the object's own project or cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise

from console.kube.gvr import NAMESPACES, WORKSPACE_TEMPLATES, WORKSPACES, Key
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, list_url, object_url
from console.ui.core.requests import ConsoleRequest, own_path
from console.ui.details.detail import TabLink
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.level import Level, accessible
from console.ui.navigation.nav import may_list
from console.ui.navigation.page_routes import MAX_URL, resolve_list
from console.ui.navigation.projects import workspace_of

#: Query parameter with the list's query, which may be empty.
PARAMETER = "list"


@dataclass(frozen=True, slots=True)
class Crumb:
    """A part of the path to a page. `url` is "" if the viewer can't open it. `up` marks the part that
    the keys `u` and Escape open.
    """

    label: str | Promise
    url: str = ""
    up: bool = False


@dataclass(frozen=True, slots=True)
class ObjectPath:
    """The path to the pages of an object.

    `list_url` is the list to return to. `query` is its query if it is not the object's default list,
    else None. The query may be empty.
    """

    kind: ResourceKind
    access: Access
    key: Key
    list_url: str
    query: str | None = None

    @property
    def object_url(self) -> str:
        return self.with_list(object_url(self.access.cluster.name, self.kind.segment, self.key))

    def with_list(self, url: str) -> str:
        """Add the list to the URL of a page of the object."""
        if self.query is None:
            return url
        page, mark, fragment = url.partition("#")
        separator = "&" if "?" in page else "?"
        return f"{page}{separator}{urlencode({PARAMETER: self.query})}{mark}{fragment}"

    def tabs(self, tabs: Sequence[TabLink]) -> tuple[TabLink, ...]:
        return tuple(replace(tab, url=self.with_list(tab.url)) for tab in tabs)

    def crumbs(self, *, inside: bool = True) -> tuple[Crumb, ...]:
        """Return the object's project or workspace, its list and, for pages `inside` the object, the
        object itself.
        """
        found = place_crumbs(self.access, self._workspace, self.key.namespace)
        listed = (
            self.query is not None or may_list(self.kind, self.access) or not self._has_own_list
        )
        found.append(Crumb(self.kind.title, self.list_url if listed else "", up=not inside))
        return (*found, Crumb(self.key.name, self.object_url, up=True)) if inside else tuple(found)

    @property
    def _workspace(self) -> str:
        """Workspace of a namespace."""
        of_namespace = self.kind.gvr == NAMESPACES
        return workspace_of(self.access, self.key.name) if of_namespace else ""

    @property
    def _has_own_list(self) -> bool:
        """False if a page of a workspace or of the platform is the list."""
        return self.list_url.startswith(list_url(self.access.cluster.name, self.kind.segment))


def list_crumbs(spec: ViewSpec, access: Access) -> tuple[Crumb, ...]:
    """Return the path to pages about several objects of a list: its project, if it has one, and the
    list.
    """
    namespace = spec.namespaces[0] if len(spec.namespaces) == 1 else ""
    return (*place_crumbs(access, "", namespace), Crumb(spec.kind.title, spec.url, up=True))


def place_crumbs(access: Access, workspace: str, namespace: str) -> list[Crumb]:
    """Return the crumb of the project, or else of the workspace, without a URL if the viewer can't
    open it. Return [] if neither is given.
    """
    if namespace:
        level = Level("project", access.cluster.name, workspace, namespace)
    elif workspace:
        level = Level("workspace", workspace=workspace)
    else:
        return []
    found = accessible(level, access)
    return [Crumb(namespace or workspace, found.url if found is not None else "")]


def object_path(
    request: ConsoleRequest, kind: ResourceKind, access: Access, key: Key
) -> ObjectPath:
    """Return the path to the object's pages, by the list that the user came from."""
    own = _default_list(kind, access, key)
    spec = _previous_list(request, kind, access, key)
    if spec is None or spec.url == own:
        return ObjectPath(kind, access, key, own)
    return ObjectPath(kind, access, key, spec.url, spec.query)


def referrer_path(request: ConsoleRequest) -> str:
    """Return the referring page's path, or "" for other sites."""
    return own_path(request.headers.get("Referer"))


def _previous_list(
    request: ConsoleRequest, kind: ResourceKind, access: Access, key: Key
) -> ViewSpec | None:
    """Return the list named by the page, by the page to return to, or by the referring page. Return
    None if none of them names a list of the kind in the request's cluster.
    """
    own = list_url(access.cluster.name, kind.segment)
    given = request.GET.get(PARAMETER)
    urls = [f"{own}?{given}"] if given is not None else []
    for url in (request.GET.get("next", ""), referrer_path(request)):
        given = _parameter(url) if _is_page_of(url, kind, access, key) else None
        urls.append(f"{own}?{given}" if given is not None else url)
    for found in map(resolve_list, urls):
        if found is not None and (found.cluster, found.kind) == (access.cluster, kind):
            return None if found.spec.errors else found.spec
    return None


def _is_page_of(url: str, kind: ResourceKind, access: Access, key: Key) -> bool:
    if not key.name:
        return False
    path, cluster = url.partition("?")[0], access.cluster.name
    own = detail_url(cluster, kind.segment, key)
    return path in (own, object_url(cluster, kind.segment, key)) or path.startswith(f"{own}/")


def _parameter(url: str) -> str | None:
    """Return the list's query in the URL, or None."""
    try:
        return QueryDict(url[:MAX_URL].partition("?")[2].partition("#")[0]).get(PARAMETER)
    except SuspiciousOperation:
        return None


def _default_list(kind: ResourceKind, access: Access, key: Key) -> str:
    cluster = access.cluster.name
    if cluster == HOST and kind.gvr in (WORKSPACES, WORKSPACE_TEMPLATES):
        return reverse("workspace_list")
    if cluster == HOST and kind.gvr == NAMESPACES and (found := workspace_of(access, key.name)):
        return reverse("workspace_projects", args=(found,))
    return list_url(cluster, kind.segment, key.namespace)
