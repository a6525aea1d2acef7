"""The objects that one kind of list shows, in its order, kept up to date change by change.

One `OrderedView` serves every page of a list in both directions. A page costs what its rows cost and a
change what one object costs, however many others there are.
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
from console.kube.usage import Reading
from console.ui.columns import UsageColumn, told
from console.ui.decisions import Readable
from console.ui.kind import ResourceKind
from console.ui.meters import Reach
from console.ui.viewspec import Values, ViewSpec

#: Where an object stands: by the column's value, then by name, then by namespace.
Rank = tuple[Any, str, str]

ALL = slice(None)
#: Objects that are put in order at a time, so that other threads get their turn in between.
_RUN = 2000


@dataclass(frozen=True, slots=True)
class Question:
    """What a list asks of a store: equal for lists that differ in their direction or page alone.

    `column`: the id of the one that it is sorted by, "" for a kind without any order but names. `reach`:
    where that is usage, whose the viewer may know.
    """

    kind: ResourceKind
    values: Values
    column: str
    readable: Readable
    reach: Reach | None = None

    @classmethod
    def of(cls, spec: ViewSpec, readable: Readable, reach: Reach | None = None) -> "Question":
        column = spec.ordered_by
        by_usage = isinstance(spec.kind.sortable.get(column), UsageColumn)
        return cls(spec.kind, spec.values, column, readable, reach if by_usage else None)


@dataclass(frozen=True, slots=True)
class Selection:
    """Of one moment. `entries`: the part that was asked for. `total`: how many there are in all parts.

    `tally`: how many of each severity there are before the faceted filters narrow them.
    """

    entries: Sequence[Entry[Any]]
    total: int
    tally: Mapping[Severity, int]
    resource_version: str


class OrderedView(Derived[Any]):
    def __init__(self, store: Store[Any], question: Question) -> None:
        super().__init__(store)
        spec = ViewSpec(question.kind, "", values=question.values)
        self._status, self._readable = question.kind.status, question.readable
        self._plain, self._faceted = spec.tests(faceted=False), spec.tests(faceted=True)
        self._column = question.kind.sortable.get(question.column)
        self._reach = question.reach
        # The one that the order is of, where it is that of usage.
        self._reading: Reading | None = None
        self._within = _within(question.readable, spec.namespaces)
        self._start_over()

    def _start_over(self) -> None:
        # Of ranks, and looked up by the beginnings of ranks.
        self._order: SortedList[Any] = SortedList()
        self._ranks: dict[Key, Rank] = {}
        self._shown: dict[Key, Entry[Any]] = {}
        # What the faceted filters leave out is counted, and not shown.
        self._hidden: dict[Key, Entry[Any]] = {}
        self._tally = dict.fromkeys(Severity, 0)

    def __len__(self) -> int:
        return len(self._shown) + len(self._hidden)

    @property
    def behind(self) -> int:
        reach = self._reach
        moved = self.version >= 0 and reach is not None and reach.now().reading is not self._reading
        return super().behind + (len(self._shown) if moved else 0)

    def read(self, part: slice = ALL, *, descending: bool = False) -> Selection:
        with self.current():
            ranks = self._descending(part) if descending else self._order[part]
            entries = tuple(self._shown[Key(namespace, name)] for _, name, namespace in ranks)
            return Selection(entries, len(self._order), dict(self._tally), self.resource_version)

    def _descending(self, part: slice) -> Iterable[Rank]:
        """The column's order turned round; ties stay in the order of their names."""
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
            # The group begins, counted from the end of the list, where its last member stands.
            group = order[first + at - (total - end) : min(end, first + stop - (total - end))]
            yield from group
            at += len(group)

    # Kept up to date, with the lock held.

    def _catch_up(self) -> None:
        meter = self._reach.now() if self._reach is not None else None
        moved = meter is not None and meter.reading is not self._reading
        if meter is not None and moved and self._column is not None:
            self._reading = meter.reading
            self._column = told((self._column,), meter.used)[0]
        rebuilds = self.rebuilds
        super()._catch_up()
        if moved and self.rebuilds == rebuilds:
            # Every object has used something else.
            self._ranks = {key: self._rank(entry) for key, entry in self._shown.items()}
            self._order = SortedList(_in_order(list(self._ranks.values())))

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._start_over()
        for entry in self._candidates(entries):
            self._take(entry)
        self._order = SortedList(_in_order(list(self._ranks.values())))

    def _candidates(self, entries: Mapping[Key, Entry[Any]]) -> Iterable[Entry[Any]]:
        """All that can be in the list: of few namespaces, only what is in those."""
        if self._within is None:
            return entries.values()
        index = indexes_of(self._store).by_namespace
        found = [index.get(namespace) for namespace in self._within]
        # By key: a name that is allowed everywhere is among them already.
        single = _named(entries, self._readable.names)
        return {entry.key: entry for entry in chain(*found, single)}.values()

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        known = self._ranks.get(key)
        self._leave(key)
        if entry is not None:
            self._take(entry)
        rank = self._ranks.get(key)
        if rank != known:
            if known is not None:
                self._order.remove(known)
            if rank is not None:
                self._order.add(rank)

    def _leave(self, key: Key) -> None:
        entry = self._shown.pop(key, None) or self._hidden.pop(key, None)
        if entry is not None:
            self._tally[self._severity(entry)] -= 1
            self._ranks.pop(key, None)

    def _take(self, entry: Entry[Any]) -> None:
        """One that is not there yet. Written out, as it runs for every object when a list is made."""
        key = entry.key
        if self._readable.namespaces is not None and not self._readable.sees(key):
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
    """Greater than every text."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


_LAST = _Last()


def _within(readable: Readable, wanted: tuple[str, ...]) -> frozenset[str] | None:
    """The namespaces whose objects must be looked at, beside single ones; None for all."""
    if readable.namespaces is None:
        return frozenset(wanted) or None
    return readable.namespaces.intersection(wanted) if wanted else readable.namespaces


def _named(entries: Mapping[Key, Entry[Any]], names: frozenset[Key]) -> Iterator[Entry[Any]]:
    yield from (entries[key] for key in names if key in entries)
    everywhere = {key.name for key in names if not key.namespace}
    if everywhere:
        yield from (entry for key, entry in entries.items() if key.name in everywhere)


def _in_order(ranks: list[Rank]) -> list[Rank]:
    """Sorts in pieces and joins them two by two. Each step is short, and in one step alone the
    interpreter would serve no other thread from the first comparison to the last."""
    runs = [sorted(ranks[at : at + _RUN]) for at in range(0, len(ranks), _RUN)]
    while len(runs) > 1:
        # Two runs that are in order are merged, not sorted again: that is what Python's sort does.
        runs = [sorted(chain(*runs[at : at + 2])) for at in range(0, len(runs), 2)]
    return runs[0] if runs else []
