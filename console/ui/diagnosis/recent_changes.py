"""Objects of a kind sorted by their most recent change, maintained incrementally."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from heapq import nlargest
from itertools import islice
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from console.kube.derived import Derived
from console.kube.gvr import EVENTS, Key
from console.kube.informer import Informer
from console.kube.store import Entry, Store
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Readable

#: Limits of the LRU cache: entries, total size, and idle seconds. The same limits as in
#: `console.ui.navigation.counts`.
PLACES, ROOM, IDLE = 64, 500_000, 900.0

MomentOf = Callable[[Any], datetime | None]


class ChangeTime(NamedTuple):
    at: datetime
    key: Key


class RecentChanges(Derived[Any]):
    """The objects of a store, sorted by time.

    `moment_of` returns the time of an object's projection, or None to leave the object out.
    """

    def __init__(self, store: Store[Any], moment_of: MomentOf) -> None:
        super().__init__(store)
        self._moment_of = moment_of
        self._moments: dict[Key, ChangeTime] = {}
        self._all: SortedList[ChangeTime] = SortedList()
        self._namespaces: dict[str, SortedList[ChangeTime]] = {}

    def __len__(self) -> int:
        return len(self._moments)

    def newest(
        self, readable: Readable, most: int, wanted: tuple[str, ...] = ()
    ) -> list[ChangeTime]:
        """Return up to `most` visible objects, most recent first.

        `wanted` restricts the result to these namespaces. An empty `wanted` means all
        namespaces.
        """
        with self.current():
            if readable.namespaces is None and not wanted:
                return list(islice(reversed(self._all), most))
            return nlargest(most, self._candidates(readable, most, wanted))

    def _candidates(
        self, readable: Readable, most: int, wanted: tuple[str, ...]
    ) -> Iterator[ChangeTime]:
        for namespace in readable.whole(self._namespaces, wanted):
            yield from islice(reversed(self._namespaces[namespace]), most)
        for key in readable.singles(self._moments.keys(), wanted):
            yield self._moments[key]

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._moments, self._namespaces, self._all = {}, {}, SortedList()
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        at = self._moment_of(entry.projection) if entry is not None else None
        known = self._moments.pop(key, None)
        if known is not None:
            self._all.remove(known)
            here = self._namespaces[key.namespace]
            here.remove(known)
            if not here:
                del self._namespaces[key.namespace]
        if at is not None:
            moment = self._moments[key] = ChangeTime(at, key)
            self._all.add(moment)
            self._namespaces.setdefault(key.namespace, SortedList()).add(moment)


def change_time(item: Any) -> datetime | None:
    """Return the creation time of a workload or the time of its last rollout progress, if that is
    later.
    """
    moments = (item.created, getattr(item, "changed", None))
    return max((moment for moment in moments if moment is not None), default=None)


def warning_time(event: Any) -> datetime | None:
    return event.last if event.type == "Warning" else None


_shelf: LruCache[Store[Any], RecentChanges] = LruCache(
    places=PLACES, room=ROOM, idle=IDLE, name="recent changes"
)


def recent_changes_of(informer: Informer[Any]) -> RecentChanges:
    """Return the shared `RecentChanges` of an informer: warnings for events, objects by change time for
    other kinds.
    """
    store, moment_of = informer.store, warning_time if informer.gvr == EVENTS else change_time
    return _shelf.get(store, lambda: RecentChanges(store, moment_of))
