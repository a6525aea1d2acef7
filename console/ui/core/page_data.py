"""The kinds visible to a viewer on one page, with their informers and visible objects.

Permissions are checked first, so that a viewer can't start the informer of a kind that they
can't list.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Freshness, Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.permissions import NOTHING, Readable, visible

#: State of an informer that was just started and has no error.
_NEW = Freshness()
#: Seconds that the first viewer of a kind waits for its list.
FIRST_LIST_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class VisibleKind:
    """A kind that the viewer can list.

    `wanted` contains the projects of the page in which the viewer can list the kind. It is empty
    if the page shows all projects.
    """

    cluster: Cluster
    kind: ResourceKind
    informer: Informer[Any]
    readable: Readable
    wanted: tuple[str, ...]

    @property
    def entries(self) -> list[Entry[Any]]:
        """All objects that the viewer can list, in all namespaces. For kinds with few objects."""
        found = self.informer.store.snapshot().entries.values()
        return [entry for entry in found if self.readable.includes(entry.key)]


@dataclass(frozen=True)
class PageData:
    """The kinds of a page that the viewer can see.

    `seen` contains the kinds whose list is loaded, by type, and `loading` the others.
    """

    access: Access
    namespaces: tuple[str, ...] = ()
    seen: dict[GVR, VisibleKind] = field(default_factory=dict)
    loading: list[ResourceKind] = field(default_factory=list)

    @property
    def cluster(self) -> Cluster:
        return self.access.cluster

    @property
    def nothing_visible(self) -> bool:
        """True if the viewer can't see any kind of the page."""
        return not self.seen and not self.loading

    def get(self, gvr: GVR) -> VisibleKind | None:
        return self.seen.get(gvr)

    def all(self, gvrs: Sequence[GVR]) -> Iterable[VisibleKind]:
        return (self.seen[gvr] for gvr in gvrs if gvr in self.seen)


async def load_page_data(
    access: Access, gvrs: Sequence[GVR], *, namespaces: tuple[str, ...] = ()
) -> PageData:
    """Return the visible kinds, and wait briefly for lists that were not requested before.

    `namespaces` restricts the page to these namespaces and to namespaced kinds.
    """
    runtime = access.cluster.runtime
    found = current_page_data(access, gvrs, namespaces=namespaces)
    late = [kind.gvr for kind in found.loading if runtime.informer(kind.gvr).freshness == _NEW]
    if not late:
        return found
    await asyncio.gather(*(runtime.wait_synced(gvr, timeout=FIRST_LIST_WAIT) for gvr in late))
    return current_page_data(access, gvrs, namespaces=namespaces)


def current_page_data(
    access: Access, gvrs: Sequence[GVR], *, namespaces: tuple[str, ...] = ()
) -> PageData:
    """Return the visible kinds like `load_page_data`, without waiting."""
    sight = PageData(access, namespaces)
    for one in filter(None, (_seen(sight, gvr) for gvr in gvrs)):
        if one.informer.freshness.synced:
            sight.seen[one.kind.gvr] = one
        else:
            sight.loading.append(one.kind)
    return sight


def _seen(sight: PageData, gvr: GVR) -> VisibleKind | None:
    cluster = sight.cluster
    kind = cluster.kinds.of(gvr)
    if kind is None or not cluster.kinds.installed(gvr):
        return None
    if sight.namespaces and kind.scope is not Scope.NAMESPACED:
        return None
    found = visible(kind, sight.access)
    wanted = tuple(name for name in sight.namespaces if found.may_include(name))
    if found == NOTHING or (sight.namespaces and not wanted):
        return None
    try:
        informer = cluster.runtime.informer(gvr)
    except UnknownKind:
        return None
    return VisibleKind(cluster, kind, informer, found, wanted)
