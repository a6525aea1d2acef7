"""A shell that goes on while its socket is away (ADR 17).

Promises:
- What comes and what is typed has numbers, byte by byte: whoever comes back goes on where they were, with
  nothing lost and nothing twice.
- No more than `HELD` bytes wait for a browser that has not confirmed them; then the shell is held back.
  No more than `TYPED` wait for a program that does not read.
- It is watched like any stream, whether or not anybody is there: it ends within two seconds after the
  session or the right of whoever began it.
- Nobody comes back for `AWAY` seconds: it ends.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from console.kube.gvr import Key
from console.shells.ending import take_away
from console.streams.stream import Order, Over
from console.terminals.command import Command, Ending
from console.terminals.kept import Kept
from console.terminals.query import TerminalQuery
from console.terminals.target import Target

HELD = TYPED = 128 * 1024
AWAY = 60.0
#: Bytes that are sent to the cluster in one message.
_PIECE = 16 * 1024


class Flood(Exception):
    """More is typed than is taken."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who began it, and what they asked for: whoever comes back must be and ask the same. `session`: of
    the browser; `as_user`: whose rights count."""

    account: str
    session: str
    as_user: str
    cluster: str
    key: Key
    query: TerminalQuery


class Viewer(Protocol):
    """Who has it on the screen."""

    def replaced(self) -> None:
        """Somebody else has it now."""
        ...


class Terminal:
    """`failure`: what broke it off, `ending`: how its command ended; one of them once it is `over`."""

    def __init__(
        self, owner: Owner, order: Order, target: Target, forget: Callable[["Terminal"], None]
    ) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner, self.target = owner, target
        self.output, self.typed = Kept(), Kept()
        self.failure: Exception | None = None
        #: Done when nothing of it may be shown any more.
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.over = False
        self._forget, self._order = forget, order
        order = replace(order, params=_params(owner.query, target))
        self._command = Command(order, self._hear, self._on_over, ours=target.ours)
        self._viewer: Viewer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._news, self._room, self._work = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._size: tuple[int, int] | None = None
        self._tasks: Sequence[asyncio.Task[None]] = ()

    @property
    def ending(self) -> Ending | None:
        return self._command.ending

    async def open(self) -> None:
        """Raises as `Lasting.open`."""
        await self._command.open()
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._follow())]

    # For whoever has it on the screen.

    def enter(self, viewer: Viewer) -> None:
        if self._viewer is not None:
            self._viewer.replaced()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._viewer = viewer

    def leave(self, viewer: Viewer) -> None:
        """Without a word; somebody may come back."""
        if self._viewer is viewer:
            self._viewer = None
            self._timer = asyncio.get_running_loop().call_later(AWAY, self.end)

    async def news(self) -> None:
        """Returns when anything has changed."""
        await self._news.wait()

    def confirm(self, number: int) -> bool:
        """The browser has what comes before this byte. False for what it cannot have."""
        self._room.set()
        return self.output.confirm(number)

    def type(self, data: bytes) -> None:
        """Raises `Flood`."""
        if len(self.typed) + len(data) > TYPED:
            raise Flood
        self.typed.add(data)
        self._work.set()

    def resize(self, columns: int, rows: int) -> None:
        # What has no terminal gets nothing any more once it was told a size.
        if self.target.tty:
            self._size = columns, rows
            self._work.set()

    def end(self) -> None:
        """Nobody needs it any more."""
        self._forget(self)
        self._command.close_soon()

    async def close(self) -> None:
        """The same; returns when the audit trail has the outcome."""
        self.end()
        await self._command.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake(self) -> None:
        """Something has changed."""
        self._news.set()
        self._news = asyncio.Event()

    # What comes and goes.

    async def _hear(self, data: bytes) -> None:
        self.output.add(data)
        self.wake()
        while len(self.output) >= HELD:
            self._room.clear()
            await self._room.wait()

    async def _write(self) -> None:
        attached = self.owner.query.attach
        while True:
            self._work.clear()
            if self._size is not None:
                (columns, rows), self._size = self._size, None
                if attached:
                    # Whoever runs already draws its screen when the size changes.
                    attached = False
                    await self._command.resize(columns + 1, rows)
                await self._command.resize(columns, rows)
            while piece := self.typed.since(self.typed.first, _PIECE):
                await self._command.type(piece)
                self.typed.confirm(self.typed.first + len(piece))
                self.wake()
            await self._work.wait()

    async def _follow(self) -> None:
        self.failure = await self._command.finished()
        self.over = True
        self._tasks[0].cancel()
        self.wake()
        if self.target.pod:
            await take_away(self._order, self.target.pod)

    def _on_over(self, over: Over) -> None:
        self._forget(self)
        if not self.lost.done():
            self.lost.set_exception(over)
            # It may be that nobody looks.
            self.lost.exception()
        self.wake()


def _params(query: TerminalQuery, target: Target) -> list[tuple[str, str]]:
    wanted = {"stdin": target.reads, "stdout": True, "stderr": not target.tty, "tty": target.tty}
    return [
        *([("container", target.container)] if target.container else []),
        *(("command", word) for word in query.command),
        *((name, "true") for name, asked in wanted.items() if asked),
    ]
