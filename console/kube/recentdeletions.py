"""Which objects went away of late: the one change that objects cannot tell of themselves.

Of kinds that are followed, while they are. What went while the connection was lost is noted when it is
found to be missing. The newest `KEPT` are remembered. `note` belongs to the core's thread; any thread may
read.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from console.kube.clock import Clock
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer

KEPT = 1000


class Deletion(NamedTuple):
    gvr: GVR
    key: Key
    at: datetime


class RecentDeletions:
    def __init__(self, find: Callable[[GVR], Informer[Any] | None], clock: Clock) -> None:
        self._find = find
        self._clock = clock
        self._known: deque[Deletion] = deque(maxlen=KEPT)

    def note(self, gvr: GVR, key: Key) -> None:
        """The object changed: was that its end?"""
        informer = self._find(gvr)
        if informer is not None and informer.store.get(key) is None:
            self._known.append(Deletion(gvr, key, self._clock.now()))

    def latest(self) -> list[Deletion]:
        """The last one first."""
        return list(reversed(self._known.copy()))
