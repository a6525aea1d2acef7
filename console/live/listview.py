"""Live view of a list page.

Compares the rows that browsers have with the current rows, so changes that are not visible on
the page send nothing. A browser that subscribes reports its state (`ClientState`) and is caught up.
After that, all browsers of the view have the same state: the rows of the page, and some rows
that were on the page before, which a browser still shows while the user's pointer is over the
table.

Changes of rows are sent with each update. Order, summary and pager, and rows that enter the page,
are sent at most once in `ListView.arrange_seconds`, so a list stays calm while many objects change.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.live import frames
from console.live.hub import ChangeSource
from console.live.mailbox import Mail
from console.live.view import ClientState, View
from console.ui.core.access import Access
from console.ui.lists.columns import PodsCause
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
    """Live view of a list page.

    `usage` notifies about new usage readings, for kinds that show usage. `others` contains the
    informers of the types that explain the state of rows. `clock` returns seconds.
    """

    #: Minimum seconds between two changes of the order, summary or pager.
    arrange_seconds = 1.0

    def __init__(
        self,
        spec: ViewSpec,
        lang: str,
        informer: Informer[Any],
        usage: ChangeSource | None = None,
        others: Mapping[GVR, ChangeSource] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        metrics = spec.kind.metrics
        measured = {metrics: usage} if usage is not None and metrics is not None else {}
        super().__init__(lang, informer, {**measured, **(others or {})})
        self._cause_types = frozenset(others or ())
        self._spec = spec
        self._clock = clock
        # When the order, summary or pager was last sent.
        self._arranged = float("-inf")
        # State that browsers have, except for later changes of rows; None until the first list is
        # loaded.
        self._table: Table | None = None
        self._rows: dict[str, str] = {}
        self._causes: dict[str, PodsCause | None] = {}
        self._drawn: dict[str, str] = {}

    def client_state(self) -> ClientState:
        table = self._table
        if table is None:
            return ClientState()
        rows = {key: self._rows[key] for key in _order(table) if key in self._rows}
        return ClientState(table.etag, rows)

    def reset(self) -> None:
        super().reset()
        self._table, self._rows, self.retry_after = None, {}, 0.0

    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        self.reshaped = False
        if not self.synced:
            return []
        old, query = self._table, ListQuery.of(self._spec, access)
        waiting, now = self.retry_after > 0, self._clock()
        remaining = self._arranged + self.arrange_seconds - now
        self.retry_after = max(0.0, remaining) if waiting else 0.0
        concerns = self._concerns(mail, query)
        if old is not None and not anew and not concerns and (not waiting or remaining > 0):
            return []
        table = build_table(query, self.informer)
        self.reshaped = old is not None and _shape(old) != _shape(table)
        if old is None or self.reshaped:
            self._arrange(table)
            self._rows = _signatures(table.rows)
            self._causes = {row.key: row.cause for row in table.rows}
            return []
        had = _Baseline(self._rows, _order(old), old.total, _summary(old), _pager(old))
        look = None if mail.overflow or mail.state or mail.types else mail.keys
        if remaining > 0 and not anew and _is_arranged_differently(had, table):
            changed, gone = self._compare(had, (), query, look)
            self._keep(old, changed, gone)
            self.retry_after = remaining
            return _row_frames(changed, gone, self._lang)
        if _is_arranged_differently(had, table):
            self._arranged = now
        self._arrange(table)
        changed, gone = self._compare(had, table.rows, query, look)
        self._keep(table, changed, gone)
        return self._frames(had, table, changed, gone)

    def _arrange(self, table: Table) -> None:
        self._table, self.retry_after = table, 0.0
        self._drawn.clear()

    def catch_up(self, known: ClientState, access: Access) -> list[str] | None:
        """Return the frames for a browser with state `known`, or None if it must fetch the page.

        Call after `update`. Raise `Denied` if permission was lost.
        """
        table = self._table
        if table is None:
            return []
        # Rows may have changed since the etag was sent.
        if known.etag == table.etag and known.rows in (None, _signatures(table.rows)):
            return []
        if not known.etag or known.rows is None or len(known.rows) > 2 * self._spec.limit:
            return None
        if columns_tag(known.etag) != _shape(table):
            return None
        had = _Baseline(known.rows, tuple(known.rows))
        changed, gone = self._compare(had, table.rows, ListQuery.of(self._spec, access), None)
        return self._frames(had, table, changed, gone)

    def _concerns(self, mail: Mail, query: ListQuery) -> bool:
        namespaces, allowed = self._spec.namespaces, query.readable
        if mail.overflow or mail.state or not mail.types <= self._cause_types:
            return True
        if mail.types and self._has_other_causes(query):
            return True
        return any(
            allowed.includes(key)
            for key in mail.keys
            if not namespaces or key.namespace in namespaces
        )

    def _has_other_causes(self, query: ListQuery) -> bool:
        """Return True if the cause of a row has changed. Objects that explain rows change often, so
        this must be faster than `build_table`.
        """
        find, store = query.find_cause, self.informer.store
        for text, cause in self._causes.items():
            namespace, _slash, name = text.rpartition("/")
            entry = store.get(Key(namespace, name))
            if entry is not None and find is not None and find(entry) != cause:
                return True
        return False

    def _compare(
        self,
        had: _Baseline,
        rows: Collection[ListRow],
        query: ListQuery,
        look: Collection[Key] | None,
    ) -> tuple[list[ListRow], list[str]]:
        """Return the changed rows, on or off the page, and the keys of deleted rows. `rows` contains
        the rows of the page.

        A row that returns to the page counts as changed, since the browser may have dropped it.
        Rows that are not on the page are only compared if their key is in `look`, or if `look`
        is None.
        """
        stood = {key: had.rows.get(key) for key in had.order}
        changed = [row for row in rows if stood.get(row.key) != row.signature]
        on_page = {row.key for row in rows}
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
        causes = {**self._causes, **{row.key: row.cause for row in changed}}
        self._causes = {key: causes.get(key) for key in self._rows}

    def _frames(
        self, had: _Baseline, table: Table, changed: list[ListRow], gone: list[str]
    ) -> list[str]:
        found = _row_frames(changed, gone, self._lang)
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


def _row_frames(changed: list[ListRow], gone: list[str], lang: str) -> list[str]:
    found = [frames.rows_frame(changed, lang)] if changed else []
    return found + ([frames.gone_frame(gone)] if gone else [])


def _is_arranged_differently(had: _Baseline, table: Table) -> bool:
    return (had.order, had.total, had.summary, had.pager) != (
        _order(table),
        table.total,
        _summary(table),
        _pager(table),
    )


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
