"""The line of those whose passwords are to be checked: fair, and as long as they may have to wait.

A check takes a core for a twentieth of a second, so hundreds at once have to wait for each other. Whoever
comes waits up to `PATIENCE`, and has their turn with those of other addresses, and of other names of the
same address: a thousand guesses of one machine, or at one name, cost everybody else one turn. Where more
than `MOST` wait, it is the last of the address with most that is turned away.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

#: Seconds that somebody waits, and how many may.
PATIENCE, MOST = 60.0, 2_000


class TooBusy(Exception):
    """More passwords are being checked than this process can check soon."""


class _Waiting:
    """Those of one address, by name."""

    def __init__(self) -> None:
        self.count = 0
        self._of: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def add(self, name: str, turn: "asyncio.Future[None]") -> None:
        self._of.setdefault(name, deque()).append(turn)
        self.count += 1

    def next(self) -> "asyncio.Future[None]":
        name, turns = self._of.popitem(last=False)
        return self._take(name, turns, turns.popleft())

    def last(self) -> "asyncio.Future[None]":
        """Of the name that most wait for."""
        name = max(self._of, key=lambda one: len(self._of[one]))
        turns = self._of.pop(name)
        return self._take(name, turns, turns.pop())

    def _take(
        self, name: str, left: "deque[asyncio.Future[None]]", turn: "asyncio.Future[None]"
    ) -> "asyncio.Future[None]":
        self.count -= 1
        if left:
            self._of[name] = left
        return turn


class Line:
    """`places`: how many are served at once. On one loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._count = 0
        self._of: OrderedDict[str, _Waiting] = OrderedDict()

    @asynccontextmanager
    async def turn(self, address: str, name: str) -> AsyncIterator[None]:
        """Raises `TooBusy`."""
        await self._wait(address, name)
        try:
            yield
        finally:
            self._free += 1
            self._serve()

    async def _wait(self, address: str, name: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of.setdefault(address, _Waiting()).add(name, turn)
        self._count += 1
        self._serve()
        if self._count > MOST:
            self._turn_away()
        try:
            async with asyncio.timeout(PATIENCE):
                await turn
        except TimeoutError:
            self._left(turn)
            raise TooBusy from None
        except asyncio.CancelledError:
            self._left(turn)
            raise

    def _left(self, turn: "asyncio.Future[None]") -> None:
        """Whoever waited is not there any more, and may have been called just before."""
        if turn.done() and not turn.cancelled() and turn.exception() is None:
            self._free += 1
            self._serve()

    def _serve(self) -> None:
        while self._free > 0 and self._of:
            address, waiting = self._of.popitem(last=False)
            turn = waiting.next()
            self._count -= 1
            if waiting.count:
                self._of[address] = waiting
            # Whoever has gone meanwhile is passed over.
            if not turn.done():
                turn.set_result(None)
                self._free -= 1

    def _turn_away(self) -> None:
        address = max(self._of, key=lambda one: self._of[one].count)
        waiting = self._of[address]
        turn = waiting.last()
        self._count -= 1
        if not waiting.count:
            del self._of[address]
        if not turn.done():
            turn.set_exception(TooBusy())


#: Futures belong to a loop.
_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, Line] = WeakKeyDictionary()


def line(places: int) -> Line:
    """That of the running loop."""
    loop = asyncio.get_running_loop()
    found = _lines.get(loop)
    if found is None:
        found = _lines[loop] = Line(places)
    return found
