"""Which projects there are for a viewer. A project is a namespace."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import NAMESPACES, WORKSPACES, Key
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL, Namespace
from console.kube.store import Entry, Store
from console.ui.access import Access
from console.ui.clusters import HOST, Cluster, clusters
from console.ui.kind import ResourceKind, Scope

#: What the page about its members and its quota is called.
MANAGED = gettext_lazy("Members and quota")
#: Viewers whose namespaces and workspaces are kept.
VIEWERS = 500

_Reach = tuple[bool, bool, frozenset[str]]


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
    return _in_order(_visible(access))


def _visible(access: Access) -> frozenset[str]:
    standing = access.standing()
    # An Access with a standing can be compared.
    reach: Callable[..., _Reach] = _reach if standing else _reach.__wrapped__
    everywhere, lists, found = reach(tuple(access.cluster.kinds.declared), access, standing)
    known = _all_of(access.cluster) if everywhere and lists else None
    return found if known is None else known


def may_be_project(access: Access, namespace: str) -> bool:
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


def workspace_of(access: Access, namespace: str) -> str:
    """The workspace that a project belongs to; "" for none, and for whoever may not know it."""
    informer = access.cluster.runtime.informers().get(NAMESPACES)
    if informer is None:
        return ""
    entry: Entry[Namespace] | None = informer.store.get(Key("", namespace))
    found = entry.projection.workspace if entry is not None else ""
    may_know = access.can("get", NAMESPACES, name=namespace) and may_see_workspace(access, found)
    return found if may_know else ""


def may_see_workspace(access: Access, workspace: str) -> bool:
    """Whether the viewer may look at the workspace; Kubernetes' own rights on the host say so."""
    return on_host(access).can("get", WORKSPACES, name=workspace)


def on_host(access: Access) -> Access:
    """What the viewer may do where workspaces are."""
    host = clusters.get(HOST)
    return access if host is None or host is access.cluster else host.access_for(access.identity)


def visible_workspaces(access: Access) -> tuple[str, ...]:
    """The workspaces that there are for the viewer, in the order of their names."""
    access = on_host(access)
    informer = access.cluster.runtime.informers().get(WORKSPACES)
    if informer is None or not informer.freshness.synced:
        return ()
    standing = access.standing()
    # An Access with a standing can be compared.
    found: Callable[..., tuple[str, ...]] = _workspaces if standing else _workspaces.__wrapped__
    return found(informer.store, informer.store.version, access, standing)


@lru_cache(VIEWERS)
def _workspaces(
    store: Store[Any], version: int, access: Access, standing: Hashable
) -> tuple[str, ...]:
    return tuple(name for name in sorted(_names(store, version)) if may_see_workspace(access, name))


def projects_in(access: Access, workspace: str) -> tuple[str, ...]:
    """The projects of a workspace that there are for the viewer, in the order of their names."""
    informer = access.cluster.runtime.informers().get(NAMESPACES)
    if informer is None or not informer.freshness.synced:
        return ()
    found = indexes_of(informer.store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")
    seen = _visible(access)
    return tuple(sorted(entry.key.name for entry in found if entry.key.name in seen))
