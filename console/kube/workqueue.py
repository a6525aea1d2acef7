"""A queue of things to look at, after client-go's `util/workqueue`.

Promises:
- Fair: first come, first served, and an item that comes again stands behind those that wait.
- Stingy: an item added many times before it is taken is taken once, also if it is added for later.
- Never concurrent: an item added while it is being worked on is taken again only after `done`.
- An item that fails waits its own doubling delay, whatever the others do.
- `shut_down` takes nothing new and lets what is queued be taken, then every `get` returns None.

All calls belong to one event loop.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

from console.kube.clock import Clock
from console.kube.ratelimit import Backoff

T = TypeVar("T", bound=Hashable)


@dataclass(order=True, slots=True)
class _Later:
    """An item for later. `number` keeps the order of those that are due together."""

    due: float
    number: int
    item: Any = field(compare=False)


class WorkQueue(Generic[T]):
    def __init__(self, *, clock: Clock, first_delay: float = 0.005, limit: float = 1000.0) -> None:
        self._clock = clock
        self._queue: deque[T] = deque()
        # Every item that needs work: in the queue, or added again while being worked on.
        self._dirty: set[T] = set()
        # Every item that somebody has taken and not called `done` for.
        self._processing: set[T] = set()
        self._backoffs: dict[T, Backoff] = {}
        self._first_delay, self._limit = first_delay, limit
        # The items for later, those that are due first in front, and when each is due: an entry of the
        # heap that says otherwise was overtaken by an earlier one.
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
        """Items whose last try failed."""
        return len(self._backoffs)

    def add(self, item: T) -> None:
        if self._closed or item in self._dirty:
            return
        self._dirty.add(item)
        if item not in self._processing:
            self._queue.append(item)
            self._wake.set()

    def add_after(self, item: T, seconds: float) -> None:
        """Adds it once that time has passed; of several times for one item the earliest counts."""
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
        """Adds it after its own doubling delay (5 ms to 1,000 s) and returns that delay in seconds."""
        backoff = self._backoffs.setdefault(item, Backoff(self._first_delay, self._limit))
        delay = backoff.next()
        self.add_after(item, delay)
        return delay

    def forget(self, item: T) -> None:
        """It went well: its next failure waits the shortest delay again."""
        self._backoffs.pop(item, None)

    async def get(self) -> T | None:
        """The next item, or None when the queue is shut down and empty. Call `done` for each."""
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
        """Calling it twice is harmless."""
        self._closed = True
        self._later.clear()
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._wake.set()

    def _restart_timer(self) -> None:
        """One timer for all, which waits for the first of them."""
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
