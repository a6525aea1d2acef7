"""Carries news from the cluster core's thread to the shared views on the server's loop.

The only crossing between the two. On the core's thread an informer's listener marks a key under a lock
and returns; the first mark after a quiet time wakes the server's loop, however many follow. There the
keys are dealt out to the mailboxes, at most once in `GAP` seconds. The store is never read here, and
nothing is rendered.

One `Feed` per informer and loop: it listens while there is a mailbox, and ends with the last one.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Protocol

from console.kube.gvr import Key
from console.kube.informer import OnChange, OnState
from console.live.mailbox import CAPACITY, Slot
from console.live.perloop import PerLoop

#: Seconds between two deals: waking the loop for each of hundreds of changes a second would cost more
#: than all that is done with them.
GAP = 0.02


class Heard(Protocol):
    """What can be listened to: an `Informer`, or the readings of usage."""

    def add_listener(self, on_change: OnChange, on_state: OnState) -> Callable[[], None]: ...


class Feed:
    """The news of one informer for one loop. All but `_on_*` belong to the loop's thread."""

    def __init__(self, informer: Heard, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = Lock()
        # Guarded by the lock:
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._scheduled = False
        # The loop's own. Rights mailboxes hear of every change as a change of state.
        self._dealt = -GAP
        self.mailboxes: set[Slot] = set()
        self.rights_mailboxes: set[Slot] = set()
        self._remove = informer.add_listener(self._on_change, self._on_state)

    def close(self) -> None:
        self._remove()

    @property
    def idle(self) -> bool:
        return not self.mailboxes and not self.rights_mailboxes

    def _on_change(self, key: Key) -> None:
        with self._lock:
            if not self._overflow:
                self._keys.add(key)
            if len(self._keys) > CAPACITY:
                self._overflow = True
                self._keys.clear()
            self._schedule()

    def _on_state(self) -> None:
        with self._lock:
            self._state = True
            self._schedule()

    def _schedule(self) -> None:
        """With the lock held."""
        if self._scheduled:
            return
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            # The loop is closed: the process is going down, and nobody is left to tell.
            return
        self._scheduled = True

    def _wake(self) -> None:
        self._loop.call_at(max(self._loop.time(), self._dealt + GAP), self._deal)

    def _deal(self) -> None:
        self._dealt = self._loop.time()
        with self._lock:
            keys, self._keys = self._keys, set()
            overflow, state = self._overflow, self._state
            self._overflow = self._state = self._scheduled = False
        for mailbox in self.mailboxes:
            if overflow:
                mailbox.overflow()
            elif keys:
                mailbox.mark(keys)
            if state:
                mailbox.mark_state()
        for mailbox in self.rights_mailboxes:
            mailbox.mark_state()


class Hub:
    """All feeds of one loop."""

    def __init__(self) -> None:
        self._feeds: dict[Heard, Feed] = {}

    @property
    def feeds(self) -> int:
        return len(self._feeds)

    def subscribe(
        self, informer: Heard, mailbox: Slot, *, rights: bool = False
    ) -> Callable[[], None]:
        """Fills `mailbox` from now on. Returns the function that ends it; calling it twice is harmless.

        `rights`: the informer's objects say who may do what, so any change asks for a new decision.
        """
        feed = self._feeds.get(informer)
        if feed is None:
            feed = self._feeds[informer] = Feed(informer, asyncio.get_running_loop())
        members = feed.rights_mailboxes if rights else feed.mailboxes
        members.add(mailbox)

        def end() -> None:
            members.discard(mailbox)
            if feed.idle and self._feeds.get(informer) is feed:
                del self._feeds[informer]
                feed.close()

        return end


#: The running loop's hub.
get_hub = PerLoop(Hub)
