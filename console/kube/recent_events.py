"""The newest objects of a type that may have any number of objects: Events.

In addition to an `Informer`'s guarantees, there are at most `limit` objects, last seen within
`max_age`. The oldest are evicted first. The limit also holds while a list is received. The store
is not equal to the server, because evicted objects still exist there. Don't use it for sorted or
paginated live lists.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush, heappushpop
from itertools import count

import msgspec

from console.kube.clock import Clock
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer, ListReceiver
from console.kube.listwatch import WatchEvent
from console.kube.projections.common import as_utc
from console.kube.store import UNREADABLE, Decode, P

LIMIT = 5_000
MAX_AGE = timedelta(hours=1)
#: Number of outdated queue entries that causes a rebuild of the queue.
_SLACK = 1_000
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class _Meta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""
    creationTimestamp: datetime | None = None


class _Series(msgspec.Struct, gc=False):
    lastObservedTime: datetime | None = None


class _Event(msgspec.Struct, gc=False):
    """https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/"""

    metadata: _Meta
    eventTime: datetime | None = None
    lastTimestamp: datetime | None = None
    series: _Series | None = None


_decoder = msgspec.json.Decoder(_Event)


def last_seen(raw: msgspec.Raw) -> tuple[Key, datetime] | None:
    """Return key and last occurrence of an event, or None if it cannot be decoded."""
    try:
        event = _decoder.decode(raw)
    except UNREADABLE:
        return None
    observed = event.series.lastObservedTime if event.series else None
    times = (observed, event.lastTimestamp, event.eventTime, event.metadata.creationTimestamp)
    known = [when for time in times if (when := as_utc(time)) is not None]
    return Key(event.metadata.namespace, event.metadata.name), max(known, default=_LONG_AGO)


class RecentEvents(Informer[P]):
    def __init__(
        self,
        gvr: GVR,
        decode: Decode[P],
        *,
        clock: Clock | None = None,
        limit: int = LIMIT,
        max_age: timedelta = MAX_AGE,
    ) -> None:
        super().__init__(gvr, decode, clock=clock)
        self.limit = limit
        self._max_age = max_age
        self._times: dict[Key, datetime] = {}
        # Oldest first. Entries that differ from `_times` are outdated and skipped.
        self._queue: list[tuple[datetime, Key]] = []

    @property
    def horizon(self) -> datetime:
        """Return the time before which events are too old."""
        return self._clock.now() - self._max_age

    def event(self, event: WatchEvent) -> str:
        version = super().event(event)
        found = last_seen(event.object)
        if found is not None:
            self.note(*found)
            self.tidy()
        return version

    def receive_list(self, namespace: str) -> ListReceiver:
        return _Newest(self, super().receive_list(namespace))

    def note(self, key: Key, when: datetime | None = None) -> None:
        """Record when an object was last seen, or that it was deleted. Core thread only."""
        if self.store.get(key) is None:
            self._times.pop(key, None)
        elif when is not None and self._times.get(key) != when:
            self._times[key] = when
            heappush(self._queue, (when, key))

    def tidy(self) -> None:
        """Evict objects that are too old or exceed the limit. Core thread only."""
        horizon, gone = self.horizon, []
        while self._queue and (len(self._times) > self.limit or self._queue[0][0] < horizon):
            when, key = heappop(self._queue)
            if self._times.get(key) == when:
                del self._times[key]
                gone.append(key)
        if len(self._queue) > len(self._times) + _SLACK:
            self._queue = [(when, key) for key, when in self._times.items()]
            heapify(self._queue)
        for key in self.store.evict(gone) if gone else ():
            self._changed(key)


class _Newest:
    """Keep the newest `limit` objects of a list and drop the others as they arrive."""

    def __init__(self, window: RecentEvents[P], gathering: ListReceiver) -> None:
        self._note, self._tidy = window.note, window.tidy
        self._limit, self._horizon = window.limit, window.horizon
        self._gathering = gathering
        self._kept: list[tuple[datetime, int, Key, msgspec.Raw]] = []
        self._numbers = count()

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        for raw in raws:
            found = last_seen(raw)
            if found is None or found[1] < self._horizon:
                continue
            # Copy the object, because a slice would keep its whole batch in memory.
            item = (found[1], next(self._numbers), found[0], raw.copy())
            if len(self._kept) < self._limit:
                heappush(self._kept, item)
            else:
                heappushpop(self._kept, item)

    def commit(self, resource_version: str) -> Sequence[Key]:
        self._gathering.add([raw for *_order, raw in self._kept])
        changed = self._gathering.commit(resource_version)
        for key in changed:
            self._note(key)
        for when, _number, key, _raw in self._kept:
            self._note(key, when)
        self._tidy()
        return changed
