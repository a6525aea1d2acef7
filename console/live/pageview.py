"""Live view of a page that is rendered as a whole.

Sends only the page's freshness and requests to fetch the page again.
"""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import translation

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live.mailbox import Mail
from console.live.view import ClientState, View
from console.ui.core.access import Access
from console.ui.core.permissions import Denied
from console.ui.navigation.page_routes import PageRoute

#: ETag of a page that can't be shown anymore; fetching the page returns the error.
_NOTHING = "-"


class PageView(View):
    """Live view of a page that is rendered as a whole. `others` contains the informers the page
    depends on besides the main one.
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
