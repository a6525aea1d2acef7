"""Rows of a list: the complete context of `ui/_row.html`.

A row does not depend on the view that contains it. It renders the same on a page, in a fragment
and in a websocket message, and is shared by all viewers with the same permissions.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.utils.functional import Promise

from console.kube.metrics_server import ResourceUsage
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import BULK, ROW, Action
from console.ui.core.kind import FindCause, ResourceKind
from console.ui.core.link_resolver import LinkResolver, with_link_targets
from console.ui.core.links import object_url
from console.ui.core.text import dom_id
from console.ui.lists.column_selection import shown_columns
from console.ui.lists.columns import (
    Align,
    Column,
    LinkColumn,
    PodsCause,
    ResolvedLink,
    with_cause,
    with_usage,
)
from console.ui.usage.reading import UsageReading

#: Number of cached rows. Each takes a few kilobytes with its rendered fragments.
KEPT = 5000
#: Actions shown as buttons above an object's page. Phones show two of them (`ui/_acts.html`).
BUTTONS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row.

    `column` is the column id. `value` is hashable and rendered by `template`. `head` is the
    column's label, which phones show next to the value because they have no table header.
    `shrinks` is True if a narrow list may cut the text with an ellipsis.
    """

    column: str
    label: str | Promise = field(compare=False)
    template: str
    value: object
    align: Align
    priority: int
    head: str | Promise = ""
    shrinks: bool = False


@dataclass(frozen=True, slots=True)
class MenuItem:
    """An action that the viewer can run, with the URL of its page, or of the request that a button
    sends if the action has no page.
    """

    action: Action
    url: str


@dataclass(frozen=True, slots=True)
class ActionBar:
    """Actions above an object's page, or of a row.

    `buttons` contains the most frequent actions. The menu contains `others`, and separately
    `destructive`, the actions that delete or stop the object. A row has only a menu with `others`.
    """

    buttons: tuple[MenuItem, ...] = ()
    others: tuple[MenuItem, ...] = ()
    destructive: tuple[MenuItem, ...] = ()


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row of a list.

    `id` is the HTML element's id, `key` is "namespace/name" or "name", `url` is the object's
    page and `uid` the object's UID. `status_key` changes with the object's state and `signature`
    with any displayed content. Neither depends on the language. `selectable` is True if the row can
    be selected for bulk actions. `cause` is the displayed cause of the state. `rendered` contains the
    rendered fragments of `console.ui.fragments.cached_fragments`, by language.
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
    selectable: bool = False
    cause: PodsCause | None = None
    rendered: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def actions(self) -> ActionBar:
        """The actions in the row's menu."""
        return ActionBar(others=tuple([item for item in self.menu if ROW in item.action.places]))


class RowBuilder:
    """Builds the rows of one response from the viewer's current permissions.

    Rows are shared by viewers with the same permissions. `chosen` contains the selected columns,
    like `ViewSpec.columns`. `meter` is the viewer's usage reading, if usage is shown. `links` is
    the response's link resolver, and `find_cause` returns the cause of a row's state. With `many`,
    permissions that the viewer has for all objects of the kind are checked once instead of per row.
    """

    def __init__(
        self,
        kind: ResourceKind,
        access: Access,
        chosen: tuple[str, ...] = (),
        meter: UsageReading | None = None,
        links: LinkResolver | None = None,
        find_cause: FindCause | None = None,
        *,
        many: bool = False,
    ) -> None:
        self._kind, self._access, self._chosen = kind, access, chosen
        self._cluster = access.cluster.name
        self._used = meter.used if meter is not None and meter.available else None
        self._links, self._find_cause = links or LinkResolver(access), find_cause
        columns = shown_columns(kind, chosen, self._used is not None)
        self._link_columns = [one for one in columns if isinstance(one, LinkColumn)]
        gvr = kind.gvr
        self._everywhere = (
            {one for one in kind.permissions if one.granted(access, gvr)} if many else set()
        )
        self._asked = kind.permissions - self._everywhere

    def row(self, entry: Entry[Any]) -> ListRow:
        """Return the row of an object."""
        kind, access, key = self._kind, self._access, entry.key
        # Several actions need the same permission, so each is checked once.
        granted = self._everywhere
        if self._asked:
            granted = granted | {one for one in self._asked if one.granted(access, kind.gvr, key)}
        # A list, because a generator would cost one call for each action.
        allowed = [
            action.name
            for action, needs, may_be_protected, may_be_inapplicable in kind.action_checks
            if granted >= needs
            and not (may_be_protected and action.is_protected(access, key.name))
            and (not may_be_inapplicable or action.is_offered(access, entry))
        ]
        used = (self._used(entry),) if self._used is not None else ()
        leads = tuple([self._links.resolve(one.target(entry)) for one in self._link_columns])
        cause = self._find_cause(entry) if self._find_cause is not None else None
        return _row(kind, self._cluster, entry, tuple(allowed), self._chosen, used, leads, cause)


def make_row(kind: ResourceKind, access: Access, entry: Entry[Any]) -> ListRow:
    """Return the row of a single object with all columns except usage."""
    return RowBuilder(kind, access).row(entry)


# Entries compare by identity, so a cached row always belongs to the same version of its object.
@lru_cache(KEPT)
def _row(
    kind: ResourceKind,
    cluster: str,
    entry: Entry[Any],
    allowed: tuple[str, ...],
    chosen: tuple[str, ...],
    used: tuple[ResourceUsage | None] | tuple[()],
    leads: tuple[ResolvedLink, ...],
    cause: PodsCause | None,
) -> ListRow:
    columns = shown_columns(kind, chosen, bool(used))
    if leads:
        columns = with_link_targets(columns, leads)
    if used:
        columns = with_usage(columns, lambda _entry: used[0])
    if cause is not None:
        columns = with_cause(columns, cause)
    key, status = entry.key, kind.status(entry)
    actions = [kind.actions_by_name[name] for name in allowed]
    split = kind.name_column.split(entry)
    severity, word = (status.severity.value, status.word) if status else ("", "")
    content = (
        entry.projection.uid,
        severity,
        [column.plain(entry) for column in columns],
        allowed,
        [tuple(one) for one in leads],
    )
    return ListRow(
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
            MenuItem(one, one.url(cluster, kind.segment, key))
            for one in actions
            if not one.is_bulk_only
        ),
        signature=short_hash(content),
        uid=entry.projection.uid,
        selectable=any(BULK in one.places for one in actions),
        cause=cause,
    )


def short_hash(content: object) -> str:
    """Return a 10-byte hash of `repr(content)`, enough to distinguish versions of one object."""
    return blake2b(repr(content).encode(), digest_size=10).hexdigest()


def _cell(column: Column, entry: Entry[Any], is_chosen: bool) -> Cell:
    value = column.value(entry)
    return Cell(
        column.id,
        column.label,
        column.template,
        value,
        column.align,
        column.priority,
        column.label if is_chosen else "",
        column.shrinks(value),
    )


def action_bar(menu: Iterable[MenuItem]) -> ActionBar:
    """Sort the actions by weight. Actions with equal weight keep their order."""
    items = sorted(menu, key=lambda item: -item.action.weight)
    staying = [item for item in items if item.action.keeps_object]
    return ActionBar(
        tuple(staying[:BUTTONS]),
        tuple(staying[BUTTONS:]),
        tuple(item for item in items if not item.action.keeps_object),
    )
