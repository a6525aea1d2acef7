"""Which custom resources the cluster has, as its CustomResourceDefinitions say from moment to moment.

Definitions come and go while the console runs. What is asked here is answered from the cache of them,
by any thread.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.derived import Derived
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.projections.definition import Definition, PrinterColumn, Version
from console.kube.store import Entry


@dataclass(frozen=True, slots=True)
class CustomType:
    """One served version of a defined type. `uid` is the definition's: another one means that the type
    was deleted and defined anew. `preferred`: the version that people mean who name none.
    `conditions`: its objects have conditions in their status."""

    gvr: GVR
    kind: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    columns: tuple[PrinterColumn, ...]
    conditions: bool
    uid: str
    preferred: bool


class _Known(Derived[Definition]):
    """The types of each definition; current within `current`."""

    def _rebuild(self, entries: Mapping[Key, Entry[Definition]]) -> None:
        self.by_gvr: dict[GVR, CustomType] = {}
        self.preferred: dict[tuple[str, str], CustomType] = {}
        self.in_order: tuple[CustomType, ...] | None = None
        self._of: dict[Key, tuple[GVR, ...]] = {}
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[Definition] | None) -> None:
        self.in_order = None
        for gvr in self._of.pop(key, ()):
            self.by_gvr.pop(gvr, None)
            self.preferred.pop((gvr.group, gvr.resource), None)
        if entry is not None:
            found = {item.gvr: item for item in _types(entry.projection)}
            self.by_gvr.update(found)
            for gvr, item in found.items():
                if item.preferred:
                    self.preferred[gvr.group, gvr.resource] = item
            self._of[key] = tuple(found)

    def of(self, key: Key) -> tuple[CustomType, ...]:
        return tuple(self.by_gvr[gvr] for gvr in self._of.get(key, ()))

    def sorted(self) -> tuple[CustomType, ...]:
        if self.in_order is None:
            self.in_order = tuple(sorted(self.by_gvr.values(), key=lambda item: item.gvr))
        return self.in_order


class Types:
    """`informer`: the one of CustomResourceDefinitions."""

    def __init__(self, informer: Informer[Any]) -> None:
        # What is derived of it does not keep it.
        self._store = informer.store
        self._known = _Known(informer.store)

    def get(self, gvr: GVR) -> CustomType | None:
        """The type if it is defined and established, and served in this version."""
        with self._known.current():
            return self._known.by_gvr.get(gvr)

    def find(self, group: str, resource: str) -> CustomType | None:
        """The preferred version of a type."""
        with self._known.current():
            return self._known.preferred.get((group, resource))

    def of(self, key: Key) -> tuple[CustomType, ...]:
        """The served versions of the type that a definition of this name defines."""
        with self._known.current():
            return self._known.of(key)

    def __iter__(self) -> Iterator[CustomType]:
        """Every served version of every established type, by name."""
        with self._known.current():
            return iter(self._known.sorted())


def definition_of(key: Key) -> tuple[str, str]:
    """Group and plural of a CustomResourceDefinition's name, which is always `plural.group`."""
    plural, _dot, group = key.name.partition(".")
    return group, plural


def _types(definition: Definition) -> Iterator[CustomType]:
    if not definition.established:
        return
    served = [version for version in definition.versions if version.served]
    preferred = next(
        (version for version in served if version.storage), served[0] if served else None
    )
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
        conditions=version.conditions,
        uid=definition.uid,
        preferred=preferred,
    )
