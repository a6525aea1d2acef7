"""Reverse index of `console.ui.relations.references`: the objects that refer to an object.

In addition to the guarantees of `console.kube.derived`:

- The cost of a lookup depends only on the number of results. Objects are never decoded.
- Objects in the same namespace with the same references, such as the replicas of a workload,
  share one group. Each
  object takes only two dictionary entries.
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
from console.ui.relations.references import other_targets, targets_of, uses_of

#: Key of a group: the namespace, the `uses`, and the other targets.
_Alike = tuple[str, tuple[str, ...], tuple[Target, ...]]


class _ReferrerGroup:
    __slots__ = ("alike", "entries", "targets")

    def __init__(self, alike: _Alike) -> None:
        namespace, uses, rest = alike
        self.alike = alike
        # May contain duplicates, which cost less than removing them.
        self.targets = (*targets_of(uses, namespace), *rest)
        self.entries: dict[Key, Entry[Any]] = {}


class Referrers(Derived[Any]):
    """Referring objects of one type, by target."""

    def __init__(self, store: Store[Any], gvr: GVR) -> None:
        super().__init__(store)
        self._kind = kinds.by_type(gvr)
        self._start_over()

    def of(self, target: Target) -> tuple[Entry[Any], ...]:
        """Return the objects that refer to `target`."""
        with self.current():
            groups = self._naming.get(target, ())
            return tuple(entry for group in groups for entry in group.entries.values())

    def _start_over(self) -> None:
        self._groups: dict[_Alike, _ReferrerGroup] = {}
        self._group_of: dict[Key, _ReferrerGroup] = {}
        # Used as an ordered set. The values are unused.
        self._naming: dict[Target, dict[_ReferrerGroup, None]] = {}

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._start_over()
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        alike = self._alike(entry) if entry is not None else None
        known = self._group_of.get(key)
        if known is not None and known.alike != alike:
            self._remove(key, known)
        if entry is not None and alike is not None:
            group = self._groups.get(alike) or self._create_group(alike)
            group.entries[key] = entry
            self._group_of[key] = group

    def _alike(self, entry: Entry[Any]) -> _Alike | None:
        """Return the group key of an object, or None if it has no references."""
        uses, rest = (
            uses_of(self._kind, entry.projection),
            other_targets(self._kind, entry.projection),
        )
        return (entry.key.namespace, uses, rest) if uses or rest else None

    def _create_group(self, alike: _Alike) -> _ReferrerGroup:
        group = self._groups[alike] = _ReferrerGroup(alike)
        for target in group.targets:
            naming = self._naming.get(target)
            if naming is None:
                self._naming[target] = {group: None}
            else:
                naming[group] = None
        return group

    def _remove(self, key: Key, group: _ReferrerGroup) -> None:
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
    """Return the shared `Referrers` of an informer."""
    found = _known.get(informer.store)
    if found is None:
        found = _known.setdefault(informer.store, Referrers(informer.store, informer.gvr))
    return found
