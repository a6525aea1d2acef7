"""The custom resource types of the cluster, from its CustomResourceDefinitions.

Definitions change while the console runs. All functions read the cache and may be called from
any thread.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.derived import Derived
from console.kube.group_kind import group_kind
from console.kube.gvr import GVR, Key, version_priority
from console.kube.informer import Informer
from console.kube.projections.definition import Definition, PrinterColumn, Version
from console.kube.store import Entry

#: The verbs of every custom resource.
ALL_VERBS = frozenset({"create", "delete", "get", "list", "patch", "update", "watch"})


@dataclass(frozen=True, slots=True)
class CustomType:
    """One served version of a custom resource type.

    `uid` is the definition's; a different uid means the type was deleted and defined again.
    `preferred` marks the version to use if the user does not name one. `has_state` is True if
    the objects have conditions or a phase in their status. `scalable` is True if autoscalers can scale
    the objects. `verbs` are the verbs that the type supports.
    """

    gvr: GVR
    kind: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    columns: tuple[PrinterColumn, ...]
    has_state: bool
    scalable: bool
    uid: str
    preferred: bool
    verbs: frozenset[str] = ALL_VERBS

    @property
    def group_kind(self) -> str:
        return group_kind(self.kind, self.gvr.group)


class CustomTypes(Derived[Definition]):
    """The defined types. `informer` is the informer of CustomResourceDefinitions."""

    def __init__(self, informer: Informer[Any]) -> None:
        super().__init__(informer.store)
        # The base class has only a weak reference.
        self._kept = informer.store

    def _rebuild(self, entries: Mapping[Key, Entry[Definition]]) -> None:
        self._by_gvr: dict[GVR, CustomType] = {}
        self._preferred: dict[tuple[str, str], CustomType] = {}
        self._by_group_kind: dict[str, CustomType] = {}
        self._in_order: tuple[CustomType, ...] | None = None
        self._of: dict[Key, tuple[GVR, ...]] = {}
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Definition] | None) -> None:
        self._in_order = None
        for gvr in self._of.pop(key, ()):
            self._by_gvr.pop(gvr, None)
            known = self._preferred.pop((gvr.group, gvr.resource), None)
            if known is not None:
                self._by_group_kind.pop(known.group_kind, None)
        if entry is not None:
            found = {item.gvr: item for item in _types(entry.projection)}
            self._by_gvr.update(found)
            for gvr, item in found.items():
                if item.preferred:
                    self._preferred[gvr.group, gvr.resource] = item
                    self._by_group_kind[item.group_kind] = item
            self._of[key] = tuple(found)

    @property
    def changes(self) -> int:
        """Return a number that changes with the definitions."""
        return self._store.version

    def get(self, gvr: GVR) -> CustomType | None:
        """Return the type if it is defined, established, and served in this version."""
        with self.current():
            return self._by_gvr.get(gvr)

    def find(self, group: str, resource: str) -> CustomType | None:
        """Return the preferred version of a type."""
        with self.current():
            return self._preferred.get((group, resource))

    def by_group_kind(self, word: str) -> CustomType | None:
        """Return the preferred version of the type of a `Kind.group`."""
        with self.current():
            return self._by_group_kind.get(word)

    def of(self, key: Key) -> tuple[CustomType, ...]:
        """Return the served versions of the type that the definition `key` defines."""
        with self.current():
            return tuple(self._by_gvr[gvr] for gvr in self._of.get(key, ()))

    def __iter__(self) -> Iterator[CustomType]:
        """Iterate over all served versions of all established types, sorted by name."""
        with self.current():
            if self._in_order is None:
                self._in_order = tuple(sorted(self._by_gvr.values(), key=lambda item: item.gvr))
            return iter(self._in_order)


def definition_of(key: Key) -> tuple[str, str]:
    """Return group and plural from a CustomResourceDefinition's name, which is always
    `plural.group`.
    """
    plural, _dot, group = key.name.partition(".")
    return group, plural


def _types(definition: Definition) -> Iterator[CustomType]:
    if not definition.established:
        return
    served = [version for version in definition.versions if version.served]
    # The version that discovery prefers, not the storage version, which may be deprecated.
    preferred = min(served, key=lambda version: version_priority(version.name), default=None)
    for version in served:
        yield _type(definition, version, preferred is version)


def _type(definition: Definition, version: Version, preferred: bool) -> CustomType:
    return CustomType(
        gvr=GVR(definition.group, version.name, definition.plural),
        kind=definition.kind,
        singular=definition.singular,
        short_names=definition.short_names,
        namespaced=definition.namespaced,
        columns=version.columns,
        has_state=version.has_state,
        scalable=version.scalable,
        uid=definition.uid,
        preferred=preferred,
    )
