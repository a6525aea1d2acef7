"""One open page: what the browsers show of it, and which frames bring that up to date.

No socket, no clock and no thread here: a `View` is told what changed and answers with frames.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live import frames
from console.live.hub import Heard
from console.live.mailbox import Mail
from console.ui.access import Access
from console.ui.freshness import LiveState, live_state


@dataclass(frozen=True, slots=True)
class Known:
    """What a browser has. `etag`: of the page that it got last. `rows`: the signature of each row by
    its key, in the order they stand in, or of each part of a detail by its id; None if nobody knows."""

    etag: str = ""
    rows: Mapping[str, str] | None = None


class View(ABC):
    """`informer`: the one whose objects it shows; `others`: those of the types that it looks at besides.

    `reshaped`: what was shown before the last update cannot be brought up to date, so all shall fetch
    it. `told`: how fresh it is, as far as the browsers know.
    """

    def __init__(self, lang: str, informer: Informer[Any], others: Mapping[GVR, Heard]) -> None:
        self._lang = lang
        self.informer = informer
        self.others = others
        self.reshaped = False
        self.told = self._told_before = live_state(informer)
        self._freshness: tuple[LiveState, str] | None = None

    @property
    def synced(self) -> bool:
        return self.informer.freshness.synced

    def freshness(self) -> str:
        """How fresh it is, as a frame."""
        live = live_state(self.informer)
        if self._freshness is None or self._freshness[0] != live:
            self._freshness = live, frames.freshness_frame(live, self._lang)
        return self._freshness[1]

    def freshness_news(self) -> list[str]:
        """The same, if it has changed since the last call."""
        live = live_state(self.informer)
        self._told_before, self.told = self.told, live
        return [self.freshness()] if live != self._told_before else []

    def forget(self) -> None:
        """Starts over: what was answered last went to nobody."""
        self.told = self._told_before

    @abstractmethod
    def known(self) -> Known:
        """What browsers have that got all frames."""

    @abstractmethod
    def update(self, mail: Mail, access: Access, *, anew: bool = False) -> list[str]:
        """The frames for browsers that got all frames so far. Raises `Denied`.

        `anew`: looks whatever the mail says, for a browser that may have seen more than it says.
        """

    @abstractmethod
    def catch_up(self, known: Known, access: Access) -> list[str] | None:
        """After `update`: the frames for a browser that has `known`; None if it shall fetch the page."""
