"""Problems of a kind's objects, grouped by cause and owner and maintained incrementally.

The cause is the status word, because it determines what the user can do. The sums are updated
with each change, as guaranteed by `console.kube.derived`, and shared by all viewers. The result
for a viewer is restricted to the visible objects.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry, Store
from console.ui.core.kind import ResourceKind
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Readable

#: Maximum problem groups listed per cause.
SHOWN = 10
#: Limits of the LRU cache, see `console.ui.navigation.counts`. Only objects with problems take space.
PLACES, ROOM, IDLE = 256, 2_000_000, 900.0


class ProblemCause(NamedTuple):
    severity: Severity
    word: str


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """A problem group: `count` objects of one owner in a namespace, or one object without an owner.

    `owner` is the owner's `Kind/name`, or "". `first` is the first object.
    """

    owner: str
    first: Key
    count: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with `count` objects. `lots` contains the largest problem groups."""

    cause: ProblemCause
    count: int
    lots: tuple[ProblemGroup, ...]


class _Member(NamedTuple):
    """An object with a problem. `owner` is the owner's `Kind/name`, or the object's own name, which
    contains no slash.
    """

    cause: ProblemCause
    owner: str


@dataclass(slots=True)
class _Group:
    """Objects with the same cause, by namespace and owner, and their number by namespace."""

    places: dict[str, dict[str, SortedList[Key]]] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)

    def add(self, key: Key, owner: str) -> None:
        here = self.places.setdefault(key.namespace, {})
        here.setdefault(owner, SortedList()).add(key)
        self.numbers[key.namespace] += 1

    def remove(self, key: Key, owner: str) -> None:
        here = self.places[key.namespace]
        here[owner].remove(key)
        self.numbers[key.namespace] -= 1
        if not here[owner]:
            del here[owner]
        if not here:
            del self.places[key.namespace], self.numbers[key.namespace]


class Problems(Derived[Any]):
    def __init__(self, store: Store[Any], kind: ResourceKind) -> None:
        super().__init__(store)
        self._kind = kind
        self._members: dict[Key, _Member] = {}
        self._groups: dict[ProblemCause, _Group] = {}

    def __len__(self) -> int:
        return len(self._members)

    def of(self, readable: Readable, wanted: tuple[str, ...] = ()) -> list[Problem]:
        """Return the problems of visible objects, the worst first.

        `wanted` restricts the result to these namespaces. An empty `wanted` means all
        namespaces.
        """
        with self.current():
            found = [
                Problem(cause, count, lots)
                for cause, group in self._groups.items()
                for count, lots in (self._seen(cause, group, readable, wanted),)
                if count
            ]
        return sorted(found, key=lambda f: (f.cause.severity.rank, -f.count, f.cause.word))

    def _seen(
        self, cause: ProblemCause, group: _Group, readable: Readable, wanted: tuple[str, ...]
    ) -> tuple[int, tuple[ProblemGroup, ...]]:
        here = readable.whole(group.numbers, wanted)
        single = self._single(cause, readable, wanted)
        lots = [_lot(owner, keys) for n in here for owner, keys in group.places[n].items()]
        by_owner: dict[tuple[str, str], list[Key]] = {}
        for key in sorted(single):
            by_owner.setdefault((key.namespace, self._members[key].owner), []).append(key)
        lots += (_lot(owner, keys) for (_namespace, owner), keys in by_owner.items())
        count = sum(group.numbers[n] for n in here) + len(single)
        return count, tuple(nsmallest(SHOWN, lots, key=lambda lot: (-lot.count, lot.first)))

    def _single(
        self, cause: ProblemCause, readable: Readable, wanted: tuple[str, ...] = ()
    ) -> list[Key]:
        """Return the objects that are visible only through permissions for their names."""
        found = readable.singles(self._members.keys(), wanted)
        return [key for key in found if self._members[key].cause == cause]

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._members, self._groups = {}, {}
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        member = self._member(entry) if entry is not None else None
        known = self._members.get(key)
        if member == known:
            return
        if known is not None:
            group = self._groups[known.cause]
            group.remove(key, known.owner)
            if not group.places:
                del self._groups[known.cause]
            del self._members[key]
        if member is not None:
            self._groups.setdefault(member.cause, _Group()).add(key, member.owner)
            self._members[key] = member

    def _member(self, entry: Entry[Any]) -> _Member | None:
        status = self._kind.status(entry)
        if status is None or not self._kind.is_problem(status):
            return None
        owner = getattr(entry.projection, "owner", "") or entry.key.name
        return _Member(ProblemCause(status.severity, status.word), owner)


def _lot(owner: str, keys: Sequence[Key]) -> ProblemGroup:
    return ProblemGroup(owner if "/" in owner else "", keys[0], len(keys))


_shelf: LruCache[tuple[Store[Any], ResourceKind], Problems] = LruCache(
    places=PLACES, room=ROOM, idle=IDLE, name="problems"
)


def problems_of(kind: ResourceKind, informer: Informer[Any]) -> Problems:
    """Return the shared `Problems` of a kind."""
    store = informer.store
    return _shelf.get((store, kind), lambda: Problems(store, kind))
