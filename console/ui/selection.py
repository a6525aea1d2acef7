"""Which objects a list shows, in its order, and how many there are of each severity.

This is the one place that takes objects of the shared cache for a viewer: the page, the socket, the
exports and the menu's counts all read through `select`, and permission comes first.

One pass over the store filters and counts. It keeps the name order of the last pass, since the names
of a store seldom change, and shares a selection among all who ask for the same with the same rights
while the store does not change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry, Snapshot, Store
from console.ui.access import Access
from console.ui.decisions import readable_namespaces
from console.ui.viewspec import ViewSpec

#: Selections that are kept of one version of a store.
KEPT = 64
_SEVERITIES = tuple(Severity)
_NO_STATUS = Severity.OK


@dataclass(frozen=True, slots=True)
class Selection:
    """`entries`: all that the viewer may see and the filters let through, in order.

    `tally`: how many of each severity there are before the faceted filters narrow them.
    """

    entries: Sequence[Entry[Any]]
    tally: Mapping[Severity, int]
    resource_version: str


@dataclass(slots=True)
class _Memory:
    """What was worked out for one store. Replaced field by field, so readers need no lock."""

    order: tuple[Key, ...] = ()
    version: int = -1
    kept: dict[object, Selection] = field(default_factory=dict)


_memories: WeakKeyDictionary[Store[Any], _Memory] = WeakKeyDictionary()


def select(spec: ViewSpec, access: Access, informer: Informer[Any]) -> Selection:
    """Raises `Denied`. `spec` has no errors."""
    allowed = readable_namespaces(spec.kind, access, spec.namespaces)
    snapshot = informer.store.snapshot()
    memory = _memories.setdefault(informer.store, _Memory())
    if memory.version != snapshot.version:
        memory.version, memory.kept = snapshot.version, {}
        memory.order = _name_order(memory.order, snapshot)
    question = (spec.kind, spec.selects, allowed)
    found = memory.kept.get(question)
    if found is None:
        found = _pass(spec, memory.order, snapshot, allowed)
        if len(memory.kept) < KEPT:
            memory.kept[question] = found
    return found


def _name_order(old: tuple[Key, ...], snapshot: Snapshot[Any]) -> tuple[Key, ...]:
    """All keys by name, then namespace. What is already in order is not sorted again."""
    entries = snapshot.entries
    known = set(old)
    if len(old) == len(entries) and known == entries.keys():
        return old
    kept = [key for key in old if key in entries]
    kept += [key for key in entries if key not in known]
    # Sorting a list that is in order but for its end costs little more than walking it.
    kept.sort(key=lambda key: (key.name, key.namespace))
    return tuple(kept)


def _pass(
    spec: ViewSpec,
    order: Sequence[Key],
    snapshot: Snapshot[Any],
    allowed: frozenset[str] | None,
) -> Selection:
    buckets = _buckets(spec, order, snapshot.entries, allowed)
    tally = {severity: len(buckets[severity]) for severity in _SEVERITIES}
    narrow = spec.tests(faceted=True)
    for severity, bucket in buckets.items():
        buckets[severity] = (
            [e for e in bucket if all(test(e) for test in narrow)] if narrow else bucket
        )
    entries = _sorted(spec, buckets)
    return Selection(entries, tally, snapshot.resource_version)


def _buckets(
    spec: ViewSpec,
    order: Sequence[Key],
    entries: Mapping[Key, Entry[Any]],
    allowed: frozenset[str] | None,
) -> dict[Severity, list[Entry[Any]]]:
    """By severity, each in name order, of what the viewer may see and the plain filters let through."""
    buckets: dict[Severity, list[Entry[Any]]] = {severity: [] for severity in _SEVERITIES}
    status_of, tests = spec.kind.status, spec.tests(faceted=False)
    for key in order:
        if allowed is not None and key.namespace not in allowed:
            continue
        entry = entries[key]
        for test in tests:
            if not test(entry):
                break
        else:
            status = status_of(entry)
            buckets[status.severity if status else _NO_STATUS].append(entry)
    return buckets


def _sorted(spec: ViewSpec, buckets: Mapping[Severity, list[Entry[Any]]]) -> list[Entry[Any]]:
    """Ties are in name order in either direction: Python's sort is stable, reversed or not."""
    ranks = reversed(_SEVERITIES) if _by_status_descending(spec) else iter(_SEVERITIES)
    entries = [entry for severity in ranks for entry in buckets[severity]]
    if spec.sort_column and not _by_status_descending(spec):
        column = spec.kind.sortable[spec.sort_column]
        entries.sort(key=lambda entry: (entry.key.name, entry.key.namespace))
        entries.sort(key=column.sort_key, reverse=spec.descending)
    return entries


def _by_status_descending(spec: ViewSpec) -> bool:
    column = spec.kind.status_column
    return spec.descending and column is not None and spec.sort_column == column.id
