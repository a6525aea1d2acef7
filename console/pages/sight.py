"""What one viewer can see of the cluster for one page: kinds, their informers, their rights.

Rights come first: nobody makes the console follow a kind that they may not list.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.kube.gvr import BUILT_IN_GROUPS, GVR
from console.kube.informer import Freshness, Informer
from console.kube.runtime import UnknownKind
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.decisions import Denied, Readable, readable
from console.ui.kind import ResourceKind, Scope

#: Nobody has looked yet, and nothing has gone wrong.
_NEW = Freshness()
#: Seconds that the first viewer waits for lists that nobody has looked at yet.
FIRST_LIST_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A kind that the viewer may list. `wanted`: the one project that the page is about, if any."""

    cluster: Cluster
    kind: ResourceKind
    informer: Informer[Any]
    readable: Readable
    wanted: tuple[str, ...]

    @property
    def entries(self) -> list[Entry[Any]]:
        """All objects that the viewer may list, wherever they are. For kinds of which there are few."""
        found = self.informer.store.snapshot().entries.values()
        return [entry for entry in found if self.readable.sees(entry.key)]


@dataclass(frozen=True)
class Sight:
    """`seen`: by type, those whose list has arrived. `loading`: kinds whose list has not."""

    access: Access
    namespace: str
    seen: dict[GVR, Seen] = field(default_factory=dict)
    loading: list[ResourceKind] = field(default_factory=list)

    @property
    def cluster(self) -> Cluster:
        return self.access.cluster

    @property
    def blind(self) -> bool:
        """The viewer may see nothing of what the page is made of."""
        return not self.seen and not self.loading

    def get(self, gvr: GVR) -> Seen | None:
        return self.seen.get(gvr)

    def all(self, gvrs: Sequence[GVR]) -> Iterable[Seen]:
        return (self.seen[gvr] for gvr in gvrs if gvr in self.seen)


async def look(access: Access, gvrs: Sequence[GVR], *, namespace: str = "") -> Sight:
    """With a `namespace` only what is in it, and only kinds that can be."""
    sight, runtime = Sight(access, namespace), access.cluster.runtime
    found = [seen for gvr in gvrs if (seen := _seen(sight, gvr))]
    late = [one.kind.gvr for one in found if one.informer.freshness == _NEW]
    if late:
        await asyncio.gather(*(runtime.wait_synced(gvr, timeout=FIRST_LIST_WAIT) for gvr in late))
    for one in found:
        if one.informer.freshness.synced:
            sight.seen[one.kind.gvr] = one
        else:
            sight.loading.append(one.kind)
    return sight


def allowed(kind: ResourceKind, access: Access, namespace: str) -> Readable | None:
    """None for a kind that the viewer may not list, or not there."""
    if namespace and kind.scope is not Scope.NAMESPACED:
        return None
    try:
        return readable(kind, access, (namespace,) if namespace else ())
    except Denied:
        return None


def _served(cluster: Cluster, gvr: GVR) -> bool:
    """False for a custom type that the cluster does not define."""
    return gvr.group in BUILT_IN_GROUPS or cluster.runtime.types.get(gvr) is not None


def _seen(sight: Sight, gvr: GVR) -> Seen | None:
    cluster = sight.cluster
    kind = cluster.kinds.of(gvr)
    if kind is None or not _served(cluster, gvr):
        return None
    found = allowed(kind, sight.access, sight.namespace)
    if found is None:
        return None
    try:
        informer = cluster.runtime.informer(gvr)
    except UnknownKind:
        return None
    return Seen(cluster, kind, informer, found, (sight.namespace,) if sight.namespace else ())
