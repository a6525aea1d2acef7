"""Live view of a list page.

Compares the rows that browsers have with the current rows, so changes that are not visible on
the page send nothing. A browser that subscribes reports its state (`ClientState`) and is caught up.
After that, all browsers of the view have the same state: the rows of the page, and some rows
that were on the page before, which a browser still shows while the user's pointer is over the
table.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.live import frames
from console.live.hub import ChangeSource
from console.live.mailbox import Mail
from console.live.view import ClientState, View
from console.ui.core.access import Access
from console.ui.lists.rows import ListRow
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import Table, build_table, columns_tag, row_of
from console.ui.lists.viewspec import ViewSpec


@dataclass(frozen=True, slots=True)
class _Baseline:
    """State that frames are computed against. `build_table` maps keys to signatures and may contain more
    rows than `order`.
    """

    rows: Mapping[str, str]
    order: tuple[str, ...]
    total: int | None = None
    summary: object = None
    pager: object = None


class ListView(View):
    """Live view of a list page. `usage` notifies about new usage readings, for kinds that show
    usage.
    """

    def __init__(
        self, spec: ViewSpec, lang: str, informer: Informer[Any], usage: ChangeSource | None = None
    ) -> None:
        metrics = spec.kind.metrics
        others = {metrics: usage} if usage is not None and metrics is not None else {}
        super().__init__(lang, informer, others)
        self._spec = spec
        # State that browsers have; None until the first list is loaded.
        self._table: Table | None = None
        self._rows: dict[str, str] = {}
        self._drawn: dict[str, str] = {}

    def client_state(self) -> ClientState:
        table = self._table
        return ClientState(table.etag, _signatures(table.rows)) if table else ClientState()

    def reset(self) -> None:
        super().reset()
        self._table, self._rows = None, {}

    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        self.reshaped = False
        if not self.synced:
            return []
        old, query = self._table, ListQuery.of(self._spec, access)
        if old is not None and not anew and not self._concerns(mail, query):
            return []
        table = self._table = build_table(query, self.informer)
        self._drawn.clear()
        self.reshaped = old is not None and _shape(old) != _shape(table)
        if old is None or self.reshaped:
            self._rows = _signatures(table.rows)
            return []
        had = _Baseline(self._rows, _order(old), old.total, _summary(old), _pager(old))
        look = None if mail.overflow or mail.state or mail.types else mail.keys
        changed, gone = self._compare(had, table, query, look)
        self._keep(table, changed, gone)
        return self._frames(had, table, changed, gone)

    def catch_up(self, known: ClientState, access: Access) -> list[str] | None:
        """Return the frames for a browser with state `known`, or None if it must fetch the page.

        Call after `update`. Raise `Denied` if permission was lost.
        """
        table = self._table
        if table is None or known.etag == table.etag:
            return []
        if not known.etag or known.rows is None or len(known.rows) > 2 * self._spec.limit:
            return None
        if columns_tag(known.etag) != _shape(table):
            return None
        had = _Baseline(known.rows, tuple(known.rows))
        changed, gone = self._compare(had, table, ListQuery.of(self._spec, access), None)
        return self._frames(had, table, changed, gone)

    def _concerns(self, mail: Mail, query: ListQuery) -> bool:
        namespaces, allowed = self._spec.namespaces, query.readable
        if mail.overflow or mail.state or mail.types:
            return True
        return any(
            allowed.includes(key)
            for key in mail.keys
            if not namespaces or key.namespace in namespaces
        )

    def _compare(
        self, had: _Baseline, table: Table, query: ListQuery, look: Collection[Key] | None
    ) -> tuple[list[ListRow], list[str]]:
        """Return the changed rows, on or off the page, and the keys of deleted rows.

        A row that returns to the page counts as changed, since the browser may have dropped it.
        Rows that are not on the page are only compared if their key is in `look`, or if `look`
        is None.
        """
        stood = {key: had.rows.get(key) for key in had.order}
        changed = [row for row in table.rows if stood.get(row.key) != row.signature]
        on_page = {row.key for row in table.rows}
        gone: list[str] = []
        for text in had.rows.keys() - on_page:
            namespace, _slash, name = text.rpartition("/")
            key = Key(namespace, name)
            if look is not None and key not in look:
                continue
            row = row_of(query, key, self.informer)
            if row is None:
                gone.append(text)
            elif row.signature != had.rows[text]:
                changed.append(row)
        return changed, sorted(gone)

    def _keep(self, table: Table, changed: list[ListRow], gone: list[str]) -> None:
        """Remember the sent state. Of the rows that left the page, the most recent are kept, up to
        the page size.
        """
        for key in gone:
            del self._rows[key]
        self._rows |= _signatures(changed)
        on_page = set(_order(table))
        left = [key for key in self._rows if key not in on_page]
        for key in left[: -self._spec.limit]:
            del self._rows[key]

    def _frames(
        self, had: _Baseline, table: Table, changed: list[ListRow], gone: list[str]
    ) -> list[str]:
        found = [frames.rows_frame(changed, self._lang)] if changed else []
        found += [frames.gone_frame(gone)] if gone else []
        if _summary(table) != had.summary:
            found.append(self._draw(frames.summary_frame, table))
        if _pager(table) != had.pager:
            found.append(self._draw(frames.pager_frame, table))
        if _order(table) != had.order:
            found.append(self._draw(frames.order_frame, table))
        elif table.total != had.total:
            found.append(self._draw(frames.total_frame, table))
        return found

    def _draw(self, frame: Callable[[Table, str], str], table: Table) -> str:
        """Return the frame for a table. Each frame is rendered once per table and reused for all
        browsers.
        """
        found = self._drawn.get(frame.__name__)
        if found is None:
            found = self._drawn[frame.__name__] = frame(table, self._lang)
        return found


def _shape(table: Table) -> str:
    return columns_tag(table.etag)


def _signatures(found: Collection[ListRow]) -> dict[str, str]:
    return {row.key: row.signature for row in found}


def _order(table: Table) -> tuple[str, ...]:
    return tuple(row.key for row in table.rows)


def _summary(table: Table) -> object:
    counts = [(item.severity, item.count) for item in table.tally]
    return table.total, counts, table.cut, table.create_url


def _pager(table: Table) -> object:
    pager = table.pager
    return pager.first, pager.last, pager.total, pager.pages
