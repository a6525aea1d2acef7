"""A work queue, modeled on client-go's `util/workqueue`.

- Fair: first in, first out. An item that is added again goes to the end.
- Deduplicated: an item added several times before it is taken is taken once, even if it was
  delayed.
- Never concurrent: an item added while it is being processed is returned again only after
  `done`.
- Each failing item has its own exponential backoff.
- After `shut_down` no items are added. Queued items can still be taken, then `get` returns None.

All methods must be called on one event loop.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

from console.kube.clock import Backoff, Clock

T = TypeVar("T", bound=Hashable)


@dataclass(order=True, slots=True)
class _Later:
    """A delayed item. `number` preserves the order of items that are due at the same time."""

    due: float
    number: int
    item: Any = field(compare=False)


class WorkQueue(Generic[T]):
    def __init__(self, *, clock: Clock, first_delay: float = 0.005, limit: float = 1000.0) -> None:
        self._clock = clock
        self._queue: deque[T] = deque()
        # Items that need processing: queued, or added again while being processed.
        self._dirty: set[T] = set()
        # Items that were taken and for which `done` was not called yet.
        self._processing: set[T] = set()
        self._backoffs: dict[T, Backoff] = {}
        self._first_delay, self._limit = first_delay, limit
        # Heap of delayed items, earliest first, and the due time of each. A heap entry with another
        # due time was replaced with an earlier one.
        self._later: list[_Later] = []
        self._due: dict[T, float] = {}
        self._numbers = count()
        self._timer: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def retrying(self) -> int:
        """Return the number of items whose last attempt failed."""
        return len(self._backoffs)

    def add(self, item: T) -> None:
        if self._closed or item in self._dirty:
            return
        self._dirty.add(item)
        if item not in self._processing:
            self._queue.append(item)
            self._wake.set()

    def add_after(self, item: T, seconds: float) -> None:
        """Add the item after `seconds`. If it is already delayed, the earlier time counts."""
        if seconds <= 0:
            self.add(item)
            return
        due = self._clock.monotonic() + seconds
        if self._closed or self._due.get(item, due + 1) <= due:
            return
        self._due[item] = due
        heapq.heappush(self._later, _Later(due, next(self._numbers), item))
        if self._later[0].due == due:
            self._restart_timer()

    def add_rate_limited(self, item: T) -> float:
        """Add the item after its backoff delay (5 ms to 1,000 s). Return the delay in seconds."""
        backoff = self._backoffs.setdefault(item, Backoff(self._first_delay, self._limit))
        delay = backoff.next()
        self.add_after(item, delay)
        return delay

    def forget(self, item: T) -> None:
        """Reset the item's backoff after a success."""
        self._backoffs.pop(item, None)

    async def get(self) -> T | None:
        """Return the next item, or None if the queue is shut down and empty. Call `done` for each
        item.
        """
        while not self._queue:
            if self._closed:
                return None
            self._wake.clear()
            await self._wake.wait()
        item = self._queue.popleft()
        self._processing.add(item)
        self._dirty.discard(item)
        return item

    def done(self, item: T) -> None:
        self._processing.discard(item)
        if item in self._dirty:
            self._queue.append(item)
            self._wake.set()

    def shut_down(self) -> None:
        """Stop the queue. May be called more than once."""
        self._closed = True
        self._later.clear()
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._wake.set()

    def _restart_timer(self) -> None:
        """Restart the timer, which waits for the earliest item."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.ensure_future(self._add_due())

    async def _add_due(self) -> None:
        while self._later:
            wait = self._later[0].due - self._clock.monotonic()
            if wait > 0:
                await self._clock.sleep(wait)
                continue
            first = heapq.heappop(self._later)
            if self._due.get(first.item) == first.due:
                del self._due[first.item]
                self.add(first.item)
