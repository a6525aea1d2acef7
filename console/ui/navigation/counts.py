"""Number of objects of a kind by namespace and severity, kept up to date without scanning the
objects.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from console.kube.derived import Derived
from console.kube.gvr import Key, matching_keys
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry, Store
from console.ui.core.kind import ResourceKind
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Readable

#: Limits of the cache: number of kinds, number of objects in total, and seconds until unused counts
#: are dropped.
PLACES, ROOM, IDLE = 256, 2_000_000, 900.0

_Place = tuple[str, Severity]


class SeverityCounts(Derived[Any]):
    def __init__(self, store: Store[Any], kind: ResourceKind) -> None:
        super().__init__(store)
        self._kind = kind
        self._places: dict[Key, _Place] = {}
        self._numbers: dict[str, Counter[Severity]] = {}
        self._all: Counter[Severity] = Counter()
        self._failing: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._places)

    def of(self, readable: Readable, wanted: tuple[str, ...] = ()) -> Counter[Severity]:
        """Return the number of visible objects by severity, in all namespaces or only in `wanted`."""
        with self.current():
            if readable.namespaces is None and not wanted:
                return Counter(self._all)
            namespaces = set(wanted or readable.namespaces or ())
            whole = {
                n for n in namespaces if readable.namespaces is None or n in readable.namespaces
            }
            found: Counter[Severity] = Counter()
            for namespace in whole:
                found.update(self._numbers.get(namespace, {}))
            found.update(self._single(readable, whole, namespaces if wanted else None))
            return found

    def failing(self, readable: Readable) -> Counter[str]:
        """Return the number of visible failing objects by namespace. Namespaces without any are
        left out.
        """
        with self.current():
            whole = {
                n for n in self._failing if readable.namespaces is None or n in readable.namespaces
            }
            found = Counter({namespace: self._failing[namespace] for namespace in whole})
            for key in matching_keys(self._places.keys(), readable.names):
                namespace, severity = self._places[key]
                found[namespace] += severity is Severity.ERROR and namespace not in whole
            return +found

    def _single(
        self, readable: Readable, counted: set[str], wanted: set[str] | None
    ) -> Iterable[Severity]:
        """Yield the severities of objects that are allowed by name and are not in a `counted`
        namespace.
        """
        for key in matching_keys(self._places.keys(), readable.names):
            namespace, severity = self._places[key]
            if namespace not in counted and (wanted is None or namespace in wanted):
                yield severity

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._places, self._numbers, self._all, self._failing = {}, {}, Counter(), Counter()
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        place = self._place(entry) if entry is not None else None
        known = self._places.get(key)
        if place == known:
            return
        if known is not None:
            self._add(known, -1)
            del self._places[key]
        if place is not None:
            self._add(place, 1)
            self._places[key] = place

    def _place(self, entry: Entry[Any]) -> _Place:
        status = self._kind.status(entry)
        return entry.key.namespace, status.severity if status else Severity.OK

    def _add(self, place: _Place, number: int) -> None:
        namespace, severity = place
        here = self._numbers.setdefault(namespace, Counter())
        here[severity] += number
        self._all[severity] += number
        if severity is Severity.ERROR:
            self._failing[namespace] += number
            if not self._failing[namespace]:
                del self._failing[namespace]
        if not +here:
            del self._numbers[namespace]


_shelf: LruCache[tuple[Store[Any], ResourceKind], SeverityCounts] = LruCache(
    places=PLACES, room=ROOM, idle=IDLE, name="counts"
)


def counts_of(kind: ResourceKind, informer: Informer[Any]) -> SeverityCounts:
    """Return the counts of the kind, which all callers share."""
    store = informer.store
    return _shelf.get((store, kind), lambda: SeverityCounts(store, kind))
