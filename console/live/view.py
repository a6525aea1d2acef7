"""One open list: what the browser shows of it, and which frames bring that up to date.

No socket, no clock and no thread here: `LiveView` is told what changed and answers with frames. It
compares what it sent with what the page would show now, so a change that nobody can see sends nothing.

Rights are decided anew at every flush, before anything is read. What the browser has is known from the
`etag` that it subscribed with. Rows change in place for as long as the browser shows them; when order
or membership changed it is told to fetch the list again, and subscribes anew when it has.
"""

from dataclasses import dataclass
from typing import Any

from console.kube.informer import Informer
from console.live import frames
from console.live.mailbox import Mail
from console.live.subscribe import Subscription
from console.ui.access import Access
from console.ui.decisions import readable_namespaces
from console.ui.freshness import LiveState, live_state
from console.ui.rows import Row
from console.ui.table import Table, find_row, rows


@dataclass(slots=True)
class _Shown:
    """What the browser has. `rows` lacks those that it was told are gone, `order` does not."""

    order: tuple[str, ...]
    rows: dict[str, Row]
    total: int
    summary: object
    pager: object
    told: tuple[int, int] | None = None

    @classmethod
    def of(cls, table: Table) -> "_Shown":
        by_id = {row.id: row for row in table.rows}
        return cls(tuple(by_id), by_id, table.total, _summary(table), _pager(table))


class LiveView:
    def __init__(self, subscription: Subscription, access: Access, informer: Informer[Any]) -> None:
        self._spec = subscription.place.spec
        self._lang = subscription.lang
        self._etag = subscription.etag
        self._access = access
        self._informer = informer
        # None while the browser's rows are not known: it was told to fetch them, or there are none yet.
        self._shown: _Shown | None = None
        self._loading = False
        self._freshness: LiveState | None = None

    def start(self) -> list[str]:
        """The first frames. Raises `Denied`."""
        found = self._freshness_frames()
        table = rows(self._spec, self._access, self._informer)
        self._loading = not self._informer.freshness.synced
        if self._loading:
            return found
        if table.etag != self._etag:
            return [*found, frames.refresh_frame()]
        self._shown = _Shown.of(table)
        return found

    def flush(self, mail: Mail) -> list[str]:
        """The frames for what changed since the last call. Raises `Denied`."""
        readable_namespaces(self._spec.kind, self._access, self._spec.namespaces)
        found = self._freshness_frames()
        if self._loading and self._informer.freshness.synced:
            self._loading = False
            return [*found, frames.refresh_frame()]
        if self._shown is None or not self._concerns(mail):
            return found
        if mail.overflow:
            self._shown = None
            return [*found, frames.refresh_frame()]
        return [*found, *self._changes(self._shown)]

    def _concerns(self, mail: Mail) -> bool:
        if mail.overflow or mail.state:
            return True
        namespaces = self._spec.namespaces
        return any(not namespaces or key.namespace in namespaces for key in mail.keys)

    def _freshness_frames(self) -> list[str]:
        live = live_state(self._informer)
        if live == self._freshness:
            return []
        self._freshness = live
        return [frames.freshness_frame(live, self._lang)]

    def _changes(self, shown: _Shown) -> list[str]:
        table = rows(self._spec, self._access, self._informer)
        changed, gone = self._compare(shown, table)
        found = [frames.rows_frame(changed, self._lang)] if changed else []
        found += [frames.gone_frame(gone)] if gone else []
        summary, pager = _summary(table), _pager(table)
        if summary != shown.summary:
            shown.summary = summary
            found.append(frames.summary_frame(table, self._lang))
        if pager != shown.pager:
            shown.pager = pager
            found.append(frames.pager_frame(table, self._lang))
        return [*found, *self._refresh(shown, table)]

    def _compare(self, shown: _Shown, table: Table) -> tuple[list[Row], list[str]]:
        """The rows that look different now, wherever they stand, and the keys of those that are gone."""
        now = {row.id: row for row in table.rows}
        changed: list[Row] = []
        gone: list[str] = []
        for row_id, old in list(shown.rows.items()):
            key = old.object_key
            new = now.get(row_id) or find_row(self._spec, key, self._access, self._informer)
            if new is None:
                gone.append(old.key)
                del shown.rows[row_id]
            elif new.signature != old.signature:
                changed.append(new)
                shown.rows[row_id] = new
        return changed, gone

    def _refresh(self, shown: _Shown, table: Table) -> list[str]:
        """Says so once, and again only when there is more to fetch than was said."""
        order = tuple(row.id for row in table.rows)
        if order == shown.order:
            return []
        grown = table.total - shown.total
        lost = len(shown.order) - len(shown.rows)
        added = max(0, grown + lost)
        told = (added, added - grown)
        if told == shown.told:
            return []
        shown.told = told
        return [frames.refresh_frame(*told)]


def _summary(table: Table) -> object:
    return table.total, [(item.severity, item.count) for item in table.tally]


def _pager(table: Table) -> object:
    pager = table.pager
    return pager.first, pager.last, pager.total, pager.pages
