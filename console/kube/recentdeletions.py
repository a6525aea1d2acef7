"""The most recently deleted objects, which cannot be found in the store.

Only deletions of followed kinds are recorded. A deletion during a disconnect is recorded when
the object is missing from the next list. At most `KEPT` deletions are kept. Call `note` on the
core thread; any thread may read.
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
        """Record a deletion if the changed object no longer exists."""
        informer = self._find(gvr)
        if informer is not None and informer.store.get(key) is None:
            self._known.append(Deletion(gvr, key, self._clock.now()))

    def latest(self) -> list[Deletion]:
        """Return the deletions, newest first."""
        return list(reversed(self._known.copy()))
