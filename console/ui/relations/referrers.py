"""Who names an object: the other direction of `console.ui.relations.references`.

Promises, beyond those of `console.kube.derived`:
- One lookup costs what it finds. Nothing is unpacked, however many objects there are.
- Objects that name the same things in the same namespace (the replicas of a workload) share what is
  known of that: each costs two places in dictionaries.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from console.kube.derived import Derived
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.store import Entry, Store
from console.ui.registry import kinds
from console.ui.relations.naming import Target
from console.ui.relations.references import named_by, others, uses_of

#: What objects have in common: their namespace and `uses`, and what else they name.
_Alike = tuple[str, tuple[str, ...], tuple[Target, ...]]


class _Group:
    __slots__ = ("alike", "entries", "targets")

    def __init__(self, alike: _Alike) -> None:
        namespace, uses, rest = alike
        self.alike = alike
        # One may come twice, which costs less than finding out.
        self.targets = (*named_by(uses, namespace), *rest)
        self.entries: dict[Key, Entry[Any]] = {}


class Referrers(Derived[Any]):
    """Of the objects of one type."""

    def __init__(self, store: Store[Any], gvr: GVR) -> None:
        super().__init__(store)
        self._kind = kinds.of(gvr)
        self._start_over()

    def of(self, target: Target) -> tuple[Entry[Any], ...]:
        """The objects that name `target`."""
        with self.current():
            groups = self._naming.get(target, ())
            return tuple(entry for group in groups for entry in group.entries.values())

    def _start_over(self) -> None:
        self._groups: dict[_Alike, _Group] = {}
        self._group_of: dict[Key, _Group] = {}
        # The values are of no use: this is a set that keeps its order.
        self._naming: dict[Target, dict[_Group, None]] = {}

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._start_over()
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        alike = self._alike(entry) if entry is not None else None
        known = self._group_of.get(key)
        if known is not None and known.alike != alike:
            self._leave(key, known)
        if entry is not None and alike is not None:
            group = self._groups.get(alike) or self._found(alike)
            group.entries[key] = entry
            self._group_of[key] = group

    def _alike(self, entry: Entry[Any]) -> _Alike | None:
        """None for an object that names nothing."""
        uses, rest = uses_of(self._kind, entry.projection), others(self._kind, entry.projection)
        return (entry.key.namespace, uses, rest) if uses or rest else None

    def _found(self, alike: _Alike) -> _Group:
        group = self._groups[alike] = _Group(alike)
        for target in group.targets:
            naming = self._naming.get(target)
            if naming is None:
                self._naming[target] = {group: None}
            else:
                naming[group] = None
        return group

    def _leave(self, key: Key, group: _Group) -> None:
        del self._group_of[key], group.entries[key]
        if group.entries:
            return
        del self._groups[group.alike]
        for target in group.targets:
            naming = self._naming.get(target, {})
            naming.pop(group, None)
            if not naming:
                self._naming.pop(target, None)


_known: WeakKeyDictionary[Store[Any], Referrers] = WeakKeyDictionary()


def referrers_of(informer: Informer[Any]) -> Referrers:
    """The kind's own, shared by all who ask."""
    found = _known.get(informer.store)
    if found is None:
        found = _known.setdefault(informer.store, Referrers(informer.store, informer.gvr))
    return found
