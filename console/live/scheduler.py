"""Schedules the updates of shared views.

One worker per event loop updates one shared view after another, in the order of their due times,
and each view at most once in `flush_seconds`. After each update the worker sleeps as long as the
update took, so live pages use at most half of the loop's time. Under load, each view is updated
less often.
"""

import asyncio
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Protocol
from weakref import WeakKeyDictionary

from console.live.perloop import PerLoop

#: Maximum seconds that the worker sleeps between two updates.
MAX_REST = 0.1


class Flushable(Protocol):
    async def flush(self) -> None:
        """Update the view. Must not raise exceptions."""
        ...


class Scheduler:
    flush_seconds = 0.2

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Flushable]] = []
        self._asked: set[Flushable] = set()
        self._flushed: WeakKeyDictionary[Flushable, float] = WeakKeyDictionary()
        self._number = count()
        self._earlier = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    def schedule(self, shared_view: Flushable) -> None:
        """Schedule an update of `shared_view`. Has no effect if an update is already scheduled."""
        if shared_view in self._asked:
            return
        self._asked.add(shared_view)
        now = asyncio.get_running_loop().time()
        due = max(now, self._flushed.get(shared_view, -self.flush_seconds) + self.flush_seconds)
        heappush(self._due, (due, next(self._number), shared_view))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        elif self._due[0][2] is shared_view:
            self._earlier.set()

    async def _work(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._due:
                due, _, shared_view = self._due[0]
                began = clock()
                if due > began:
                    await self._wait(due)
                    continue
                heappop(self._due)
                self._asked.discard(shared_view)
                self._flushed[shared_view] = began
                await shared_view.flush()
                await asyncio.sleep(min(clock() - began, MAX_REST))
        finally:
            self._worker = None

    async def _wait(self, due: float) -> None:
        """Wait until the due time, or until another view becomes due earlier."""
        self._earlier.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due):
                await self._earlier.wait()


#: Return the running event loop's scheduler.
get_scheduler = PerLoop(Scheduler)
