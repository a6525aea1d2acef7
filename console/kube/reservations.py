"""Sums of the resources reserved by pods, by namespace and node, updated incrementally.

See `console.kube.derived`. Terminated pods reserve nothing and are not counted.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from console.kube.derived import Derived
from console.kube.gvr import Key, matching_keys
from console.kube.projections.pod import Pod
from console.kube.projections.reserved import NO_RESOURCES, Reserved
from console.kube.store import Entry, Store


class ReservationTotal(NamedTuple):
    """The number of pods and their total reservations."""

    pods: int = 0
    reserved: Reserved = NO_RESOURCES

    def plus(self, other: "ReservationTotal") -> "ReservationTotal":
        return ReservationTotal(self.pods + other.pods, self.reserved.plus(other.reserved))


NO_RESERVATIONS = ReservationTotal()


class _Place(NamedTuple):
    namespace: str
    node: str
    held: ReservationTotal


class Reservations(Derived[Pod]):
    """Reservations of the pods in a store.

    `namespaces` limits the result to pods in these namespaces (None for all). `names` adds
    single pods, as in `console.ui.core.permissions.Readable`. Unscheduled pods have the node name "".
    """

    def __init__(self, store: Store[Pod]) -> None:
        super().__init__(store)
        self._places: dict[Key, _Place] = {}
        self._parts: dict[str, dict[str, ReservationTotal]] = {}
        self._nodes: dict[str, ReservationTotal] = {}
        self._namespaces: dict[str, ReservationTotal] = {}
        self._all = NO_RESERVATIONS

    def __len__(self) -> int:
        return len(self._places)

    def total(
        self, namespaces: Collection[str] | None, names: Collection[Key] = frozenset()
    ) -> ReservationTotal:
        with self.current():
            if namespaces is None:
                return self._all
            found = (self._namespaces.get(namespace, NO_RESERVATIONS) for namespace in namespaces)
            return _sum((*found, *(place.held for place in self._single(namespaces, names))))

    def by_namespace(
        self, namespaces: Collection[str] | None, names: Collection[Key] = frozenset()
    ) -> dict[str, ReservationTotal]:
        with self.current():
            if namespaces is None:
                return dict(self._namespaces)
            found = {n: held for n in namespaces if (held := self._namespaces.get(n))}
            for place in self._single(namespaces, names):
                found[place.namespace] = found.get(place.namespace, NO_RESERVATIONS).plus(
                    place.held
                )
            return found

    def by_node(self) -> dict[str, ReservationTotal]:
        """Return the reservations of all pods by node."""
        with self.current():
            return dict(self._nodes)

    def of_node(
        self,
        node: str,
        namespaces: Collection[str] | None,
        names: Collection[Key] = frozenset(),
    ) -> ReservationTotal:
        with self.current():
            if namespaces is None:
                return self._nodes.get(node, NO_RESERVATIONS)
            here = self._parts.get(node, {})
            found = [here[namespace] for namespace in namespaces if namespace in here]
            single = self._single(namespaces, names)
            return _sum((*found, *(place.held for place in single if place.node == node)))

    def _single(self, counted: Collection[str], names: Collection[Key]) -> Iterable[_Place]:
        """Return the pods in `names` that are not in the `counted` namespaces."""
        keys = matching_keys(self._places.keys(), names)
        return [self._places[key] for key in keys if key.namespace not in counted]

    def _rebuild(self, entries: Mapping[Key, Entry[Pod]]) -> None:
        self._places, self._parts, self._nodes, self._namespaces = {}, {}, {}, {}
        self._all = NO_RESERVATIONS
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Pod] | None) -> None:
        place = _place(entry) if entry is not None else None
        known = self._places.get(key)
        if place == known:
            return
        if known is not None:
            negative = Reserved(*(-amount for amount in known.held.reserved))
            self._add(known, ReservationTotal(-known.held.pods, negative))
            del self._places[key]
        if place is not None:
            self._add(place, place.held)
            self._places[key] = place

    def _add(self, place: _Place, held: ReservationTotal) -> None:
        self._all = self._all.plus(held)
        _put(self._namespaces, place.namespace, held)
        _put(self._nodes, place.node, held)
        here = self._parts.setdefault(place.node, {})
        _put(here, place.namespace, held)
        if not here:
            del self._parts[place.node]


def _place(entry: Entry[Pod]) -> _Place | None:
    pod = entry.projection
    if pod.reserved is None:
        return None
    return _Place(entry.key.namespace, pod.node, ReservationTotal(1, pod.reserved))


def _put(sums: dict[str, ReservationTotal], name: str, held: ReservationTotal) -> None:
    found = sums.get(name, NO_RESERVATIONS).plus(held)
    if found.pods:
        sums[name] = found
    else:
        sums.pop(name, None)


def _sum(several: Iterable[ReservationTotal]) -> ReservationTotal:
    return reduce(ReservationTotal.plus, several, NO_RESERVATIONS)


_shared: WeakKeyDictionary[Store[Any], Reservations] = WeakKeyDictionary()


def reservations_of(store: Store[Pod]) -> Reservations:
    """Return the shared reservations of a store."""
    found = _shared.get(store)
    if found is None:
        found = _shared.setdefault(store, Reservations(store))
    return found
