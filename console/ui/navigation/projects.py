"""Projects that a viewer can see. A project is a namespace."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import NAMESPACES, WORKSPACES, Key
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL, Namespace
from console.kube.runtime import Runtime
from console.kube.store import Entry, Store
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.kind import ResourceKind, Scope

#: Title of the page with the project's members and quota.
MANAGED = gettext_lazy("Members and quota")
#: Number of viewers whose namespaces and workspaces are cached.
VIEWERS = 500

#: Returns the page that saves a template in a workspace, or "" if the viewer may not save one.
TemplatePageOf = Callable[[Access, str], str]
_template_pages: list[TemplatePageOf] = []
_Reach = tuple[bool, bool, frozenset[str]]


def known_namespaces(access: Access) -> frozenset[str] | None:
    """Return all namespaces of the cluster, or None if they are not loaded or the viewer can't list
    them.

    Permission to list objects in all namespaces does not include permission to list the
    namespaces.
    """
    return _all_of(access.cluster) if access.can("list", NAMESPACES) else None


def _all_of(cluster: Cluster) -> frozenset[str] | None:
    informer = cluster.runtime.informers().get(NAMESPACES)
    if informer is None or not informer.freshness.synced:
        return None
    return _names(informer.store, informer.store.version)


@lru_cache(16)
def _names(store: Store[Any], version: int) -> frozenset[str]:
    """Return the names in the store. Cached, because namespaces rarely change and every page needs
    all of them.
    """
    return frozenset(key.name for key in store.snapshot().entries)


@lru_cache(100)
def _in_order(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def visible_namespaces(access: Access) -> tuple[str, ...]:
    """Return the namespaces in which the viewer can list at least one kind, sorted.

    Contains only the names in the viewer's permissions and in the list of namespaces, if the
    viewer can read it.
    """
    return _in_order(_visible(access))


def _visible(access: Access) -> frozenset[str]:
    rights_version = access.rights_version()
    # Only an `Access` with a rights version can be a cache key.
    reach: Callable[..., _Reach] = _reach if rights_version else _reach.__wrapped__
    everywhere, lists, found = reach(tuple(access.cluster.kinds.declared), access, rights_version)
    known = _all_of(access.cluster) if everywhere and lists else None
    return found if known is None else known


def can_access_project(access: Access, namespace: str) -> bool:
    """Return False if the viewer can see that the namespace does not exist, or has no permissions
    in it.
    """
    rights_version = access.rights_version()
    reach: Callable[..., _Reach] = _reach if rights_version else _reach.__wrapped__
    everywhere, lists, found = reach(tuple(access.cluster.kinds.declared), access, rights_version)
    known = _all_of(access.cluster) if lists else None
    return namespace in found or (everywhere and (known is None or namespace in known))


@lru_cache(VIEWERS)
def _reach(known: tuple[ResourceKind, ...], access: Access, rights_version: Hashable) -> _Reach:
    """Return True if the viewer can list any kind in all namespaces, True if the viewer can list
    namespaces, and the names of individually permitted namespaces.

    The result depends on the permissions only through `rights_version`, the rights version.
    """
    everywhere, found = False, set[str]()
    for kind in known:
        # Permissions for cluster-scoped types grant no access to namespaces.
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
    """Return the workspace of a project, or "" if it has none or the viewer can't see it."""
    found = labeled_workspace(access.cluster.runtime, namespace)
    may_know = access.can("get", NAMESPACES, name=namespace) and may_see_workspace(access, found)
    return found if may_know else ""


def register_template_page(page_of: TemplatePageOf) -> None:
    """Register the page that saves templates of workspaces."""
    _template_pages.append(page_of)


def template_page(access: Access, workspace: str) -> str:
    """Return the URL of the page that saves a template in a workspace, or "" if the viewer may not
    save one.
    """
    return next((page_of(access, workspace) for page_of in _template_pages), "")


def visible_workspace_uids(access: Access) -> dict[str, str]:
    """Return the names of the workspaces that the viewer can see, by UID."""
    names, host = visible_workspaces(access), host_access(access).cluster
    if not names:
        return {}
    store = host.runtime.informer(WORKSPACES).store
    entries = ((name, store.get(Key("", name))) for name in names)
    return {entry.projection.uid: name for name, entry in entries if entry is not None}


def find_workspace(cluster: str, namespace: str) -> str:
    """Return the workspace of a namespace for an audit record, or "". Checks no permissions."""
    found = clusters.get(cluster)
    return labeled_workspace(found.runtime, namespace) if found is not None else ""


def labeled_workspace(runtime: Runtime, namespace: str) -> str:
    """Return the workspace in the namespace's label, or "" if it has none or is not cached."""
    informer = runtime.informers().get(NAMESPACES)
    entry: Entry[Namespace] | None = informer.store.get(Key("", namespace)) if informer else None
    return entry.projection.workspace if entry is not None else ""


def may_see_workspace(access: Access, workspace: str) -> bool:
    """Return True if the viewer's Kubernetes permissions on the host allow reading the workspace."""
    return host_access(access).can("get", WORKSPACES, name=workspace)


def host_access(access: Access) -> Access:
    """Return the viewer's access on the host cluster, where workspaces are stored."""
    host = clusters.get(HOST)
    return access if host is None or host is access.cluster else host.access_for(access.identity)


def visible_workspaces(access: Access) -> tuple[str, ...]:
    """Return the names of the workspaces that the viewer can see, sorted."""
    access = host_access(access)
    informer = access.cluster.runtime.informers().get(WORKSPACES)
    if informer is None or not informer.freshness.synced:
        return ()
    rights_version = access.rights_version()
    # Only an `Access` with a rights version can be a cache key.
    found: Callable[..., tuple[str, ...]] = (
        _workspaces if rights_version else _workspaces.__wrapped__
    )
    return found(informer.store, informer.store.version, access, rights_version)


@lru_cache(VIEWERS)
def _workspaces(
    store: Store[Any], version: int, access: Access, rights_version: Hashable
) -> tuple[str, ...]:
    return tuple(name for name in sorted(_names(store, version)) if may_see_workspace(access, name))


def projects_in(access: Access, workspace: str) -> tuple[str, ...]:
    """Return the names of a workspace's projects that the viewer can see, sorted."""
    informer = access.cluster.runtime.informers().get(NAMESPACES)
    if informer is None or not informer.freshness.synced:
        return ()
    found = indexes_of(informer.store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")
    seen = _visible(access)
    return tuple(sorted(entry.key.name for entry in found if entry.key.name in seen))
