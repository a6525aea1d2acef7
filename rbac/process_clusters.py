"""The clusters of this process, each with its authorizer and the authorizer's cache."""

from typing import Any

from console.kube.gvr import GVR, USERS
from console.kube.host_runtime import get_runtime, set_runtime
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.runtime import Reads, Runtime
from console.ui.core.clusters import HOST, Cluster, Kinds, clusters
from console.ui.core.registry import kinds
from rbac.authorizer import Authorizer
from rbac.levels import RoleLevels
from rbac.rules import Rule, Rules


class _MemberObjects:
    """Object source for the permissions in a member cluster: the member's own objects and the users
    of the host cluster.
    """

    def __init__(self, host: Reads, member: Reads) -> None:
        self._host, self._member = host, member

    def informer(self, gvr: GVR) -> Informer[Any]:
        return (self._host if gvr == USERS else self._member).informer(gvr)


def create_cluster(name: str, runtime: Runtime, **options: Any) -> Cluster:
    """Return a cluster that uses this runtime. The host cluster must be added before member
    clusters. `options` are further fields of `Cluster`.
    """
    reads: Reads = runtime if name == HOST else _MemberObjects(clusters.host.runtime, runtime)
    return Cluster(name, runtime, Authorizer(reads), Kinds(kinds, runtime.served), **options)


def set_host_cluster(runtime: Runtime, **options: Any) -> Cluster:
    """Make `runtime` the runtime of the process and of its host cluster. `options` are further fields
    of `Cluster`.
    """
    set_runtime(runtime)
    host = create_cluster(HOST, runtime, **options)
    clusters.add(host)
    return host


def unset_host_cluster() -> None:
    """Undo `set_host_cluster`. Used by tests."""
    set_runtime(None)
    clusters.remove(HOST)


def get_authorizer() -> Authorizer:
    """Return the host cluster's authorizer. Raise RuntimeError if the process has none."""
    found = clusters.host.authorizer
    if not isinstance(found, Authorizer):
        raise RuntimeError("the host cluster does not use rbac.authorizer.Authorizer")
    return found


def excess_permissions(
    identity: Identity, other: Identity, *, in_workspaces: bool = True
) -> Rules | None:
    """Return the permissions that `other` is granted in any cluster and that `identity` does not
    have there.

    Return None while the grants are uncertain (see `RoleLevels.excess_of_name`, also for
    `in_workspaces`). Raise RuntimeError like `get_authorizer`.
    """
    missing: list[Rule] = []
    for cluster in clusters:
        authorizer = cluster.authorizer
        if not isinstance(authorizer, Authorizer):
            return None
        levels = RoleLevels(cluster.runtime, authorizer, natively=cluster.name != HOST)
        found = levels.excess_of_name(identity, other, in_workspaces=in_workspaces)
        if found is None:
            return None
        missing += found
    return tuple(dict.fromkeys(missing))


def get_role_levels() -> RoleLevels:
    """Return the host cluster's role levels. Raise RuntimeError like `get_authorizer`."""
    return RoleLevels(get_runtime(), get_authorizer())
