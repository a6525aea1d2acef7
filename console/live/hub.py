"""Delivers changes from the cluster runtime's thread to the shared views on the server's event
loop.

On the runtime's thread, an informer's listener adds the key to a set under a lock. The first key
after a pause wakes the event loop, which distributes all collected keys to the mailboxes, at
most once in `GAP` seconds. This module neither reads stores nor renders.

Each informer has one `Feed` per event loop, which listens while at least one mailbox is
subscribed.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Protocol

from console.kube.gvr import Key
from console.kube.informer import OnChange, OnState
from console.live.mailbox import CAPACITY, ChangeReceiver
from console.live.perloop import PerLoop

#: Minimum seconds between two deliveries. Waking the loop for each of hundreds of changes per
#: second would cost more than processing them.
GAP = 0.02


class ChangeSource(Protocol):
    """Source of change notifications: an `Informer`, or the usage readings."""

    def add_listener(self, on_change: OnChange, on_state: OnState) -> Callable[[], None]: ...


class Feed:
    """Changes of one informer for one event loop. All methods except `_on_*` run on the loop's
    thread.
    """

    def __init__(self, informer: ChangeSource, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = Lock()
        # Guarded by the lock.
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._scheduled = False
        # Only used on the loop. Rights mailboxes receive every change as a state change.
        self._dealt = -GAP
        self.mailboxes: set[ChangeReceiver] = set()
        self.rights_mailboxes: set[ChangeReceiver] = set()
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
        """Wake the event loop if it isn't scheduled yet. The caller holds the lock."""
        if self._scheduled:
            return
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            # The loop is closed because the process is shutting down.
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
    """Feeds of one event loop."""

    def __init__(self) -> None:
        self._feeds: dict[ChangeSource, Feed] = {}

    @property
    def feeds(self) -> int:
        return len(self._feeds)

    def subscribe(
        self, informer: ChangeSource, mailbox: ChangeReceiver, *, rights: bool = False
    ) -> Callable[[], None]:
        """Subscribe `mailbox` to an informer. Return an idempotent function that cancels the
        subscription.

        Set `rights` if the informer's objects determine permissions, so that any change triggers
        a new authorization.
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


#: Return the running event loop's hub.
get_hub = PerLoop(Hub)
