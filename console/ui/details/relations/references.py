"""References of an object to other objects, mostly from the cached projection, and the reverse
index.

`targets_of` and `other_targets` need only the projection, so the reverse index (`Referrers`)
can cover any number of objects without decoding whole objects. `references` returns more
details (kind of reference, place, optional) and may decode one whole object. Both return the
same targets, except for a pod's node, for which `console.kube.indexes` has a separate index.

Users write the names: the referenced object may not exist, and may not be visible to the
viewer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import msgspec

from console.kube.derived import Derived
from console.kube.gvr import GVR, PODS, Key
from console.kube.informer import Informer
from console.kube.projections import podspec
from console.kube.store import Entry, Store
from console.ui.core.kind import Reference, ResourceKind, Scope, Target
from console.ui.core.registry import kinds

#: Number of kinds whose referring types are cached.
KEPT = 200


@lru_cache(KEPT)
def referring_types(kind: ResourceKind) -> Sequence[GVR]:
    """Return the types whose objects can refer to this kind: workloads first, then in menu order.

    Types that have a separate panel on this kind's page are left out.
    """
    found = [
        user
        for user in kinds
        if kind.gvr in user.referenced_types and user.gvr not in kind.types_with_own_panel
    ]
    return tuple(user.gvr for user in sorted(found, key=lambda user: user.rank))


def references(gvr: GVR, entry: Entry[Any]) -> tuple[Reference, ...]:
    """Return the references of an object, in a fixed order. A target can occur several times."""
    kind = kinds.by_type(gvr)
    if kind is None:
        return ()
    return (*_spec(kind, entry), *kind.references(entry.projection))


def uses_of(kind: ResourceKind | None, item: Any) -> tuple[str, ...]:
    """Return the references in a projection's pod spec as texts. Empty for kinds without a pod
    spec.
    """
    found: tuple[str, ...] = item.uses if kind is not None and kind.pod_spec else ()
    return found


def other_targets(kind: ResourceKind | None, item: Any) -> tuple[Target, ...]:
    """Return the targets of an object that are not in `uses`."""
    found = kind.references(item) if kind is not None else ()
    return tuple((ref.gvr, ref.key) for ref in found)


def targets_of(uses: Iterable[str], namespace: str) -> Iterator[Target]:
    """Yield the targets of `Kind.group/name` texts. A slash within a name yields a target that can't
    exist.
    """
    for text in uses:
        word, _slash, name = text.partition("/")
        target = target_named(word, namespace, name)
        if target is not None:
            yield target


def cross_namespace_targets(uses: Iterable[str], namespace: str) -> Iterator[Target]:
    """Like `targets_of`, for `Kind.group/namespace/name` texts that may refer to other namespaces."""
    for text in uses:
        word, _slash, name = text.partition("/")
        place, _slash, own = name.rpartition("/")
        target = target_named(word, place or namespace, own)
        if target is not None:
            yield target


class KindLookup(Protocol):
    """The built-in kinds, or all kinds of a cluster."""

    def by_group_kind(self, word: str) -> ResourceKind | None: ...


def target_named(word: str, namespace: str, name: str, among: KindLookup = kinds) -> Target | None:
    """Return the target, or None for an unknown `Kind.group`."""
    kind = among.by_group_kind(word)
    if kind is None:
        return None
    return kind.gvr, Key("" if kind.scope is Scope.CLUSTER else namespace, name)


def _spec(kind: ResourceKind, entry: Entry[Any]) -> Iterator[Reference]:
    """Yield each reference in the spec of a pod or a pod template."""
    if not kind.pod_spec:
        return
    found: Any = entry.original()
    for part in kind.pod_spec:
        found = found.get(part) if isinstance(found, dict) else None
    try:
        spec = msgspec.convert(found or {}, podspec.WholeSpec)
    except msgspec.ValidationError:
        return
    pod = entry.key.name if kind.gvr == PODS else ""
    for one in podspec.references_of(spec, pod):
        target = target_named(one.kind, entry.key.namespace, one.name)
        if target is not None:
            yield Reference(*target, one.how, one.where, one.optional)


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
