"""The clusters of this process, each with its authorizer, so that what that worked out is kept."""

from typing import Any

from console.kube.current import get_runtime, set_runtime
from console.kube.gvr import GVR, USERS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.prometheus import Prometheus
from console.kube.runtime import Reads, Runtime
from console.ui.clusterkinds import Kinds
from console.ui.clusters import HOST, Cluster, clusters
from console.ui.registry import kinds
from rbac.authorizer import Authorizer
from rbac.levels import Levels
from rbac.rules import Rule, Rules


class _MemberReads:
    """What the rights in a member cluster come from: its own objects, and the users of the host."""

    def __init__(self, host: Reads, member: Reads) -> None:
        self._host, self._member = host, member

    def informer(self, gvr: GVR) -> Informer[Any]:
        return (self._host if gvr == USERS else self._member).informer(gvr)


def cluster_of(name: str, runtime: Runtime, *, prometheus: Prometheus | None = None) -> Cluster:
    """A cluster that is followed by this runtime. Members need the host to be there already."""
    reads: Reads = runtime if name == HOST else _MemberReads(clusters.host.runtime, runtime)
    return Cluster(name, runtime, Authorizer(reads), Kinds(kinds, runtime.types), prometheus)


def use_host(runtime: Runtime, *, prometheus: Prometheus | None = None) -> Cluster:
    """Makes this the runtime of the process and of its host cluster."""
    set_runtime(runtime)
    host = cluster_of(HOST, runtime, prometheus=prometheus)
    clusters.add(host)
    return host


def no_host() -> None:
    """Takes it back, for tests."""
    set_runtime(None)
    clusters.remove(HOST)


def get_authorizer() -> Authorizer:
    """The host's. Raises RuntimeError if the process has none."""
    found = clusters.host.authorizer
    if not isinstance(found, Authorizer):
        raise RuntimeError("the host's rights are decided by something else")
    return found


def beyond_anywhere(identity: Identity, other: Identity) -> Rules | None:
    """What is given to the name of `other`, in any cluster, and `identity` has not there; None while that
    is not known for sure (`Levels.beyond_name`). Raises RuntimeError, as above."""
    missing: list[Rule] = []
    for cluster in clusters:
        authorizer = cluster.authorizer
        if not isinstance(authorizer, Authorizer):
            return None
        levels = Levels(cluster.runtime, authorizer, natively=cluster.name != HOST)
        found = levels.beyond_name(identity, other)
        if found is None:
            return None
        missing += found
    return tuple(dict.fromkeys(missing))


def get_levels() -> Levels:
    """Raises RuntimeError, as above."""
    return Levels(get_runtime(), get_authorizer())
