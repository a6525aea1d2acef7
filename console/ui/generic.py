"""Kinds of custom resources, generated from their CustomResourceDefinitions."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.kube.discovery import CustomType
from console.kube.projections.custom import Custom, columns_of
from console.kube.store import Entry
from console.ui.columns import (
    AgeColumn,
    Column,
    NameColumn,
    NamespaceColumn,
    PrintedColumn,
    StatusColumn,
)
from console.ui.deleting import DeleteOwner
from console.ui.facts import Fact
from console.ui.filters import SearchFilter
from console.ui.kind import Nav, ResourceKind, Scope
from console.ui.registry import kinds
from console.ui.text import escape_invisible

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
    yield NameColumn()
    if custom.namespaced:
        yield NamespaceColumn()
    if custom.conditions:
        yield StatusColumn()
    yield from _printed(custom)
    yield AgeColumn(priority=1)


def _printed(custom: CustomType) -> Iterable[Column]:
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
