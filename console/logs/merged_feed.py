"""Merge several followed logs into one stream of filtered lines.

Lines that arrive at about the same time are ordered by their timestamps.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from console.logs.filtering import LineFilter, LogEntry, SelectedLine
from console.logs.following import FollowedLines, Follower, FollowNote, LogPosition
from console.logs.lines import YIELD_AFTER_LINES
from console.logs.query import LogQuery
from console.streams.stream import SingleWaiterEvent

#: Seconds for which lines are collected, and the approximate number of lines in one batch.
COLLECT_SECONDS, MOST_LINES = 0.025, 1000
#: Number of batches that may wait. Each holds at most one read of a stream.
MAX_WAITING_BATCHES = 2


@dataclass(slots=True)
class FeedBatch:
    """A batch for the browser. `positions`: the resume position of each source that has lines in
    the batch.
    """

    picked: list[SelectedLine] = field(default_factory=list)
    notes: list[tuple[int, FollowNote]] = field(default_factory=list)
    positions: dict[int, LogPosition] = field(default_factory=dict)


class Feed:
    """Follows several logs. `failed` receives the exception that stops the feed, even if no caller
    waits.
    """

    def __init__(self, query: LogQuery) -> None:
        self._picker = LineFilter(query)
        self._waiting: list[tuple[int, FollowedLines | FollowNote]] = []
        self._came, self._room = SingleWaiterEvent(), asyncio.Semaphore(MAX_WAITING_BATCHES)
        self._tasks: dict[asyncio.Task[None], int] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def fail(self, error: Exception) -> None:
        """Stop the feed with `error`. Later errors are ignored."""
        if not self.failed.done():
            self.failed.set_exception(error)
            self._came.set()

    def follow(self, number: int, follower: Follower) -> None:
        """Start to follow a log as source `number`."""
        task = asyncio.create_task(self._follow(number, follower))
        self._tasks[task] = number
        task.add_done_callback(self._tasks.pop)

    def follows(self, number: int) -> bool:
        """Return False if source `number` has ended."""
        return number in self._tasks.values()

    async def next(self) -> FeedBatch:
        """Return the next batch, or raise the exception in `failed`.

        The feed buffers only a few batches, so a slow caller stops reading from the cluster.
        """
        sent, entries = FeedBatch(), list[LogEntry]()
        while not self._waiting and not self.failed.done():
            await self._came.wait()
        self._check()
        self._take(sent, entries)
        await asyncio.sleep(COLLECT_SECONDS)
        # Lines after a note belong to the next batch.
        while self._waiting and not sent.notes and len(entries) < MOST_LINES:
            self._take(sent, entries)
            # Let followers that wait for buffer space add their next batch.
            await asyncio.sleep(0)
        entries.sort(key=lambda entry: entry.line.stamp)
        for number, entry in enumerate(entries, 1):
            if number % YIELD_AFTER_LINES == 0:
                await asyncio.sleep(0)
            sent.picked += self._picker.next(entry)
        self._check()
        return sent

    def _check(self) -> None:
        if self.failed.done():
            self.failed.result()

    async def close(self) -> None:
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.failed.done():
            # Retrieve the exception: asyncio warns if no caller did.
            self.failed.exception()

    async def _follow(self, number: int, follower: Follower) -> None:
        async def emit(event: FollowedLines | FollowNote) -> None:
            await self._room.acquire()
            self._waiting.append((number, event))
            self._came.set()

        try:
            await follower.run(emit)
        except Exception as error:  # noqa: BLE001  whoever waits for `failed` is told
            self.fail(error)

    def _take(self, sent: FeedBatch, entries: list[LogEntry]) -> None:
        number, event = self._waiting.pop(0)
        self._room.release()
        if isinstance(event, FollowNote):
            sent.notes.append((number, event))
        else:
            entries += [LogEntry(number, line, level) for line, level in event.lines]
            sent.positions[number] = event.position


@asynccontextmanager
async def feeding(query: LogQuery) -> AsyncIterator[Feed]:
    feed = Feed(query)
    try:
        yield feed
    finally:
        await feed.close()
