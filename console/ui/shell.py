"""What every page has around its content: who looks, at what, how fresh, and the way elsewhere.

A context processor. It runs for error pages too, so it takes a request in any state: without a viewer,
without a runtime, with a query that cannot be parsed. It starts no informer and calls nobody.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils.translation import get_language

from console.kube.gvr import NAMESPACES
from console.kube.scopes import is_label
from console.kube.store import Store
from console.ui.access import Access
from console.ui.clusters import HOST, Cluster, clusters
from console.ui.freshness import LIVE, LiveState, live_state
from console.ui.kind import ResourceKind, Scope
from console.ui.nav import NavGroup, menu

THEMES = ("light", "dark", "auto")
THEME_COOKIE = "theme"
#: Viewers whose namespaces are kept.
VIEWERS = 500

_Reach = tuple[bool, bool, frozenset[str]]


@dataclass(frozen=True, slots=True)
class ScopeView:
    """Where one is. `cluster`: its name. `namespaces`: the projects that the viewer may see; `namespace`:
    the chosen one."""

    cluster: str
    namespaces: tuple[str, ...]
    namespace: str

    @property
    def member(self) -> str:
        """The cluster that pages which are not below one's address must be told; "" for the host."""
        return "" if self.cluster == HOST else self.cluster


def shell(request: HttpRequest) -> dict[str, Any]:
    basis = {
        "theme": theme_of(request),
        "lang": get_language() or settings.LANGUAGE_CODE,
        "account": getattr(request, "account", None) or "",
    }
    if getattr(request, "docked", False):
        return {**basis, "docked": True, "frame": "docked.html"}
    access = getattr(request, "access", None)
    # Also of a page for which nobody has said so, as one of an error.
    cluster: Cluster | None = getattr(request, "cluster", None) or clusters.get(HOST)
    namespace = _namespace(request)
    if access is not None and namespace and not _may_be(access, namespace):
        # Menus are kept for each project. For names that anybody makes up they would be for nobody.
        namespace = ""
    return {
        **basis,
        "docked": False,
        "frame": "shell.html",
        "viewing": getattr(request, "viewing", None),
        "live": live_of(cluster) if cluster is not None else LiveState("off"),
        "scope": ScopeView(
            cluster.name if cluster is not None else HOST,
            visible_namespaces(access) if access is not None else (),
            namespace,
        ),
        "nav": _nav(request, access, namespace),
    }


def theme_of(request: HttpRequest) -> str:
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else "auto"


def known_namespaces(access: Access) -> frozenset[str] | None:
    """All namespaces of the cluster, for a viewer who may list them. None for others: to see objects in
    every namespace is not to know which there are. None too while nobody knows them."""
    return _all_of(access.cluster) if access.can("list", NAMESPACES) else None


def _all_of(cluster: Cluster) -> frozenset[str] | None:
    informer = cluster.runtime.informers().get(NAMESPACES)
    if informer is None or not informer.freshness.synced:
        return None
    return _names(informer.store, informer.store.version)


@lru_cache(16)
def _names(store: Store[Any], version: int) -> frozenset[str]:
    """Namespaces come and go seldom, and every page asks for all of them."""
    return frozenset(key.name for key in store.snapshot().entries)


@lru_cache(100)
def _in_order(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def visible_namespaces(access: Access) -> tuple[str, ...]:
    """The namespaces in which the viewer may list anything that there is a page for, as far as the
    viewer's rights or the list of namespaces tell their names."""
    standing = access.standing()
    # An Access with a standing can be compared.
    reach: Callable[..., _Reach] = _reach if standing else _reach.__wrapped__
    everywhere, lists, found = reach(tuple(access.cluster.kinds.declared), access, standing)
    known = _all_of(access.cluster) if everywhere and lists else None
    return _in_order(found if known is None else known)


def _may_be(access: Access, namespace: str) -> bool:
    """False for a name of which the viewer knows that it is no project's, or which is nothing to them."""
    standing = access.standing()
    reach: Callable[..., _Reach] = _reach if standing else _reach.__wrapped__
    everywhere, lists, found = reach(tuple(access.cluster.kinds.declared), access, standing)
    known = _all_of(access.cluster) if lists else None
    return namespace in found or (everywhere and (known is None or namespace in known))


@lru_cache(VIEWERS)
def _reach(known: tuple[ResourceKind, ...], access: Access, standing: Hashable) -> _Reach:
    """Whether the viewer may list anything in every namespace, whether the namespaces, and the names of
    others. The same for as long as `standing` is."""
    everywhere, found = False, set[str]()
    for kind in known:
        # A right to types that are in no namespace says nothing about any.
        if kind.scope is not Scope.NAMESPACED:
            continue
        allowed = access.namespaces_where("list", kind.gvr)
        if allowed is None:
            everywhere = True
            continue
        names = access.names_where("list", kind.gvr)
        found |= allowed | {key.namespace for key in names if key.namespace}
    return everywhere, access.can("list", NAMESPACES), frozenset(found)


def live_of(cluster: Cluster) -> LiveState:
    """Of the page as a whole. Pages about one kind say their own instead."""
    informers = cluster.runtime.informers()
    states = [state for item in informers.values() if (state := live_state(item)) is not LIVE]
    stale = [state for state in states if state.state == "stale" and state.since is not None]
    if stale:
        return min(stale, key=lambda state: state.since.timestamp() if state.since else 0.0)
    return LIVE if informers else LiveState("off")


def _namespace(request: HttpRequest) -> str:
    """The one project that the page is about, or ""."""
    match = request.resolver_match
    if match is not None and "namespace" in match.kwargs:
        return str(match.kwargs["namespace"])
    try:
        given = [name for name in request.GET.getlist("namespace") if name]
    except SuspiciousOperation:
        return ""
    # What no project is called has no address either.
    return given[0] if len(given) == 1 and is_label(given[0]) else ""


def _nav(request: HttpRequest, access: Access | None, namespace: str) -> tuple[NavGroup, ...]:
    if access is None:
        return ()
    match = request.resolver_match
    current = str(match.kwargs.get("resource") or match.view_name or "") if match else ""
    return menu(access, namespace=namespace, current=current)
