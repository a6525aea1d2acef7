"""What every page has around its content: who looks, at what, how fresh, and the way elsewhere.

A context processor. It runs for error pages too, so it takes a request in any state: without a viewer,
without a runtime, with a query that cannot be parsed. It starts no informer and calls nobody.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils.translation import get_language

from console.kube.gvr import GVR, NAMESPACES
from console.kube.informer import Informer
from console.kube.runtime import get_runtime
from console.kube.scopes import is_label
from console.kube.store import Store
from console.ui.access import Access
from console.ui.freshness import LIVE, LiveState, live_state
from console.ui.kind import ResourceKind, Scope
from console.ui.links import HOST_CLUSTER
from console.ui.nav import NavGroup, menu
from console.ui.registry import kinds

THEMES = ("light", "dark", "auto")
THEME_COOKIE = "theme"
#: Viewers whose namespaces are kept.
VIEWERS = 500

_Reach = tuple[bool, frozenset[str]]


@dataclass(frozen=True, slots=True)
class ScopeView:
    """Where one is. `namespaces`: the projects that the viewer may see; `namespace`: the chosen one."""

    cluster: str
    namespaces: tuple[str, ...]
    namespace: str


def shell(request: HttpRequest) -> dict[str, Any]:
    access = getattr(request, "access", None)
    informers = running_informers()
    namespace = _namespace(request)
    return {
        "account": getattr(request, "account", None) or "",
        "viewing": getattr(request, "viewing", None),
        "theme": theme_of(request),
        "lang": get_language() or settings.LANGUAGE_CODE,
        "cluster_name": settings.CLUSTER_NAME,
        "live": live_of(informers),
        "scope": ScopeView(HOST_CLUSTER, visible_namespaces(access, informers), namespace),
        "nav": _nav(request, access, informers, namespace),
    }


def theme_of(request: HttpRequest) -> str:
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else "auto"


def running_informers() -> Mapping[GVR, Informer[Any]]:
    try:
        return get_runtime().informers()
    except RuntimeError:
        return {}


def known_namespaces(
    access: Access, informers: Mapping[GVR, Informer[Any]]
) -> frozenset[str] | None:
    """All namespaces of the cluster, for a viewer who may list them. None for others: to see objects in
    every namespace is not to know which there are. None too while nobody knows them."""
    informer = informers.get(NAMESPACES)
    if not access.can("list", NAMESPACES):
        return None
    if informer is None or not informer.freshness.synced:
        return None
    return _names(informer.store, informer.store.version)


@lru_cache(1)
def _names(store: Store[Any], version: int) -> frozenset[str]:
    """Namespaces come and go seldom, and every page asks for all of them."""
    return frozenset(key.name for key in store.snapshot().entries)


@lru_cache(100)
def _in_order(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def visible_namespaces(
    access: Access | None, informers: Mapping[GVR, Informer[Any]]
) -> tuple[str, ...]:
    """The namespaces in which the viewer may list anything that there is a page for, as far as the
    viewer's rights or the list of namespaces tell their names."""
    if access is None:
        return ()
    standing = access.standing()
    # An Access with a standing can be compared.
    reach: Callable[..., _Reach] = _reach if standing else _reach.__wrapped__
    everywhere, found = reach(tuple(kinds), access, standing)
    known = known_namespaces(access, informers) if everywhere else None
    return _in_order(found if known is None else known)


@lru_cache(VIEWERS)
def _reach(known: tuple[ResourceKind, ...], access: Access, standing: Hashable) -> _Reach:
    """Whether the viewer may list anything in every namespace, and the names of others. The same for as
    long as `standing` is."""
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
    return everywhere, frozenset(found)


def live_of(informers: Mapping[GVR, Informer[Any]]) -> LiveState:
    """Of the page as a whole. Pages about one kind say their own instead."""
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


def _nav(
    request: HttpRequest,
    access: Access | None,
    informers: Mapping[GVR, Informer[Any]],
    namespace: str,
) -> tuple[NavGroup, ...]:
    if access is None:
        return ()
    match = request.resolver_match
    current = str(match.kwargs.get("resource") or match.view_name or "") if match else ""
    return menu(access, informers, cluster=HOST_CLUSTER, namespace=namespace, current=current)
