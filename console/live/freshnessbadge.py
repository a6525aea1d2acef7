"""How fresh an open page is, as its browsers know it."""

from typing import Any

from console.kube.informer import Informer
from console.live import frames
from console.ui.freshness import LiveState, live_state


class FreshnessBadge:
    """`told`: what browsers have."""

    def __init__(self, informer: Informer[Any], lang: str) -> None:
        self._informer = informer
        self._lang = lang
        self.told = self._before = live_state(informer)
        self._drawn: tuple[LiveState, str] | None = None

    def frame(self) -> str:
        live = live_state(self._informer)
        if self._drawn is None or self._drawn[0] != live:
            self._drawn = live, frames.freshness_frame(live, self._lang)
        return self._drawn[1]

    def forget(self) -> None:
        """The last news went to nobody."""
        self.told = self._before

    def news(self) -> list[str]:
        """The frame, if it has changed since the last call."""
        live = live_state(self._informer)
        self._before, self.told = self.told, live
        return [self.frame()] if live != self._before else []
