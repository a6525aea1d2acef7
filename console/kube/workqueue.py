"""A queue of things to look at, after client-go's `util/workqueue`.

Promises:
- Fair: first come, first served.
- Stingy: an item added many times before it is taken is taken once.
- Never concurrent: an item added while it is being worked on is taken again only after `done`.
- `shut_down` lets what is queued be taken, then every `get` returns None.

All calls belong to one event loop; `add` may come from another thread through `add_threadsafe`.
"""

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from console.kube.clock import Clock
from console.kube.ratelimit import Backoff

T = TypeVar("T", bound=Hashable)


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
        self._later: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._closed = False
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, item: T) -> None:
        if self._closed or item in self._dirty:
            return
        self._dirty.add(item)
        if item not in self._processing:
            self._queue.append(item)
            self._wake.set()

    def add_threadsafe(self, item: T) -> None:
        self._loop.call_soon_threadsafe(self.add, item)

    def add_after(self, item: T, seconds: float) -> None:
        """Adds it once that time has passed."""
        task = asyncio.ensure_future(self._add_later(item, seconds))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

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
        self._closed = True
        for task in self._later:
            task.cancel()
        self._wake.set()

    async def _add_later(self, item: T, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self.add(item)
