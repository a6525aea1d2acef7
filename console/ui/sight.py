"""What one viewer can see of the cluster for one page: kinds, their informers, their rights.

Rights come first: nobody makes the console follow a kind that they may not list.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import BUILT_IN_GROUPS, GVR
from console.kube.informer import Freshness, Informer
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
    """A kind that the viewer may list. `wanted`: those of the projects that the page is about where they
    may; none where it is about all."""

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
    namespaces: tuple[str, ...] = ()
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


async def look(access: Access, gvrs: Sequence[GVR], *, namespaces: tuple[str, ...] = ()) -> Sight:
    """With `namespaces` only what is in these, and only kinds that can be."""
    runtime = access.cluster.runtime
    found = see(access, gvrs, namespaces=namespaces)
    late = [kind.gvr for kind in found.loading if runtime.informer(kind.gvr).freshness == _NEW]
    if not late:
        return found
    await asyncio.gather(*(runtime.wait_synced(gvr, timeout=FIRST_LIST_WAIT) for gvr in late))
    return see(access, gvrs, namespaces=namespaces)


def see(access: Access, gvrs: Sequence[GVR], *, namespaces: tuple[str, ...] = ()) -> Sight:
    """As `look`, without waiting for lists that nobody has looked at yet."""
    sight = Sight(access, namespaces)
    for one in filter(None, (_seen(sight, gvr) for gvr in gvrs)):
        if one.informer.freshness.synced:
            sight.seen[one.kind.gvr] = one
        else:
            sight.loading.append(one.kind)
    return sight


def _allowed(
    kind: ResourceKind, access: Access, namespaces: tuple[str, ...]
) -> tuple[Readable, tuple[str, ...]] | None:
    """What the viewer may list, and in which of the `namespaces`; None for nothing."""
    if namespaces and kind.scope is not Scope.NAMESPACED:
        return None
    try:
        found = readable(kind, access)
    except Denied:
        return None
    wanted = tuple(name for name in namespaces if found.reaches(name))
    return (found, wanted) if wanted or not namespaces else None


def _served(cluster: Cluster, gvr: GVR) -> bool:
    """False for a custom type that the cluster does not define."""
    return gvr.group in BUILT_IN_GROUPS or cluster.runtime.types.get(gvr) is not None


def _seen(sight: Sight, gvr: GVR) -> Seen | None:
    cluster = sight.cluster
    kind = cluster.kinds.of(gvr)
    if kind is None or not _served(cluster, gvr):
        return None
    allowed = _allowed(kind, sight.access, sight.namespaces)
    if allowed is None:
        return None
    try:
        informer = cluster.runtime.informer(gvr)
    except UnknownKind:
        return None
    return Seen(cluster, kind, informer, *allowed)
