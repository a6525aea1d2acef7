"""One object as a line of a list: what `ui/_row.html` is given, and nothing else.

A row knows nothing of the view it stands in, so that it is drawn alike on the page, in a fragment and
in a socket's frame, and may be shared by all who have the same rights.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.utils.functional import Promise

from console.kube.gvr import Key
from console.kube.metricslist import Used
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.actions import BULK, Action, Link, Permission
from console.ui.chosen import shown_columns
from console.ui.columns import Align, Column, told
from console.ui.columns.links import Linked
from console.ui.kind import ResourceKind
from console.ui.linked import Links, linked
from console.ui.links import object_url
from console.ui.meters import Meter
from console.ui.text import dom_id

#: Rows that are kept: some kilobytes each, with their drawings.
KEPT = 5000
#: Actions of an object that are buttons above its page; on a phone two of them (`ui/_acts.html`).
BUTTONS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """`column`: the column's id. `value`: what its `template` draws; it can be hashed.

    `head`: the column's label, where a phone, which shows no heads, says beside the value what it is.
    """

    column: str
    label: str | Promise = field(compare=False)
    template: str
    value: object
    align: Align
    priority: int
    head: str | Promise = ""


@dataclass(frozen=True, slots=True)
class MenuItem:
    """Something the viewer may do to this object. `name` is the action's, `places` where it is offered.
    `asks`: `url` is a page; else a button posts to it. `dock`: what that page is as a tab of the dock.
    `weight` and `stays` are the action's."""

    name: str
    label: str | Promise
    url: str
    danger: bool
    icon: str
    asks: bool
    places: frozenset[str]
    dock: str = ""
    weight: int = 0
    stays: bool = True


@dataclass(frozen=True, slots=True)
class ActionBar:
    """What may be done, above an object's page: in `buttons` what people do most, in a menu the `others`,
    and last and apart in that what `ends` the object."""

    buttons: tuple[MenuItem, ...]
    others: tuple[MenuItem, ...]
    ends: tuple[MenuItem, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """`id` is the element's, `key` is "namespace/name" or "name", `url` the object's page.
    `status_key` changes when the state does, `signature` when anything that is shown does; both are
    the same in every language.

    `uid`: the object's. `ticks`: it can be chosen, for what is done to many objects at once.

    `drawings` are `console.ui.drawing`'s, by language.
    """

    id: str
    key: str
    name: str
    namespace: str
    stem: str
    suffix: str
    url: str
    severity: str
    status_key: str
    cells: tuple[Cell, ...]
    menu: tuple[MenuItem, ...]
    signature: str
    uid: str = ""
    ticks: bool = False
    drawings: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def make_row(
    kind: ResourceKind,
    cluster: str,
    access: Access,
    entry: Entry[Any],
    chosen: tuple[str, ...] = (),
    meter: Meter | None = None,
    everywhere: frozenset[Permission] = frozenset(),
    links: Links | None = None,
) -> Row:
    """The row for a viewer, whose rights are decided now. Shared by all who may do the same.

    `chosen`: the columns, as `ViewSpec.columns`. `meter`: the viewer's, where usage is shown.
    `everywhere`: of what actions need, some that the viewer has for every object of the kind.
    `links`: the page's own, where it has more rows than this.
    """
    key = entry.key
    # Several actions need the same right, which is asked for once.
    asked = kind.permissions - everywhere
    granted = everywhere | {one for one in asked if one.granted(access, kind.gvr, key)}
    allowed = tuple(
        action.name
        for action in kind.every_action
        if granted.issuperset(action.needs)
        and not action.exempt(access, key.name)
        and action.applicable(entry)
    )
    used = (meter.used(entry),) if meter is not None and meter.works else ()
    columns = shown_columns(kind, chosen, bool(used))
    leads = (links or Links(access)).of(columns, entry)
    return _row(kind, cluster, entry, allowed, chosen, used, leads)


# An entry is equal to itself alone, so a row is never of another version of its object.
@lru_cache(KEPT)
def _row(
    kind: ResourceKind,
    cluster: str,
    entry: Entry[Any],
    allowed: tuple[str, ...],
    chosen: tuple[str, ...],
    used: tuple[Used | None] | tuple[()],
    leads: tuple[Linked, ...],
) -> Row:
    columns = shown_columns(kind, chosen, bool(used))
    if leads:
        columns = linked(columns, leads)
    if used:
        columns = told(columns, lambda _entry: used[0])
    key, status = entry.key, kind.status(entry)
    split = kind.name_column.split(entry)
    severity, word = (status.severity.value, status.word) if status else ("", "")
    content = (
        entry.projection.uid,
        severity,
        [column.plain(entry) for column in columns],
        allowed,
        [tuple(one) for one in leads],
    )
    return Row(
        id=dom_id(kind.segment, str(key)),
        key=str(key),
        name=key.name,
        namespace=key.namespace,
        stem=split.stem,
        suffix=split.suffix,
        url=object_url(cluster, kind.segment, key),
        severity=severity,
        status_key=f"{severity}:{word}" if status else "",
        cells=tuple(_cell(column, entry, bool(chosen)) for column in columns),
        menu=tuple(
            menu_item(kind.shown_actions[name], cluster, kind.segment, key) for name in allowed
        ),
        signature=short_hash(content),
        uid=entry.projection.uid,
        ticks=any(BULK in kind.shown_actions[name].places for name in allowed),
    )


def short_hash(content: object) -> str:
    """Ten bytes of `repr(content)`'s hash: enough to tell versions of one thing apart."""
    return blake2b(repr(content).encode(), digest_size=10).hexdigest()


def _cell(column: Column, entry: Entry[Any], is_chosen: bool) -> Cell:
    return Cell(
        column.id,
        column.label,
        column.template,
        column.value(entry),
        column.align,
        column.priority,
        column.label if is_chosen else "",
    )


def menu_item(action: Action, cluster: str, segment: str, key: Key) -> MenuItem:
    return MenuItem(
        name=action.name,
        label=action.label,
        url=action.url(cluster, segment, key),
        danger=action.danger,
        icon=action.icon,
        asks=action.asks,
        places=action.places,
        dock=action.dock if isinstance(action, Link) else "",
        weight=action.weight,
        stays=action.stays,
    )


def action_bar(menu: Iterable[MenuItem]) -> ActionBar:
    """Those that weigh the same in the order in which they were given."""
    items = sorted(menu, key=lambda item: -item.weight)
    staying = [item for item in items if item.stays]
    return ActionBar(
        tuple(staying[:BUTTONS]),
        tuple(staying[BUTTONS:]),
        tuple(item for item in items if not item.stays),
    )
