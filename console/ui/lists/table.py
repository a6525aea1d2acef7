"""The complete content of a list page.

`build_table` serves the page, the htmx fragment and the websocket, so that they can't differ. A `Table`
is immutable and contains only authorized data. Templates only render it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from console.kube.gvr import Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.uncached import UNCACHED
from console.ui.core.access import Access
from console.ui.core.actions import BULK, Permission
from console.ui.core.kind import KindView, ResourceKind, Scope
from console.ui.core.links import bulk_url
from console.ui.core.object_source import LiveState, live_state, truncated_at
from console.ui.core.permissions import Denied, Readable
from console.ui.editing.creating import create_url
from console.ui.fragments.empty_states import (
    EmptyState,
    bad_input_block,
    denied_block,
    empty_block,
    loading_block,
    not_installed_block,
    page_out_of_range_block,
)
from console.ui.lists.columns import Align
from console.ui.lists.list_forms import ColumnSelectionForm, FilterForm, column_picker, filter_form
from console.ui.lists.ordered_view import ListSlice
from console.ui.lists.rows import ListRow, MenuItem, RowBuilder, short_hash
from console.ui.lists.selection import ListQuery, select
from console.ui.lists.spec_cache import cached_by_spec
from console.ui.lists.summary import Pager, TallyItem, make_pager, make_tally, page_count
from console.ui.lists.viewspec import ViewSpec

#: Number of cached views with rendered column headers.
KEPT = 500
#: A wide window has more room between the columns of lists with at most so many.
FEW = 6


@dataclass(frozen=True, slots=True)
class Header:
    """A column header. `sort_url` cycles through ascending, descending and default order. It is
    None for columns that can't be sorted.
    """

    id: str
    label: str | Promise
    align: Align
    priority: int
    sort_url: str | None
    aria_sort: str


@dataclass(frozen=True, slots=True)
class Table:
    """The content of a list page.

    `cluster` is the cluster's name. `total` counts the objects after permissions and filters. `url`
    is the canonical URL of this view, or "" if it can't be watched. `all_url` is the URL without
    pagination, for exports. `pairs` are the parameters of `url`. `etag` is equal for tables with
    the same content, regardless of the language. `state` is the message shown instead of rows, or
    None. `bulk` contains the actions for selected rows. `cut` is the number of objects read from a
    truncated list, or None. `create_url` and `logs_url` create another object and show the logs of
    the listed ones. They are "" if the viewer lacks the permissions.
    """

    cluster: str
    kind: KindView
    columns: tuple[Header, ...]
    url: str
    filters: FilterForm
    picker: ColumnSelectionForm
    pager: Pager
    state: EmptyState | None
    freshness: LiveState
    rows: tuple[ListRow, ...] = ()
    total: int = 0
    resource_version: str = ""
    etag: str = ""
    all_url: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    tally: tuple[TallyItem, ...] = ()
    bulk: tuple[MenuItem, ...] = ()
    cut: int | None = None
    create_url: str = ""
    logs_url: str = ""

    @property
    def has_few_columns(self) -> bool:
        return len(self.columns) <= FEW

    @property
    def has_long_texts(self) -> bool:
        """True if the rows contain texts that can fill the room that other columns leave."""
        return any(cell.shrinks for row in self.rows for cell in row.cells)


def build_table(
    query: ListQuery,
    informer: Informer[Any],
    selection: ListSlice | None = None,
    *,
    namespaces: Collection[str] | None = None,
) -> Table:
    """Return the requested list. Invalid input and lists that are not loaded are reported in
    `state`.

    `selection` is the page's selection, if already computed. `namespaces` contains all existing
    namespaces, or None if they are unknown or the viewer can't list them. It is used only for
    viewers who can see the objects of all namespaces.
    """
    spec, access = query.spec, query.access
    choices = _choices(query.readable, informer, namespaces)
    live = live_state(informer)
    if spec.errors:
        return _without_rows(spec, bad_input_block(spec), live, choices, url="")
    if informer.not_installed:
        block = not_installed_block(spec.kind)
        return _without_rows(spec, block, LiveState("off"), choices, url=spec.url)
    if not informer.freshness.synced:
        block = loading_block(spec.kind, live.problem, refused=informer.refusal is not None)
        return _without_rows(spec, block, live, choices, url=spec.url)
    create = create_url(spec, access)
    logs = spec.kind.logs_url(access, spec.namespaces, spec.get("label"))
    selection = selection or select(query, informer, spec.page_slice)
    # All rows use the same reading, so that they have the same columns.
    meter = query.meter()
    columns = _headers(spec, metered=meter is not None and meter.available)
    rows = RowBuilder(
        spec.kind, access, spec.columns, meter, query.links, query.find_cause, many=True
    )
    shown = tuple(map(rows.row, selection.entries))
    total = selection.total
    tally = make_tally(spec, selection.tally)
    unknown = _unknown(spec, namespaces) if query.readable.namespaces is None else ()
    return Table(
        cluster=spec.cluster,
        kind=spec.kind.view,
        columns=columns,
        rows=shown,
        total=total,
        resource_version=selection.resource_version,
        etag=_etag(columns, shown, total, spec.page, tally, create + logs),
        url=spec.url,
        all_url=spec.unpaged().url,
        pairs=tuple(spec.pairs),
        tally=tally,
        filters=filter_form(spec, choices),
        picker=column_picker(spec, meter.note if meter is not None else None),
        pager=make_pager(spec, total),
        state=_state(spec, total, unknown, create),
        freshness=live,
        bulk=_bulk(query),
        cut=truncated_at(informer),
        create_url=create,
        logs_url=logs,
    )


def _choices(
    allowed: Readable, informer: Informer[Any], namespaces: Collection[str] | None
) -> frozenset[str]:
    """Return the namespaces that the list can be filtered by."""
    if allowed.namespaces is not None:
        return allowed.known_namespaces
    if namespaces is not None:
        return frozenset(namespaces)
    return frozenset(map(str, indexes_of(informer.store).by_namespace.values())) - {""}


def _bulk(query: ListQuery) -> tuple[MenuItem, ...]:
    """Return the bulk actions that the viewer can run on at least one cached object of the kind."""
    kind, access = query.spec.kind, query.access
    if kind.gvr in UNCACHED:
        return ()
    actions = [action for action in kind.every_action if BULK in action.places]
    needed = {one for action in actions for one in action.needs}
    held = {one for one in needed if _somewhere(one, kind, access)}
    one = query.spec.namespaces[0] if len(query.spec.namespaces) == 1 else ""
    return tuple(
        MenuItem(action, bulk_url(action.name, query.spec.cluster, kind.segment, one))
        for action in actions
        if held.issuperset(action.needs)
    )


def _somewhere(permission: Permission, kind: ResourceKind, access: Access) -> bool:
    """Return True if the viewer has the permission for any object."""
    if kind.scope is not Scope.NAMESPACED and permission.granted(access, kind.gvr):
        return True
    asked = (permission.verb, permission.gvr or kind.gvr, permission.subresource)
    namespaces = access.namespaces_where(*asked)
    return namespaces is None or bool(namespaces or access.names_where(*asked))


def denied_table(spec: ViewSpec, denied: Denied) -> Table:
    """Return a list without rows that explains which permission is missing."""
    return _without_rows(
        spec, denied_block(denied, spec.kind), LiveState("off"), frozenset(), url=""
    )


def invalid_query_table(spec: ViewSpec, allowed: Readable) -> Table:
    """Return a list without rows that shows `spec.errors`."""
    block = bad_input_block(spec)
    return _without_rows(spec, block, LiveState("off"), allowed.known_namespaces, url="")


def row_of(query: ListQuery, key: Key, informer: Informer[Any]) -> ListRow | None:
    """Return the row of an object, regardless of the page that it is on. Return None if the object
    does not exist or is not visible.
    """
    entry = informer.store.get(key) if query.readable.includes(key) else None
    if entry is None:
        return None
    spec = query.spec
    rows = RowBuilder(
        spec.kind, query.access, spec.columns, query.meter(), query.links, query.find_cause
    )
    return rows.row(entry)


def _without_rows(
    spec: ViewSpec, block: EmptyState, live: LiveState, choices: frozenset[str], *, url: str
) -> Table:
    return Table(
        cluster=spec.cluster,
        kind=spec.kind.view,
        columns=_headers(spec, metered=False),
        url=url,
        filters=filter_form(spec, choices),
        picker=column_picker(spec),
        pager=make_pager(spec, 0),
        state=block,
        freshness=live,
    )


def _etag(
    columns: tuple[Header, ...],
    shown: tuple[ListRow, ...],
    total: int,
    page: int,
    tally: tuple[TallyItem, ...],
    urls: str,
) -> str:
    counts = [(item.severity, item.count) for item in tally]
    content = short_hash(([(row.id, row.signature) for row in shown], total, page, counts, urls))
    return f"{short_hash([column.id for column in columns])[:6]}-{content}"


def columns_tag(etag: str) -> str:
    """Return the part of an ETag that identifies the columns. Rows can only be inserted into a
    table with the same shape.
    """
    return etag.partition("-")[0]


def _state(spec: ViewSpec, total: int, unknown: tuple[str, ...], create: str) -> EmptyState | None:
    if not total:
        return empty_block(spec, unknown, create)
    pages = page_count(total, spec.limit)
    return page_out_of_range_block(spec, pages) if spec.page > pages else None


def _unknown(spec: ViewSpec, namespaces: Collection[str] | None) -> tuple[str, ...]:
    if namespaces is None:
        return ()
    return tuple(name for name in spec.namespaces if name not in namespaces)


@cached_by_spec(KEPT)
def _headers(spec: ViewSpec, *, metered: bool) -> tuple[Header, ...]:
    return tuple(
        Header(
            id=column.id,
            label=column.label,
            align=column.align,
            priority=column.priority,
            sort_url=spec.with_sort(_next_sort(spec, column.id)).url if column.sortable else None,
            aria_sort=_aria_sort(spec, column.id),
        )
        for column in spec.shown(metered=metered)
    )


def _aria_sort(spec: ViewSpec, column: str) -> str:
    if column != spec.ordered_by:
        return "none"
    return "descending" if spec.descending else "ascending"


def _next_sort(spec: ViewSpec, column: str) -> str:
    """Return the sort order after a click on the column header."""
    now = _aria_sort(spec, column)
    if now == "none":
        # The ascending default order has no sort parameter.
        return "" if column == spec.kind.default_sort else column
    return f"-{column}" if now == "ascending" else ""
