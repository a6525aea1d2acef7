"""Kinds of custom resources, generated from their CustomResourceDefinitions, and the kinds of
one cluster.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.kube.custom_types import CustomType, CustomTypes
from console.kube.gvr import GVR
from console.kube.projections import DECODERS
from console.kube.projections.custom import Custom, columns_of
from console.kube.store import Entry
from console.kube.uncached import UNCACHED
from console.ui.core.action_texts import Fact
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import kinds
from console.ui.core.text import escape_invisible
from console.ui.lists.columns import Column, PrintedColumn, StatusColumn
from console.ui.lists.filters import SearchFilter

#: Maximum length of a column label in characters.
LONGEST_LABEL = 40
_ALIGNED = {"integer": "end", "number": "end"}


class GenericKind(ResourceKind):
    """Kind of a custom resource. `custom` is the type definition at the time the kind was created."""

    custom: ClassVar[CustomType]
    projection = Custom
    search = SearchFilter(texts=lambda item: (one for one in item.values if isinstance(one, str)))
    actions = (DeleteOwner(),)

    @cached_property
    def segment(self) -> str:
        """URL segment. It always contains the API group, so a custom resource can never shadow a
        built-in one.
        """
        return self.gvr.qualified

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found = [(_("Kind"), escape_invisible(f"{self.custom.kind} ({self.gvr.group})"))]
        owner = entry.projection.owner
        return [*found, (_("Managed by"), escape_invisible(owner))] if owner else found


def generic_kind(custom: CustomType) -> GenericKind:
    """Create a new kind for the type."""
    plural = plural_of(custom)
    declared = {
        "custom": custom,
        "api_kind": custom.kind,
        "owns": [
            kind.gvr
            for kind in sorted(kinds, key=lambda one: one.rank)
            if kind.created_by_operators
        ],
        "gvr": custom.gvr,
        "scope": Scope.NAMESPACED if custom.namespaced else Scope.CLUSTER,
        "nav": Nav("custom", 100),
        "title": plural,
        "singular": escape_invisible(custom.kind),
        "nouns": plural,
        "columns": tuple(_columns(custom)),
    }
    made: GenericKind = type("GenericKind", (GenericKind,), declared)()
    return made


def plural_of(custom: CustomType) -> str:
    """Return the plural with the capitalization of the kind: `NetworkPolicies` for NetworkPolicy."""
    kind, plural = custom.kind, custom.gvr.resource
    same = next(
        (
            at
            for at, (one, other) in enumerate(zip(kind.lower(), plural, strict=False))
            if one != other
        ),
        min(len(kind), len(plural)),
    )
    return escape_invisible(kind[:same] + plural[same:])


def _columns(custom: CustomType) -> Iterable[Column]:
    if custom.conditions:
        yield StatusColumn()
    shown = columns_of(custom.columns)
    taken = {"name", "namespace", "status", "age", "labels"}
    for at, column in enumerate(shown):
        ident = _identifier(column.name)
        if not ident or ident in taken:
            ident = f"{ident or 'column'}_{at + 1}"
        taken.add(ident)
        yield PrintedColumn(
            id=ident,
            label=_label(column.name),
            priority=2 if column.priority == 0 else 4,
            align="end" if column.type in _ALIGNED else "start",
            at=at,
            of=shown,
        )


def _identifier(name: str) -> str:
    """Return the column name for URLs and exports: `last_run` for "Last Run"."""
    return re.sub(r"[^a-z0-9]+", "_", name[:LONGEST_LABEL].lower()).strip("_")


def _label(name: str) -> str:
    shown = escape_invisible(name) or "?"
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[: LONGEST_LABEL - 1]}…"


#: Number of new kinds after which the kinds of removed types are dropped.
SPARE = 100


class CustomKinds:
    """The kinds of a cluster's `types`. `declares` returns True if a built-in kind exists for a
    group and plural.
    """

    def __init__(self, declares: Callable[[str, str], bool], types: CustomTypes) -> None:
        self._declares, self._types = declares, types
        self._lock = Lock()
        self._kinds: dict[str, GenericKind] = {}
        self._most = SPARE

    def find(self, segment: str) -> GenericKind | None:
        """Return the kind of `plural.group`, in the preferred version."""
        plural, _dot, group = segment.partition(".")
        custom = self._types.find(group, plural) if group else None
        return self._kind(custom) if custom is not None else None

    def serves(self, gvr: GVR) -> bool:
        """Return True while the cluster serves this custom type, even if the console has a built-in
        kind for it.
        """
        return self._types.get(gvr) is not None

    def named(self, word: str) -> GenericKind | None:
        """Return the first kind that has this lowercase name."""
        return next(self._called(lambda names: word in names), None)

    def like(self, text: str) -> Iterator[GenericKind]:
        """Yield the kinds with a name that contains this lowercase text. Kinds are created during
        iteration.
        """
        return self._called(lambda names: any(text in name for name in names))

    def _called(self, fits: Callable[[tuple[str, ...]], bool]) -> Iterator[GenericKind]:
        for custom in self._types:
            if custom.preferred and fits(_names(custom)):
                kind = self._kind(custom)
                if kind is not None:
                    yield kind

    def __iter__(self) -> Iterator[GenericKind]:
        """Iterate by group and plural. Kinds are created during iteration."""
        for custom in self._types:
            kind = self._kind(custom) if custom.preferred else None
            if kind is not None:
                yield kind

    def _kind(self, custom: CustomType) -> GenericKind | None:
        gvr = custom.gvr
        if is_internal_type(gvr) or self._declares(gvr.group, gvr.resource):
            return None
        known = self._kinds.get(gvr.qualified)
        if known is not None and known.custom == custom:
            return known
        with self._lock:
            known = self._kinds.get(gvr.qualified)
            if known is None or known.custom != custom:
                self._tidy()
                known = self._kinds[gvr.qualified] = generic_kind(custom)
            return known

    def _tidy(self) -> None:
        if len(self._kinds) < self._most:
            return
        names = {item.gvr.qualified for item in self._types}
        self._kinds = {name: kind for name, kind in self._kinds.items() if name in names}
        self._most = len(self._kinds) + SPARE


def is_internal_type(gvr: GVR) -> bool:
    """Return True if the console itself reads this type."""
    return gvr in DECODERS or gvr in UNCACHED


def _names(custom: CustomType) -> tuple[str, ...]:
    gvr = custom.gvr
    return gvr.resource, gvr.qualified, custom.kind.lower(), custom.singular, *custom.short_names
