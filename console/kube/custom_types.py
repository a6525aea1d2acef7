"""The custom resource types of the cluster, from its CustomResourceDefinitions.

Definitions change while the console runs. All functions read the cache and may be called from
any thread.
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
    """One served version of a custom resource type.

    `uid` is the definition's; a different uid means the type was deleted and defined again.
    `preferred` marks the version to use if the user does not name one. `conditions` is True if
    the objects have conditions in their status.
    """

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
    """The types of each definition. Read it within `current`."""

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


class CustomTypes:
    """The defined types. `informer` is the informer of CustomResourceDefinitions."""

    def __init__(self, informer: Informer[Any]) -> None:
        # Keep a strong reference: `_Known` only holds a weak one.
        self._store = informer.store
        self._known = _Known(informer.store)

    def get(self, gvr: GVR) -> CustomType | None:
        """Return the type if it is defined, established, and served in this version."""
        with self._known.current():
            return self._known.by_gvr.get(gvr)

    def find(self, group: str, resource: str) -> CustomType | None:
        """Return the preferred version of a type."""
        with self._known.current():
            return self._known.preferred.get((group, resource))

    def of(self, key: Key) -> tuple[CustomType, ...]:
        """Return the served versions of the type that the definition `key` defines."""
        with self._known.current():
            return self._known.of(key)

    def __iter__(self) -> Iterator[CustomType]:
        """Iterate over all served versions of all established types, sorted by name."""
        with self._known.current():
            return iter(self._known.sorted())


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
