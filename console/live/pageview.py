"""One open page that is drawn whole: whether browsers have what it would show now.

As `console.live.view` is for lists. What is sent is that the page shall be fetched, and how fresh it is.
"""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import translation

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live.mailbox import Mail
from console.live.view import Known, View
from console.ui.access import Access
from console.ui.decisions import Denied
from console.ui.places import PagePlace

#: Of a page that cannot be shown any more; whoever fetches it is told why.
_NOTHING = "-"


class PageView(View):
    """`others`: the informers of what the page is made of besides."""

    def __init__(
        self,
        place: PagePlace,
        lang: str,
        informer: Informer[Any],
        others: Mapping[GVR, Informer[Any]],
    ) -> None:
        super().__init__(lang, informer, others)
        self._place = place
        # Of what the browsers have: "" until it was looked at for the first time.
        self._etag = ""

    def known(self) -> Known:
        return Known(self._etag)

    def forget(self) -> None:
        super().forget()
        self._etag = ""

    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        """No frames: `reshaped` says whether the page is another one now."""
        self.reshaped = False
        if not self.synced or not (mail or anew or not self._etag):
            return []
        old = self._etag
        self._etag = self._look(access)
        self.reshaped = bool(old) and old != self._etag
        return []

    def catch_up(self, known: Known, access: Access) -> list[str] | None:
        return [] if known.etag == self._etag else None

    def _look(self, access: Access) -> str:
        try:
            with translation.override(self._lang):
                return self._place.etag(access)
        except (Denied, Http404):
            return _NOTHING
