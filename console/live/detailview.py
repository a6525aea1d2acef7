"""Live view of a detail page.

Sends the page's parts whose signature changed. After the object is deleted, its last state stays
on the page below a notice. If a new object with the same name is created, the page shows that
object.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils import translation

from console.kube.gvr import GVR, NODE_METRICS, POD_METRICS
from console.kube.informer import Informer
from console.live import frames
from console.live.hub import ChangeSource
from console.live.mailbox import Mail
from console.live.view import ClientState, View
from console.ui.core.access import Access
from console.ui.details.detail import DetailPart, deletion_notice, detail, etag_of, panel_id
from console.ui.navigation.page_routes import DetailRoute

#: Types of usage readings, which have no informer.
METRICS = frozenset({NODE_METRICS, POD_METRICS})


class DetailView(View):
    """Live view of a detail page. `others` contains the informers that its panels need, and `usage`
    notifies about new usage readings.
    """

    def __init__(
        self,
        place: DetailRoute,
        lang: str,
        informer: Informer[Any],
        others: Mapping[GVR, Informer[Any]],
        usage: ChangeSource | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        measured = dict.fromkeys(METRICS & place.needs, usage) if usage is not None else {}
        super().__init__(lang, informer, {**others, **measured})
        self._place = place
        self._informers = others
        self._now = now
        # Parts that browsers have; None before the first update.
        self._parts: dict[str, DetailPart] | None = None
        self._there = False

    def client_state(self) -> ClientState:
        parts = self._parts
        return ClientState(_etag(parts), _signatures(parts)) if parts is not None else ClientState()

    def reset(self) -> None:
        super().reset()
        self._parts, self._there = None, False

    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        self._place.check(access)
        if not self.synced:
            return []
        whole = anew or mail.overflow or mail.state or self._place.key in mail.keys
        old, touched = self._parts, self._touched(mail)
        if old is not None and not whole and not touched:
            return []
        kept = {} if whole else {k: part for k, part in (old or {}).items() if k not in touched}
        with translation.override(self._lang):
            self._parts = self._draw(access, old or {}, kept)
        return [] if old is None else self._frames(_signatures(old))

    def catch_up(self, known: ClientState, access: Access) -> list[str] | None:
        if self._parts is None or known.etag == _etag(self._parts):
            return []
        return None if known.rows is None else self._frames(known.rows)

    def _touched(self, mail: Mail) -> set[str]:
        """Return the ids of the panels that depend on other objects that have changed."""
        types = mail.types | ({self._place.kind.gvr} if mail.keys else set())
        kind, panels = self._place.kind, self._place.tab.panels
        return {panel_id(panel) for panel in panels if not types.isdisjoint(panel.needs(kind))}

    def _draw(
        self, access: Access, old: Mapping[str, DetailPart], kept: Mapping[str, DetailPart]
    ) -> dict[str, DetailPart]:
        found = detail(self._place, access, self.informer, self._informers, known=kept)
        if found is not None:
            self._there = True
            return {part.id: part for part in found.parts}
        seen, self._there = self._there, False
        notice = deletion_notice(self._place, self._now() if seen else None, gone=True)
        if not seen and notice.id in old:
            # Keep the notice that was sent before, including its time.
            notice = old[notice.id]
        return {**old, notice.id: notice}

    def _frames(self, had: Mapping[str, str]) -> list[str]:
        changed = [
            part for part in (self._parts or {}).values() if had.get(part.id) != part.signature
        ]
        return [frames.parts_frame(changed, self._lang)] if changed else []


def _signatures(parts: Mapping[str, DetailPart]) -> dict[str, str]:
    return {part.id: part.signature for part in parts.values()}


def _etag(parts: Mapping[str, DetailPart]) -> str:
    return etag_of(list(parts.values()))
