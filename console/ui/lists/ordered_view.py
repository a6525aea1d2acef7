"""The sorted objects of a list, maintained incrementally.

An `OrderedView` serves all pages of a list in both directions. The cost of a page depends on its
rows, and the cost of a change on one object, regardless of the total number of objects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from sortedcontainers import SortedList

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.indexes import indexes_of
from console.kube.status import Severity
from console.kube.store import Entry, Store
from console.kube.usage import UsageSample
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Readable
from console.ui.lists.columns import UsageColumn, with_usage
from console.ui.lists.viewspec import Values, ViewSpec
from console.ui.usage.reading import UsageAccess

#: Sort key of an object: the column's value, then the name, then the namespace.
Rank = tuple[Any, str, str]

ALL = slice(None)
#: Objects sorted in one step, so that other threads can run in between.
_RUN = 2000


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """The query of a list. Lists that differ only in direction or page have equal queries.

    `column` is the id of the sort column, "" for a kind that can only be sorted by name. `reach`
    is the viewer's usage access if the list is sorted by usage.
    """

    kind: ResourceKind
    values: Values
    column: str
    readable: Readable
    reach: UsageAccess | None = None

    @classmethod
    def of(
        cls, spec: ViewSpec, readable: Readable, reach: UsageAccess | None = None
    ) -> "ViewQuery":
        column = spec.ordered_by
        by_usage = isinstance(spec.kind.sortable.get(column), UsageColumn)
        return cls(spec.kind, spec.values, column, readable, reach if by_usage else None)


@dataclass(frozen=True, slots=True)
class ListSlice:
    """A page of a list at one point in time.

    `entries` is the requested slice and `total` the number of objects in all pages. `tally`
    counts the objects of each severity before faceted filters apply.
    """

    entries: Sequence[Entry[Any]]
    total: int
    tally: Mapping[Severity, int]
    resource_version: str


class OrderedView(Derived[Any]):
    def __init__(self, store: Store[Any], question: ViewQuery) -> None:
        super().__init__(store)
        spec = ViewSpec(question.kind, "", values=question.values)
        self._status, self._readable = question.kind.status, question.readable
        self._plain, self._faceted = spec.tests(faceted=False), spec.tests(faceted=True)
        self._column = question.kind.sortable.get(question.column)
        self._reach = question.reach
        # The usage reading that determined the order, if sorted by usage.
        self._reading: UsageSample | None = None
        self._within = _within(question.readable, spec.namespaces)
        self._reset()

    def _reset(self) -> None:
        # Contains ranks, and is searched by prefixes of ranks.
        self._order: SortedList[Any] = SortedList()
        self._ranks: dict[Key, Rank] = {}
        self._shown: dict[Key, Entry[Any]] = {}
        # Objects excluded by faceted filters. They are counted but not shown.
        self._hidden: dict[Key, Entry[Any]] = {}
        self._tally = dict.fromkeys(Severity, 0)

    def __len__(self) -> int:
        return len(self._shown) + len(self._hidden)

    @property
    def pending_changes(self) -> int:
        reach = self._reach
        moved = (
            self.version >= 0 and reach is not None and reach.read().reading is not self._reading
        )
        return super().pending_changes + (len(self._shown) if moved else 0)

    def read(self, part: slice = ALL, *, descending: bool = False) -> ListSlice:
        with self.current():
            ranks = self._descending(part) if descending else self._order[part]
            entries = tuple(self._shown[Key(namespace, name)] for _, name, namespace in ranks)
            return ListSlice(entries, len(self._order), dict(self._tally), self.resource_version)

    def _descending(self, part: slice) -> Iterable[Rank]:
        """Return the slice of the reversed column order. Objects with equal values stay sorted by
        name.
        """
        start, stop, _step = part.indices(len(self._order))
        if stop - start == len(self._order):
            groups = [list(group) for _, group in groupby(self._order, key=lambda rank: rank[0])]
            return chain.from_iterable(reversed(groups))
        return self._groups_from_the_end(start, stop)

    def _groups_from_the_end(self, start: int, stop: int) -> Iterator[Rank]:
        order, total = self._order, len(self._order)
        at = start
        while at < stop:
            value = order[total - 1 - at][0]
            first, end = order.bisect_left((value,)), order.bisect_right((value, _LAST))
            # Index of the group's first member when counting from the end of the list.
            group = order[first + at - (total - end) : min(end, first + stop - (total - end))]
            yield from group
            at += len(group)

    # The methods below run with the lock held.

    def _catch_up(self) -> None:
        meter = self._reach.read() if self._reach is not None else None
        moved = meter is not None and meter.reading is not self._reading
        if meter is not None and moved and self._column is not None:
            self._reading = meter.reading
            self._column = with_usage((self._column,), meter.used)[0]
        rebuilds = self.rebuilds
        super()._catch_up()
        if moved and self.rebuilds == rebuilds:
            # A new reading changes the usage of every object.
            self._ranks = {key: self._rank(entry) for key, entry in self._shown.items()}
            self._order = SortedList(_in_order(list(self._ranks.values())))

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._reset()
        for entry in self._candidates(entries):
            self._insert(entry)
        self._order = SortedList(_in_order(list(self._ranks.values())))

    def _candidates(self, entries: Mapping[Key, Entry[Any]]) -> Iterable[Entry[Any]]:
        """Return the entries that can be in the list. If few namespaces are visible, only those are
        searched.
        """
        if self._within is None:
            return entries.values()
        index = indexes_of(self._store).by_namespace
        found = [index.get(namespace) for namespace in self._within]
        # A mapping by key, because an object that is allowed by name in all namespaces may occur
        # twice.
        single = _named(entries, self._readable.names)
        return {entry.key: entry for entry in chain(*found, single)}.values()

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        known = self._ranks.get(key)
        self._remove(key)
        if entry is not None:
            self._insert(entry)
        rank = self._ranks.get(key)
        if rank != known:
            if known is not None:
                self._order.remove(known)
            if rank is not None:
                self._order.add(rank)

    def _remove(self, key: Key) -> None:
        entry = self._shown.pop(key, None) or self._hidden.pop(key, None)
        if entry is not None:
            self._tally[self._severity(entry)] -= 1
            self._ranks.pop(key, None)

    def _insert(self, entry: Entry[Any]) -> None:
        """Add an entry that is not in the list. Inlined, because it runs for every object when a
        list is created.
        """
        key = entry.key
        if self._readable.namespaces is not None and not self._readable.includes(key):
            return
        for test in self._plain:
            if not test(entry):
                return
        self._tally[self._severity(entry)] += 1
        for test in self._faceted:
            if not test(entry):
                self._hidden[key] = entry
                return
        self._shown[key] = entry
        self._ranks[key] = self._rank(entry)

    def _rank(self, entry: Entry[Any]) -> Rank:
        value = self._column.sort_key(entry) if self._column is not None else 0
        return (value, entry.key.name, entry.key.namespace)

    def _severity(self, entry: Entry[Any]) -> Severity:
        status = self._status(entry)
        return status.severity if status is not None else Severity.OK


class _Last:
    """A value greater than every other value."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


_LAST = _Last()


def _within(readable: Readable, wanted: tuple[str, ...]) -> frozenset[str] | None:
    """Return the namespaces to search besides individually allowed objects, or None for all."""
    if readable.namespaces is None:
        return frozenset(wanted) or None
    return readable.namespaces.intersection(wanted) if wanted else readable.namespaces


def _named(entries: Mapping[Key, Entry[Any]], names: frozenset[Key]) -> Iterator[Entry[Any]]:
    yield from (entries[key] for key in names if key in entries)
    everywhere = {key.name for key in names if not key.namespace}
    if everywhere:
        yield from (entry for key, entry in entries.items() if key.name in everywhere)


def _in_order(ranks: list[Rank]) -> list[Rank]:
    """Sort by merging short sorted runs pairwise.

    One large sort would hold the interpreter lock from the first comparison to the last.
    """
    runs = [sorted(ranks[at : at + _RUN]) for at in range(0, len(ranks), _RUN)]
    while len(runs) > 1:
        # Python's sort merges two sorted runs in linear time.
        runs = [sorted(chain(*runs[at : at + 2])) for at in range(0, len(runs), 2)]
    return runs[0] if runs else []
