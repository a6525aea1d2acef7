"""Kinds of types without a declaration.

The kinds of custom resources are generated from their CustomResourceDefinitions. The kinds of all
other types, such as those of aggregated API servers, are generated from the discovery API
(`TableKind`).
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.kube.api_discovery import ServedType
from console.kube.custom_types import CustomType
from console.kube.group_kind import without_group
from console.kube.gvr import BUILT_IN_GROUPS, GVR
from console.kube.projections import DECODERS
from console.kube.projections.custom import Custom, columns_of
from console.kube.projections.definition import PrinterColumn
from console.kube.served_types import ServedTypes
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.kube.uncached import UNCACHED
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Action
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import kinds
from console.ui.core.text import escape_invisible
from console.ui.lists.columns import Column, PrintedColumn, StatusColumn
from console.ui.lists.filters import STATE, SearchFilter

#: Maximum length of a column label in characters.
LONGEST_LABEL = 40
_UNDECODED = Status(Severity.UNKNOWN, "Unknown")
_STATE = replace(STATE, get=lambda item: (_status_of(item).word,))
_ALIGNED = {"integer": "end", "number": "end"}


class GenericKind(ResourceKind):
    """Kind of a type without a declaration. `custom` is the type at the time the kind was created."""

    custom: ClassVar[CustomType]
    projection = Custom
    search = SearchFilter(texts=lambda item: (one for one in item.values if isinstance(one, str)))
    actions = (DeleteOwner(),)
    links_unchecked = True

    @cached_property
    def segment(self) -> str:
        """URL segment. It always contains the API group, so a custom resource can never shadow a
        built-in one.
        """
        return self.gvr.qualified

    def serves(self, verb: str) -> bool:
        return verb in self.custom.verbs

    @property
    def has_wizard(self) -> bool:
        return True

    @property
    def every_action(self) -> tuple[Action, ...]:
        """The actions whose verbs the type supports."""
        return tuple(
            action
            for action in super().every_action
            if all(need.gvr is not None or self.serves(need.verb) for need in action.needs)
        )

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        group = f" ({self.gvr.group})" if self.gvr.group else ""
        found = [(_("Kind"), escape_invisible(f"{self.custom.kind}{group}"))]
        owner = entry.projection.owner
        return (
            [*found, (_("Managed by"), escape_invisible(without_group(owner)))] if owner else found
        )


class TableKind(GenericKind):
    """Kind of a type that is read as the user, in the server's Table format.

    `columns_known` is False until the server's columns were read.
    """

    columns_known: ClassVar[bool]
    uncached = True


def table_kind(custom: CustomType, *, columns_known: bool, group: str) -> TableKind:
    """Create a new kind for a type that is read as tables. `group` is its navigation group."""
    made: TableKind = _made(custom, TableKind, group, columns_known=columns_known)
    return made


def generic_kind(custom: CustomType) -> GenericKind:
    """Create a new kind for a custom resource."""
    made: GenericKind = _made(custom, GenericKind, "custom")
    return made


def _made(custom: CustomType, base: type[GenericKind], group: str, **more: object) -> Any:
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
        "nav": Nav(group, 100),
        "title": plural,
        "singular": escape_invisible(custom.kind),
        "nouns": plural,
        "columns": tuple(_columns(custom)),
        "filters": (_STATE,) if custom.has_state else (),
        "checked_for_problems": custom.has_state,
        **more,
    }
    return type(base.__name__, (base,), declared)()


def plural_of(custom: CustomType) -> str:
    """Return the plural with the capitalization of the kind: `NetworkPolicies` for NetworkPolicy.

    Return the kind if its plural is that of another kind, such as `pods` for PodMetrics.
    """
    kind, plural = custom.kind, custom.gvr.resource
    stem = plural.removesuffix("s")
    if len(stem) < len(kind) and kind.lower().startswith(stem):
        return escape_invisible(kind)
    same = next(
        (
            at
            for at, (one, other) in enumerate(zip(kind.lower(), plural, strict=False))
            if one != other
        ),
        min(len(kind), len(plural)),
    )
    return escape_invisible(kind[:same] + plural[same:])


def _status_of(item: Custom) -> Status:
    """Return the status. It is missing while objects are decoded again for a changed definition."""
    return item.status or _UNDECODED


def _columns(custom: CustomType) -> Iterable[Column]:
    if custom.has_state:
        yield StatusColumn(status=_status_of)
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
#: Minimum seconds between two changes of a type's columns. A server may return different columns
#: in each response.
LASTING = 60.0


class CustomKinds:
    """The kinds of a cluster's types. `declares` returns True if a built-in kind exists for a group
    and plural.
    """

    def __init__(self, declares: Callable[[str, str], bool], served: ServedTypes) -> None:
        self._declares, self._served = declares, served
        self._lock = Lock()
        self._kinds: dict[str, GenericKind] = {}
        self._most = SPARE
        # The columns of table kinds, with the time of the last change.
        self._columns: dict[GVR, tuple[tuple[PrinterColumn, ...], float]] = {}

    def find(self, segment: str) -> GenericKind | None:
        """Return the kind of `plural.group`, in the preferred version. The group of Kubernetes' own
        types may be left out.
        """
        plural, _dot, group = segment.partition(".")
        custom = self._served.customs.find(group, plural) if group else None
        found = custom or self._served.find(group, plural)
        if found is None and not group:
            groups = (one for one in sorted(BUILT_IN_GROUPS) if self._served.find(one, plural))
            found = self._served.find(next(groups, ""), plural)
        return self._kind(found) if found is not None else None

    def by_group_kind(self, word: str) -> GenericKind | None:
        """Return the kind of a `Kind.group` (see `console.kube.group_kind`), in the preferred
        version.
        """
        found = self._served.by_group_kind(word)
        return self._kind(found) if found is not None else None

    def named(self, word: str) -> GenericKind | None:
        """Return the first kind that has this lowercase name."""
        return next(self._called(lambda names: word in names), None)

    def like(self, text: str) -> Iterator[GenericKind]:
        """Yield the kinds with a name that contains this lowercase text. Kinds are created during
        iteration.
        """
        return self._called(lambda names: any(text in name for name in names))

    def _called(self, fits: Callable[[tuple[str, ...]], bool]) -> Iterator[GenericKind]:
        return (kind for kind in map(self._kind, self._listable(fits)) if kind is not None)

    def __iter__(self) -> Iterator[GenericKind]:
        """Iterate over the kinds that can be listed, those of custom resources first, by group and
        plural. Kinds are created during iteration.
        """
        return self._called(lambda names: True)

    def _listable(
        self, fits: Callable[[tuple[str, ...]], bool]
    ) -> Iterator[CustomType | ServedType]:
        customs = self._served.customs
        for custom in customs:
            if custom.preferred and fits(_names(custom)):
                yield custom
        for one in self._served:
            defined = customs.find(one.gvr.group, one.gvr.resource) is not None
            if "list" in one.verbs and not defined and fits(_names(one)):
                yield one

    def note_columns(self, gvr: GVR, columns: tuple[PrinterColumn, ...]) -> None:
        """Remember the columns of a type that is read as tables. The kind changes if they changed."""
        now = time.monotonic()
        with self._lock:
            known = self._columns.get(gvr)
            if known is None or (known[0] != columns and now - known[1] >= LASTING):
                self._columns[gvr] = columns, now

    def _kind(self, found: CustomType | ServedType) -> GenericKind | None:
        """Return the kind of a type, or None for types with a built-in kind and for types whose
        objects can't be read.
        """
        gvr = found.gvr
        if self._declares(gvr.group, gvr.resource) or not {"get", "list"} & found.verbs:
            return None
        as_table = isinstance(found, ServedType) or is_internal_type(gvr)
        custom = found if isinstance(found, CustomType) else _custom_type(found)
        columns = self._columns.get(gvr)
        if as_table:
            custom = replace(custom, columns=columns[0] if columns else (), has_state=False)
        known = self._kinds.get(gvr.qualified)
        if known is not None and _is_current(known, custom, columns is not None):
            return known
        with self._lock:
            known = self._kinds.get(gvr.qualified)
            if known is None or not _is_current(known, custom, columns is not None):
                self._tidy()
                group = "other" if isinstance(found, ServedType) else "custom"
                known = self._kinds[gvr.qualified] = (
                    table_kind(custom, columns_known=columns is not None, group=group)
                    if as_table
                    else generic_kind(custom)
                )
            return known

    def _tidy(self) -> None:
        if len(self._kinds) < self._most:
            return
        served = {
            *(item.gvr for item in self._served.customs),
            *(item.gvr for item in self._served),
        }
        names = {gvr.qualified for gvr in served}
        self._kinds = {name: kind for name, kind in self._kinds.items() if name in names}
        self._columns = {gvr: found for gvr, found in self._columns.items() if gvr in served}
        self._most = len(self._kinds) + SPARE


def _custom_type(found: ServedType) -> CustomType:
    return CustomType(
        gvr=found.gvr,
        kind=found.kind,
        singular=found.singular or found.kind.lower(),
        short_names=found.short_names,
        namespaced=found.namespaced,
        columns=(),
        has_state=False,
        scalable=False,
        uid="",
        preferred=True,
        verbs=found.verbs,
    )


def _is_current(kind: GenericKind, custom: CustomType, columns_known: bool) -> bool:
    if isinstance(kind, TableKind) and kind.columns_known is not columns_known:
        return False
    return kind.custom == custom


def is_internal_type(gvr: GVR) -> bool:
    """Return True if the console itself reads this type."""
    return gvr in DECODERS or gvr in UNCACHED


def _names(found: CustomType | ServedType) -> tuple[str, ...]:
    gvr = found.gvr
    return gvr.resource, gvr.qualified, found.kind.lower(), found.singular, *found.short_names
