"""Registry of the built-in kinds. Each kind is registered by the module that declares it.

An invalid or duplicate declaration stops the process at startup, and kinds can't be
unregistered. Every cluster has these kinds, and additionally the kinds of its custom resources,
which change with their definitions (`console.ui.core.clusters`).
"""

from collections.abc import Iterator
from typing import TypeVar

from console.kube.gvr import GVR
from console.ui.core.actions import Action
from console.ui.core.kind import (
    COMMON_ACTIONS,
    NAV_GROUPS,
    Nav,
    ResourceKind,
    Scope,
    segment_of,
)
from console.ui.core.links import register_object_page
from console.ui.core.menu import NAV_ENTRIES
from console.ui.lists.columns import Column, NameColumn, StatusColumn, UsageColumn, register_kind
from console.ui.lists.filters import Filter, StatusFilter

K = TypeVar("K", bound=type[ResourceKind])

_REQUIRED: dict[str, type | tuple[type, ...]] = {
    "gvr": GVR,
    "scope": Scope,
    "nav": Nav,
    "projection": type,
    "title": object,
    "singular": object,
    "nouns": object,
    "columns": (list, tuple),
    "filters": (list, tuple),
    "actions": (list, tuple),
}
#: Query parameters with the same meaning in every list.
RESERVED_PARAMS = frozenset({"columns", "sort", "page", "limit", "format"})


class InvalidKindDeclaration(TypeError):
    """Invalid declaration of a kind. `str()` lists all problems."""


class Registry:
    """The registered kinds, by URL segment and by group and kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, ResourceKind] = {}
        self._by_group_kind: dict[str, ResourceKind] = {}

    def add(self, cls: type[ResourceKind]) -> ResourceKind:
        """Register a kind. Raise `InvalidKindDeclaration` if it is invalid."""
        problems = list(_problems(cls))
        if not problems and (segment := segment_of(cls.gvr)) in self._kinds:
            problems = [f"{segment} is already declared"]
        if problems:
            raise InvalidKindDeclaration(f"{cls.__qualname__}: {'; '.join(problems)}")
        kind = self._kinds[segment_of(cls.gvr)] = cls()
        self._by_group_kind[kind.group_kind] = kind
        return kind

    def by_segment(self, segment: str) -> ResourceKind | None:
        """Return the kind of a URL segment, `plural` or `plural.group`."""
        return self._kinds.get(segment)

    def by_type(self, gvr: GVR) -> ResourceKind | None:
        """Return the kind of a type, or None if no kind is registered for this version."""
        found = self._kinds.get(segment_of(gvr))
        return found if found is not None and found.gvr == gvr else None

    def by_group_kind(self, word: str) -> ResourceKind | None:
        """Return the kind of a `Kind.group` (see `console.kube.group_kind`)."""
        return self._by_group_kind.get(word)

    def declares(self, group: str, plural: str) -> bool:
        """Return True if a kind is registered for any version of the type."""
        kind = self._kinds.get(segment_of(GVR(group, "", plural)))
        return kind is not None and (kind.gvr.group, kind.gvr.resource) == (group, plural)

    def __iter__(self) -> Iterator[ResourceKind]:
        return iter(self._kinds.values())


kinds = Registry()


def register(cls: K) -> K:
    """Register a kind. For use as a class decorator."""
    kind = kinds.add(cls)
    register_object_page(kind.segment, kind.page_url)
    if kind.addressable_by_kind_name:
        register_kind(kind.group_kind, kind.segment, namespaced=kind.view.namespaced)
    return cls


def _problems(cls: type[ResourceKind]) -> Iterator[str]:
    wrong = [
        f"{name} is missing or has the wrong type"
        for name, expected in _REQUIRED.items()
        if not isinstance(getattr(cls, name, None), expected)
    ]
    yield from wrong
    if not wrong:
        if cls.nav.group not in NAV_GROUPS:
            yield f"unknown navigation group {cls.nav.group!r}"
        if cls.nav.entry not in ("", *NAV_ENTRIES):
            yield f"unknown navigation entry {cls.nav.entry!r}"
        yield from _wrong_types("measured", cls.measured, UsageColumn)
        yield from _column_problems([*cls.columns, *cls.measured])
        yield from _filter_problems(cls)
        yield from _wrong_types("actions", cls.actions, Action)
        offered = (*COMMON_ACTIONS, *cls.actions)
        names = [action.name for action in offered if isinstance(action, Action)]
        yield from _duplicates("action", names)


def _column_problems(columns: object) -> Iterator[str]:
    declared = list(columns) if isinstance(columns, (list, tuple)) else []
    yield from _wrong_types("columns", declared, Column)
    declared = [column for column in declared if isinstance(column, Column)]
    yield from _duplicates("column", [column.id for column in declared])
    if sum(isinstance(column, NameColumn) for column in declared) != 1:
        yield "columns must contain exactly one NameColumn"
    if sum(isinstance(column, StatusColumn) for column in declared) > 1:
        yield "columns must contain at most one StatusColumn"
    for column in declared:
        if not 1 <= column.priority <= 4:
            yield f"column {column.id} has priority {column.priority}, expected 1 to 4"
        if not column.id.replace("_", "").isalnum():
            yield f"column {column.id!r} has an invalid id: use letters, digits and _"


def _filter_problems(cls: type[ResourceKind]) -> Iterator[str]:
    yield from _wrong_types("filters", cls.filters, Filter)
    params = [item.param for item in cls().every_filter if isinstance(item, Filter)]
    yield from _duplicates("filter", params)
    yield from (f"filter {name} uses a reserved name" for name in params if name in RESERVED_PARAMS)
    has_status = any(isinstance(column, StatusColumn) for column in cls.columns)
    if not has_status and any(isinstance(item, StatusFilter) for item in cls.filters):
        yield "a StatusFilter requires a StatusColumn"


def _wrong_types(where: str, items: object, expected: type) -> Iterator[str]:
    for item in items if isinstance(items, (list, tuple)) else ():
        if not isinstance(item, expected):
            yield f"{where} contains {item!r}, which is not of type {expected.__name__}"


def _duplicates(what: str, names: list[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{what} {name} is declared twice"
