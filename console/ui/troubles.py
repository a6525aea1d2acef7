"""What is not well among the objects of a kind, grouped by its cause: counted without looking at them.

A cause is the status word, since that is what somebody can act on. Sums follow each change, as
`console.kube.derived` promises, and are the same for everybody; what a viewer gets is cut out of them by
their rights.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from console.kube.derived import Derived
from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, Key, named
from console.kube.informer import Informer
from console.kube.status import Severity, Status
from console.kube.store import Entry, Store
from console.ui.decisions import Readable
from console.ui.kind import ResourceKind
from console.ui.shelf import Shelf

#: Objects that are named of each cause.
SHOWN = 3
#: As in `console.ui.counts`; only what is not well is remembered.
PLACES, ROOM, IDLE = 256, 2_000_000, 900.0

_BAD = frozenset({Severity.ERROR, Severity.WARN})


class Cause(NamedTuple):
    severity: Severity
    word: str


@dataclass(frozen=True, slots=True)
class Finding:
    """`keys`: the first few of the `count` objects."""

    cause: Cause
    count: int
    keys: tuple[Key, ...]


@dataclass(slots=True)
class _Group:
    keys: SortedList[Key] = field(default_factory=SortedList)
    numbers: Counter[str] = field(default_factory=Counter)


class Troubles(Derived[Any]):
    def __init__(self, store: Store[Any], kind: ResourceKind) -> None:
        super().__init__(store)
        self._kind = kind
        self._causes: dict[Key, Cause] = {}
        self._groups: dict[Cause, _Group] = {}

    def __len__(self) -> int:
        return len(self._causes)

    @property
    def behind(self) -> int:
        """About how many objects must be looked at before this can be read."""
        return len(self._store) if self.version < 0 else self._store.version - self.version

    def catch_up(self) -> None:
        with self.current():
            pass

    def of(self, readable: Readable, wanted: tuple[str, ...] = ()) -> list[Finding]:
        """Of what the viewer may see: in all, or in the namespaces `wanted`. The worst first."""
        with self.current():
            found = [
                Finding(cause, count, keys)
                for cause, group in self._groups.items()
                for count, keys in (self._seen(cause, group, readable, wanted),)
                if count
            ]
        return sorted(found, key=lambda f: (f.cause.severity.rank, -f.count, f.cause.word))

    def failing(self, readable: Readable) -> Counter[str]:
        """How many are failing, by namespace."""
        found: Counter[str] = Counter()
        with self.current():
            for cause, group in self._groups.items():
                if cause.severity is not Severity.ERROR:
                    continue
                if readable.namespaces is None:
                    found.update(group.numbers)
                    continue
                found.update({n: group.numbers[n] for n in _common(readable.namespaces, group)})
                found.update(key.namespace for key in self._single(cause, readable, ()))
        return found

    def _seen(
        self, cause: Cause, group: _Group, readable: Readable, wanted: tuple[str, ...]
    ) -> tuple[int, tuple[Key, ...]]:
        if readable.namespaces is None and not wanted:
            return len(group.keys), tuple(group.keys[:SHOWN])
        asked = set(wanted or readable.namespaces or ())
        whole = {n for n in asked if readable.namespaces is None or n in readable.namespaces}
        here = _common(whole, group)
        single = self._single(cause, readable, wanted)
        first = [key for n in here for key in islice(_within(group.keys, n), SHOWN)]
        count = sum(group.numbers[n] for n in here) + len(single)
        return count, tuple(nsmallest(SHOWN, (*first, *single)))

    def _single(self, cause: Cause, readable: Readable, wanted: tuple[str, ...]) -> list[Key]:
        """Those that are allowed by their names alone."""
        if readable.namespaces is None or not readable.names:
            return []
        return [
            key
            for key in named(self._causes.keys(), readable.names)
            if self._causes[key] == cause
            and key.namespace not in readable.namespaces
            and (not wanted or key.namespace in wanted)
        ]

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._causes, self._groups = {}, {}
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        cause = self._cause(entry) if entry is not None else None
        known = self._causes.get(key)
        if cause == known:
            return
        if known is not None:
            group = self._groups[known]
            group.keys.remove(key)
            group.numbers[key.namespace] -= 1
            if not group.numbers[key.namespace]:
                del group.numbers[key.namespace]
            if not group.keys:
                del self._groups[known]
            del self._causes[key]
        if cause is not None:
            group = self._groups.setdefault(cause, _Group())
            group.keys.add(key)
            group.numbers[key.namespace] += 1
            self._causes[key] = cause

    def _cause(self, entry: Entry[Any]) -> Cause | None:
        status = self._kind.status(entry)
        if status is None or not _is_trouble(self._kind, status):
            return None
        return Cause(status.severity, status.word)


def _is_trouble(kind: ResourceKind, status: Status) -> bool:
    """A claim without a volume is: nothing that uses it starts."""
    pending = kind.gvr == PERSISTENT_VOLUME_CLAIMS and status.severity is Severity.PROGRESS
    return status.severity in _BAD or (pending and status.word != "Resizing")


def _common(namespaces: Iterable[str], group: _Group) -> set[str]:
    return set(namespaces) & group.numbers.keys()


def _within(keys: SortedList[Key], namespace: str) -> Iterator[Key]:
    last = Key(f"{namespace}\0", "")
    return iter(keys.irange(Key(namespace, ""), last, inclusive=(True, False)))


_shelf: Shelf[tuple[Store[Any], ResourceKind], Troubles] = Shelf(
    places=PLACES, room=ROOM, idle=IDLE
)


def troubles_of(kind: ResourceKind, informer: Informer[Any]) -> Troubles:
    """The kind's own, shared by all who ask."""
    store = informer.store
    return _shelf.get((store, kind), lambda: Troubles(store, kind))
