"""Several logs that are followed, as one: batches of picked lines, in the order of their moments as far
as they come together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from console.logs.following import Batch, Follower, Note, Position
from console.logs.lines import TURN
from console.logs.picking import Entry, Picked, Picker
from console.logs.query import LogQuery
from console.streams.signal import Signal

#: Seconds in which lines are gathered, and lines that are handed on at once, about.
GATHER, MOST_LINES = 0.025, 1000
#: Batches that wait; each is of no more than is read at once of a stream.
WAITING = 2


@dataclass(slots=True)
class Sent:
    """`positions`: of the sources whose lines these are, for whoever comes back after a cut."""

    picked: list[Picked] = field(default_factory=list)
    notes: list[tuple[int, Note]] = field(default_factory=list)
    positions: dict[int, Position] = field(default_factory=dict)


class Feed:
    """`failed` is set to what ends it, also while nobody asks for more."""

    def __init__(self, query: LogQuery) -> None:
        self._picker = Picker(query)
        self._waiting: list[tuple[int, Batch | Note]] = []
        self._came, self._room = Signal(), asyncio.Semaphore(WAITING)
        self._tasks: dict[asyncio.Task[None], int] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def fail(self, error: Exception) -> None:
        """The first word counts."""
        if not self.failed.done():
            self.failed.set_exception(error)
            self._came.set()

    def follow(self, number: int, follower: Follower) -> None:
        """From now on, as the source of this number."""
        task = asyncio.create_task(self._follow(number, follower))
        self._tasks[task] = number
        task.add_done_callback(self._tasks.pop)

    def follows(self, number: int) -> bool:
        """False for a source of which nothing more comes."""
        return number in self._tasks.values()

    async def next(self) -> Sent:
        """Whoever does not ask for more holds them all back. Raises what `failed` is set to."""
        sent, entries = Sent(), list[Entry]()
        while not self._waiting and not self.failed.done():
            await self._came.next()
        self._check()
        self._take(sent, entries)
        await asyncio.sleep(GATHER)
        # What follows a note comes with the next.
        while self._waiting and not sent.notes and len(entries) < MOST_LINES:
            self._take(sent, entries)
            # Whoever waits for room has more.
            await asyncio.sleep(0)
        entries.sort(key=lambda entry: entry.line.stamp)
        for number, entry in enumerate(entries, 1):
            if number % TURN == 0:
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
            # It may be that nobody asked.
            self.failed.exception()

    async def _follow(self, number: int, follower: Follower) -> None:
        try:
            async with aclosing(follower.events()) as events:
                async for event in events:
                    await self._room.acquire()
                    self._waiting.append((number, event))
                    self._came.set()
        except Exception as error:  # noqa: BLE001  whoever waits for `failed` is told
            self.fail(error)

    def _take(self, sent: Sent, entries: list[Entry]) -> None:
        number, event = self._waiting.pop(0)
        self._room.release()
        if isinstance(event, Note):
            sent.notes.append((number, event))
        else:
            entries += [Entry(number, line, level) for line, level in event.lines]
            sent.positions[number] = event.position


@asynccontextmanager
async def feeding(query: LogQuery) -> AsyncIterator[Feed]:
    feed = Feed(query)
    try:
        yield feed
    finally:
        await feed.close()
