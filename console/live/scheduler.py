"""Decides when each shared view is brought up to date.

One worker per loop, and one shared view after the other: each at most once in `flush_seconds`, the one
that has waited longest first. Between two of them the loop belongs to everybody else for as long as the
last one took, so that live pages never take more than half of it; with more to do than that fits, each
shared view is brought up to date less often.
"""

import asyncio
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Protocol
from weakref import WeakKeyDictionary

from console.live.perloop import PerLoop

#: Seconds at most that the worker rests between two shared views.
MAX_REST = 0.1


class Flushed(Protocol):
    async def flush(self) -> None:
        """Never raises."""
        ...


class Scheduler:
    flush_seconds = 0.2

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Flushed]] = []
        self._asked: set[Flushed] = set()
        self._flushed: WeakKeyDictionary[Flushed, float] = WeakKeyDictionary()
        self._number = count()
        self._earlier = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    def ask(self, shared_view: Flushed) -> None:
        """`shared_view` is flushed as soon as it may be; asking again before that changes nothing."""
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
        """Until then, or until something else is due earlier."""
        self._earlier.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due):
                await self._earlier.wait()


#: The running loop's scheduler.
get_scheduler = PerLoop(Scheduler)
