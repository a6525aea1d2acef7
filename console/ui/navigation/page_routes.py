"""Live pages: pages that are rendered as a whole and updated when their content changes.

A view passes a `LivePage` to `console.views.page`. When one of the types changes, the websocket
of the page computes the content again. If the content differs from the browser's, the browser is
told to reload the page. So users are never notified of changes that the page would not show.
"""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote, urlencode, urlsplit

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, QueryDict
from django.urls import Resolver404, resolve
from django.utils.translation import get_language

from console.kube.gvr import GVR, Key
from console.kube.names import is_dns_label
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_permissions import detail_permissions_key, listable_key, permissions_key
from console.ui.core.link_resolver import linked_types, types_of
from console.ui.core.links import detail_url
from console.ui.core.permissions import check_visible
from console.ui.details.panels.standard import Tab, tabs_of
from console.ui.lists.columns import BY_KIND
from console.ui.lists.viewspec import ViewSpec
from console.ui.usage.reading import usage_access_of

#: Takes the query and the URL arguments. Returns the types that the page depends on, the main type
#: first. Raises `Http404`.
TypesCallback = Callable[..., tuple[GVR, ...]]
#: Takes the user's permissions, the query and the URL arguments. Raises `Denied` and `Http404`.
PageCallback = Callable[..., object]


@dataclass(frozen=True, slots=True)
class LivePage:
    """The callbacks of a live page.

    `check` raises `Denied` before any lookup if the user may not see the page. `content` returns
    everything that the page shows; equal content must have an equal `repr`.
    """

    types: TypesCallback
    check: PageCallback
    content: PageCallback

    def etag(self, access: Access, params: QueryDict, arguments: dict[str, Any]) -> str:
        """Return the ETag of the current page. Raise `Denied` or `Http404`."""
        return etag_of_page(self.content(access, params, **arguments))


def etag_of_page(content: object) -> str:
    """Return the value of the `ETag` header for the content."""
    digest = hashlib.sha256(repr((content, get_language())).encode()).hexdigest()
    return f'"{digest[:32]}"'


#: Maximum characters of a URL.
MAX_URL = 16 * 1024
#: Maximum characters of a value selected in a panel, which is a name.
MAX_CHOICE = 253


class OpenPage(Protocol):
    """A live page. `url` is its canonical URL. A page shows objects of only one `cluster`."""

    @property
    def cluster(self) -> Cluster: ...
    @property
    def kind(self) -> ResourceKind: ...
    @property
    def url(self) -> str: ...
    @property
    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces of the page's objects, empty for all namespaces."""
        ...

    def rights(self, access: Access) -> Hashable:
        """Return a value that is equal for two viewers only if the page shows both of them the same
        content.

        The permissions are checked on each call. Raise `Denied` if the viewer can't see the
        page's objects, whether or not they exist.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListRoute:
    """A list page. `spec` may contain errors, as on the page itself."""

    cluster: Cluster
    kind: ResourceKind
    spec: ViewSpec

    @property
    def url(self) -> str:
        return self.spec.url

    @property
    def namespaces(self) -> tuple[str, ...]:
        return self.spec.namespaces

    def rights(self, access: Access) -> Hashable:
        return permissions_key(self.kind, access, self.namespaces), usage_access_of(
            self.kind, access
        )


@dataclass(frozen=True, slots=True)
class DetailRoute:
    """A tab of an object's detail page. The object may not exist.

    `choices` are the query parameters that select content in panels, as pairs of name and value.
    """

    cluster: Cluster
    kind: ResourceKind
    key: Key
    tab: Tab
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        # Without a tab, the URL redirects to the page that represents the object, if the kind has
        # one.
        own = not self.kind.page_url(self.cluster.name, self.key)
        first = own and self.tab == tabs_of(self.kind)[0]
        url = detail_url(
            self.cluster.name, self.kind.segment, self.key, "" if first else self.tab.id
        )
        return f"{url}?{urlencode(self.choices)}" if self.choices else url

    @property
    def namespaces(self) -> tuple[str, ...]:
        return (self.key.namespace,) if self.key.namespace else ()

    @property
    def needs(self) -> frozenset[GVR]:
        """Types that the tab's panels read besides the object's own."""
        found = {gvr for panel in self.tab.panels for gvr in panel.needs(self.kind)}
        return frozenset(found - {self.kind.gvr})

    @property
    def readable_types(self) -> frozenset[GVR]:
        """The types in `needs`, and the types that the page may link to, for which only the
        existence of objects is looked up.
        """
        named = (*linked_types(self.kind), *types_of(BY_KIND))
        return self.needs | (frozenset(named) - {self.kind.gvr})

    def rights(self, access: Access) -> Hashable:
        self.check(access)
        needed = [(gvr, listable_key(gvr, access)) for gvr in sorted(self.readable_types)]
        return detail_permissions_key(self.kind, access), tuple(needed)

    def check(self, access: Access) -> None:
        """Raise `Denied` if the viewer can't see the object, before the object is looked up."""
        check_visible(self.kind, access, self.key)


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page that is rendered as a whole.

    `types` are the types that it shows. `arguments` are the URL arguments, as pairs of name and
    value.
    """

    cluster: Cluster
    kind: ResourceKind
    url: str
    types: tuple[GVR, ...]
    following: LivePage
    arguments: tuple[tuple[str, Any], ...]
    params: QueryDict

    @property
    def namespaces(self) -> tuple[str, ...]:
        return ()

    def rights(self, access: Access) -> Hashable:
        """Check access and return the viewer's identity. The page is never shared between viewers,
        because its content may depend on more than Kubernetes permissions.
        """
        self.following.check(access, self.params, **dict(self.arguments))
        return access.identity

    def etag(self, access: Access) -> str:
        """Return the page's ETag. Raise `Denied` or `Http404`."""
        return self.following.etag(access, self.params, dict(self.arguments))


def resolve_list(url: str) -> ListRoute | None:
    """Return the list page at `url` (path and query), or None if it is not a list page."""
    found = resolve_page(url)
    return found if isinstance(found, ListRoute) else None


def resolve_page(url: str) -> ListRoute | DetailRoute | PageRoute | None:
    """Return the live page at `url`, or None if it is not a live page."""
    path, query = _split(url)
    try:
        match = resolve(path)
        params = QueryDict(query)
    except (Resolver404, SuspiciousOperation, ValueError):
        return None
    if match.view_name == "detail":
        return detail_route(**match.kwargs, params=params)
    following: LivePage | None = getattr(match.func, "following", None)
    if following is not None:
        return _find_page(url, following, params, match.kwargs)
    if match.view_name != "list":
        return None
    cluster: Cluster | None = match.kwargs["cluster"]
    kind = find_kind(cluster, match.kwargs["resource"])
    if cluster is None or kind is None:
        return None
    return ListRoute(cluster, kind, ViewSpec.parse(kind, params, cluster=cluster.name))


def _find_page(
    url: str, following: LivePage, params: QueryDict, arguments: dict[str, Any]
) -> PageRoute | None:
    """Return the page for a view. A page without a cluster in its URL belongs to the host."""
    cluster = arguments["cluster"] if "cluster" in arguments else clusters.get(HOST)
    if cluster is None:
        return None
    try:
        types = following.types(params, **arguments)
    except Http404:
        return None
    kind = cluster.kinds.of(types[0])
    if kind is None:
        return None
    return PageRoute(cluster, kind, url, types, following, tuple(arguments.items()), params)


def detail_route(
    cluster: Cluster | None,
    namespace: str,
    resource: str,
    name: str,
    tab: str = "",
    params: QueryDict | None = None,
) -> DetailRoute | None:
    """Return the detail page for the parts of a URL, or None if the kind or tab does not exist.

    `namespace` is "" for cluster-scoped kinds. An empty `tab` means the first tab.
    """
    kind = find_kind(cluster, resource)
    if cluster is None or kind is None or kind.view.namespaced is not bool(namespace):
        return None
    if namespace and not is_dns_label(namespace):
        # kube-apiserver rejects invalid namespace names.
        return None
    tabs = tabs_of(kind)
    found = next((one for one in tabs if one.id == tab), None) if tab else tabs[0]
    if found is None:
        return None
    return DetailRoute(
        cluster, kind, Key(namespace, name), found, _choices(found, params or QueryDict())
    )


def _choices(tab: Tab, params: QueryDict) -> tuple[tuple[str, str], ...]:
    names = dict.fromkeys(name for panel in tab.panels for name in panel.params)
    given = ((name, params.get(name, "")) for name in names)
    return tuple((name, value) for name, value in given if 0 < len(value) <= MAX_CHOICE)


def find_kind(cluster: Cluster | None, resource: str) -> ResourceKind | None:
    """Return the kind of a URL segment, or None if the cluster or kind does not exist."""
    return cluster.kinds.find(resource) if cluster is not None else None


def _split(url: str) -> tuple[str, str]:
    """Return the path and query, or ("", "") if `url` is not a URL on this host."""
    if len(url) > MAX_URL or not url.isprintable() or not url.startswith("/") or "\\" in url:
        return "", ""
    if url.startswith("//"):
        return "", ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return unquote(parts.path), parts.query
