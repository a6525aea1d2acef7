"""One open page that is drawn whole: whether browsers have what it would show now.

As `console.live.view` is for lists. What is sent is that the page shall be fetched, and how fresh it is.
"""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import translation

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live.freshnessbadge import FreshnessBadge
from console.live.mailbox import Mail
from console.live.view import Known
from console.ui.access import Access
from console.ui.decisions import Denied
from console.ui.freshness import LiveState
from console.ui.places import PagePlace

#: Of a page that cannot be shown any more; whoever fetches it is told why.
_NOTHING = "-"


class PageView:
    """`others`: the informers of what the page is made of besides."""

    def __init__(
        self,
        place: PagePlace,
        lang: str,
        informer: Informer[Any],
        others: Mapping[GVR, Informer[Any]],
    ) -> None:
        self._place = place
        self._lang = lang
        self.informer = informer
        self.others = others
        self.reshaped = False
        self._badge = FreshnessBadge(informer, lang)
        # Of what the browsers have: "" until it was looked at for the first time.
        self._etag = ""

    @property
    def synced(self) -> bool:
        return self.informer.freshness.synced

    def known(self) -> Known:
        return Known(self._etag)

    def forget(self) -> None:
        self._etag = ""
        self._badge.forget()

    def freshness(self) -> str:
        return self._badge.frame()

    @property
    def told(self) -> LiveState:
        return self._badge.told

    def freshness_news(self) -> list[str]:
        return self._badge.news()

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
