"""Live views: the base class, and the view of a page that is rendered as a whole.

A `View` computes frames from changes. It uses no websocket, event loop or thread.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.utils import translation

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live import frames
from console.live.hub import ChangeSource
from console.live.mailbox import Mail
from console.ui.core.access import Access
from console.ui.core.object_source import LiveState, live_state
from console.ui.core.permissions import Denied
from console.ui.navigation.page_routes import PageRoute


@dataclass(frozen=True, slots=True)
class ClientState:
    """State of a browser's page.

    `etag` is the ETag of the last fetched page. `rows` maps the key of each row, in order, or
    the id of each part to its signature; None if unknown.
    """

    etag: str = ""
    rows: Mapping[str, str] | None = None


class View(ABC):
    """Base class of live views.

    - `informer`: informer of the displayed objects.
    - `others`: sources of the other types the page depends on.
    - `reshaped`: browsers can't be updated from the previous state and must fetch the page.
    - `retry_after`: seconds after which changes that were held back can be sent by another update,
      0 if there are none.
    - `sent_freshness`: freshness that was last sent to browsers.
    """

    def __init__(
        self, lang: str, informer: Informer[Any], others: Mapping[GVR, ChangeSource]
    ) -> None:
        self._lang = lang
        self.informer = informer
        self.others = others
        self.reshaped = False
        self.retry_after = 0.0
        self.sent_freshness = self._told_before = live_state(informer)
        self._freshness: tuple[LiveState, str] | None = None

    @property
    def synced(self) -> bool:
        return self.informer.freshness.synced

    def freshness(self) -> str:
        """Return the current freshness as a frame."""
        live = live_state(self.informer)
        if self._freshness is None or self._freshness[0] != live:
            self._freshness = live, frames.freshness_frame(live, self._lang)
        return self._freshness[1]

    def changed_freshness(self) -> list[str]:
        """Return a frame with the freshness if it changed since the last call."""
        live = live_state(self.informer)
        self._told_before, self.sent_freshness = self.sent_freshness, live
        return [self.freshness()] if live != self._told_before else []

    def reset(self) -> None:
        """Reset the state because the last frames were not sent."""
        self.sent_freshness = self._told_before

    @abstractmethod
    def client_state(self) -> ClientState:
        """Return the state of browsers that have received all frames."""

    @abstractmethod
    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        """Return the frames for browsers that have received all previous frames. Raise `Denied` if
        permission was lost.

        Set `anew` to compare even if `mail` is empty, for a browser that may have newer data.
        """

    @abstractmethod
    def catch_up(self, known: ClientState, access: Access) -> list[str] | None:
        """Return the frames for a browser with state `client_state`, or None if it must fetch the page.
        Call after `update`.
        """


#: ETag of a page that can't be shown anymore; fetching the page returns the error.
_NOTHING = "-"


class PageView(View):
    """Live view of a page that is rendered as a whole. It sends only the page's freshness and
    requests to fetch the page again.

    `others` contains the informers the page depends on besides the main one.
    """

    def __init__(
        self,
        place: PageRoute,
        lang: str,
        informer: Informer[Any],
        others: Mapping[GVR, Informer[Any]],
    ) -> None:
        super().__init__(lang, informer, others)
        self._place = place
        # ETag that browsers have; "" before the first update.
        self._etag = ""

    def client_state(self) -> ClientState:
        return ClientState(self._etag)

    def reset(self) -> None:
        super().reset()
        self._etag = ""

    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        """Set `reshaped` to True if the page's ETag changed. Always return an empty list."""
        self.reshaped = False
        if not self.synced or not (mail or anew or not self._etag):
            return []
        old = self._etag
        self._etag = self._look(access)
        self.reshaped = bool(old) and old != self._etag
        return []

    def catch_up(self, known: ClientState, access: Access) -> list[str] | None:
        return [] if known.etag == self._etag else None

    def _look(self, access: Access) -> str:
        try:
            with translation.override(self._lang):
                return self._place.etag(access)
        except (Denied, Http404):
            return _NOTHING
