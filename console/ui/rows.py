"""One object as a line of a list: what `ui/_row.html` is given, and nothing else.

A row knows nothing of the view it stands in, so that it is drawn alike on the page, in a fragment and
in a socket's frame, and may be shared by all who have the same rights.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.utils.functional import Promise

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.columns import Align, Column
from console.ui.kind import ResourceKind
from console.ui.links import action_url
from console.ui.text import dom_id


@dataclass(frozen=True, slots=True)
class Cell:
    """`column`: the column's id. `value`: what its `template` draws."""

    column: str
    label: str | Promise
    template: str
    value: object
    align: Align
    priority: int


@dataclass(frozen=True, slots=True)
class MenuItem:
    """Something the viewer may do to this object. `name` is the action's."""

    name: str
    label: str | Promise
    url: str
    danger: bool
    method: str


@dataclass(frozen=True, slots=True)
class Row:
    """`id` is the element's, `key` is "namespace/name" or "name". `status_key` changes when the state
    does, `signature` when anything that is shown does; both are the same in every language."""

    id: str
    key: str
    name: str
    namespace: str
    stem: str
    suffix: str
    severity: str
    status_key: str
    cells: tuple[Cell, ...]
    menu: tuple[MenuItem, ...]
    signature: str

    @property
    def object_key(self) -> Key:
        return Key(self.namespace, self.name)


def make_row(kind: ResourceKind, cluster: str, access: Access, entry: Entry[Any]) -> Row:
    key, status = entry.key, kind.status(entry)
    split = kind.name_column.split(entry)
    menu = _menu(kind, cluster, access, entry)
    severity, word = (status.severity.value, status.word) if status else ("", "")
    content = (
        entry.projection.uid,
        severity,
        [column.plain(entry) for column in kind.columns],
        [item.name for item in menu],
    )
    return Row(
        id=dom_id(kind.segment, str(key)),
        key=str(key),
        name=key.name,
        namespace=key.namespace,
        stem=split.stem,
        suffix=split.suffix,
        severity=severity,
        status_key=f"{severity}:{word}" if status else "",
        cells=tuple(_cell(column, entry) for column in kind.columns),
        menu=menu,
        signature=short_hash(content),
    )


def short_hash(content: object) -> str:
    """Ten bytes of `repr(content)`'s hash: enough to tell versions of one thing apart."""
    return blake2b(repr(content).encode(), digest_size=10).hexdigest()


def _cell(column: Column, entry: Entry[Any]) -> Cell:
    return Cell(
        column.id, column.label, column.template, column.value(entry), column.align, column.priority
    )


def _menu(
    kind: ResourceKind, cluster: str, access: Access, entry: Entry[Any]
) -> tuple[MenuItem, ...]:
    return tuple(
        MenuItem(
            name=action.name,
            label=action.label,
            url=action_url(action.name, cluster, kind.segment, entry.key),
            danger=action.danger,
            method="get",
        )
        for action in kind.actions
        if action.allowed(access, kind.gvr, entry)
    )
