"""Addresses that come from outside, resolved as the console's own pages or not at all.

A socket subscribes to a page by its address, and a form names the page to return to. Both go through
the URLconf, so that neither can name anything that is not a page of ours.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote, urlencode, urlsplit

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, QueryDict
from django.urls import Resolver404, resolve

from console.kube.gvr import GVR, Key
from console.kube.scopes import is_label
from console.ui.access import Access
from console.ui.clusters import HOST, Cluster, clusters
from console.ui.columns import BY_KIND
from console.ui.decisions import check_seen
from console.ui.following import Following
from console.ui.kind import ResourceKind
from console.ui.linked import linked_types, types_of
from console.ui.links import detail_url
from console.ui.meters import reach_of
from console.ui.panels.standard import tabs_of
from console.ui.rights import detail_rights_key, listable, rights_key
from console.ui.tabs import Tab
from console.ui.viewspec import ViewSpec

#: Characters of an address; longer ones are nobody's.
MAX_URL = 16 * 1024
#: Characters of what is chosen in a panel: a name.
MAX_CHOICE = 253


class Place(Protocol):
    """A page that can be followed. `url` is its canonical one; what it shows is of `cluster` alone."""

    @property
    def cluster(self) -> Cluster: ...
    @property
    def kind(self) -> ResourceKind: ...
    @property
    def url(self) -> str: ...
    @property
    def namespaces(self) -> tuple[str, ...]:
        """Where its objects are, none for everywhere."""
        ...

    def rights(self, access: Access) -> Hashable:
        """Equal for two viewers only if the page shows both of them the same. Decided anew at each call.

        Raises `Denied` for whoever may not see what the address names, whether or not that exists.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The list that an address names. `spec` may have errors, as on the page itself."""

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
        return rights_key(self.kind, access, self.namespaces), reach_of(self.kind, access)


@dataclass(frozen=True, slots=True)
class DetailPlace:
    """The object that an address names, whether or not there is one, in one of its tabs. `choices`:
    what was chosen in its panels, names and values of the query."""

    cluster: Cluster
    kind: ResourceKind
    key: Key
    tab: Tab
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        # Without a tab it leads to the page of what the object stands for, if that has one.
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
        """The types that its panels look at beside the object's own."""
        found = {gvr for panel in self.tab.panels for gvr in panel.needs(self.kind)}
        return frozenset(found - {self.kind.gvr})

    @property
    def asks(self) -> frozenset[GVR]:
        """`needs`, and the types that it may lead to, of which nothing but whether there is the object
        is looked up."""
        named = (*linked_types(self.kind), *types_of(BY_KIND))
        return self.needs | (frozenset(named) - {self.kind.gvr})

    def rights(self, access: Access) -> Hashable:
        self.check(access)
        needed = [(gvr, listable(gvr, access)) for gvr in sorted(self.asks)]
        return detail_rights_key(self.kind, access), tuple(needed)

    def check(self, access: Access) -> None:
        """Raises `Denied` for whoever may not see the object, before anything is looked up."""
        check_seen(self.kind, access, self.key)


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A page that is drawn whole. `types`: what it is made of. `arguments`: those in the address, names
    and values."""

    cluster: Cluster
    kind: ResourceKind
    url: str
    types: tuple[GVR, ...]
    following: Following
    arguments: tuple[tuple[str, Any], ...]
    params: QueryDict

    @property
    def namespaces(self) -> tuple[str, ...]:
        return ()

    def rights(self, access: Access) -> Hashable:
        """Nobody shares it: what it shows may depend on more than Kubernetes' own rights."""
        self.following.check(access, self.params, **dict(self.arguments))
        return access.identity

    def etag(self, access: Access) -> str:
        """Raises `Denied` and `Http404`."""
        return self.following.etag(access, self.params, dict(self.arguments))


def find_list(url: str) -> ListPlace | None:
    """The list at `url` (path and query); None for anything else, whatever it is."""
    found = find_place(url)
    return found if isinstance(found, ListPlace) else None


def find_place(url: str) -> ListPlace | DetailPlace | PagePlace | None:
    """The page at `url` that can be followed; None for anything else, whatever it is."""
    path, query = _split(url)
    try:
        match = resolve(path)
        params = QueryDict(query)
    except (Resolver404, SuspiciousOperation, ValueError):
        return None
    if match.view_name == "detail":
        return find_detail(**match.kwargs, params=params)
    following: Following | None = getattr(match.func, "following", None)
    if following is not None:
        return _find_page(url, following, params, match.kwargs)
    if match.view_name != "list":
        return None
    cluster: Cluster | None = match.kwargs["cluster"]
    kind = find_kind(cluster, match.kwargs["resource"])
    if cluster is None or kind is None:
        return None
    return ListPlace(cluster, kind, ViewSpec.parse(kind, params, cluster=cluster.name))


def _find_page(
    url: str, following: Following, params: QueryDict, arguments: dict[str, Any]
) -> PagePlace | None:
    """Pages whose address names no cluster are about the host."""
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
    return PagePlace(cluster, kind, url, types, following, tuple(arguments.items()), params)


def find_detail(
    cluster: Cluster | None,
    namespace: str,
    resource: str,
    name: str,
    tab: str = "",
    params: QueryDict | None = None,
) -> DetailPlace | None:
    """The detail that the parts of an address name; `namespace` is "" for cluster-scoped kinds, `tab` for
    the first one. None if there is no such kind or tab."""
    kind = find_kind(cluster, resource)
    if cluster is None or kind is None or kind.view.namespaced is not bool(namespace):
        return None
    if namespace and not is_label(namespace):
        # Of such a project nobody can ask anything.
        return None
    tabs = tabs_of(kind)
    found = next((one for one in tabs if one.id == tab), None) if tab else tabs[0]
    if found is None:
        return None
    return DetailPlace(
        cluster, kind, Key(namespace, name), found, _choices(found, params or QueryDict())
    )


def _choices(tab: Tab, params: QueryDict) -> tuple[tuple[str, str], ...]:
    names = dict.fromkeys(name for panel in tab.panels for name in panel.params)
    given = ((name, params.get(name, "")) for name in names)
    return tuple((name, value) for name, value in given if 0 < len(value) <= MAX_CHOICE)


def find_kind(cluster: Cluster | None, resource: str) -> ResourceKind | None:
    """The kind that a list's URL names; None if there is no such cluster or kind."""
    return cluster.kinds.find(resource) if cluster is not None else None


def _split(url: str) -> tuple[str, str]:
    """Path and query, or ("", "") for what is not an address on this host."""
    if len(url) > MAX_URL or not url.isprintable() or not url.startswith("/") or "\\" in url:
        return "", ""
    if url.startswith("//"):
        return "", ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return unquote(parts.path), parts.query
