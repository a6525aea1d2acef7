"""A shell that keeps running while its websocket is disconnected (ADR 17).

Guarantees:

- Output and input bytes are numbered, so a reconnecting browser resumes without lost or
  duplicate bytes.
- At most `MAX_UNACKNOWLEDGED` bytes of output wait for acknowledgment by the browser; then
  reading from the shell pauses. At most `MAX_QUEUED_INPUT` bytes of input wait for a program that
  doesn't read.
- Permissions are checked as for any stream, even while no browser is connected. The shell stops
  within two seconds after its user's session or permission ends.
- The shell stops if no browser reconnects for `RECONNECT_SECONDS` seconds.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hmac import compare_digest
from typing import Protocol

from django.utils.translation import gettext as _

from console.kube.gvr import Key
from console.live.perloop import PerLoop
from console.streams.memory_quota import QuotaExceeded
from console.streams.stream import StreamEnded, StreamRequest
from console.terminals.command import CommandResult, ExecSession
from console.terminals.query import TerminalQuery
from console.terminals.shell_pods import delete_shell_pod
from console.terminals.target import TerminalTarget


class ReplayBuffer:
    """Bytes `first` to `end` of a stream."""

    def __init__(self) -> None:
        self.first = 0
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data)

    @property
    def end(self) -> int:
        return self.first + len(self._data)

    def add(self, data: bytes) -> None:
        self._data += data

    def confirm(self, end: int) -> bool:
        """Discard the bytes before `end`. Return False if the stream is shorter than that."""
        if end > self.end:
            return False
        if end > self.first:
            del self._data[: end - self.first]
            self.first = end
        return True

    def read_from(self, number: int, most: int) -> bytes:
        """Return up to `most` bytes from offset `number`."""
        at = max(0, number - self.first)
        return bytes(self._data[at : at + most])


MAX_UNACKNOWLEDGED = MAX_QUEUED_INPUT = 128 * 1024
RECONNECT_SECONDS = 60.0
#: Maximum bytes in one message to the cluster.
_PIECE = 16 * 1024


class InputBufferFull(Exception):
    """Raised if the input buffer is full."""


@dataclass(frozen=True, slots=True)
class TerminalOwner:
    """The user who opened the terminal, and the request. Only an identical owner can resume it.

    `session`: the browser's session. `as_user`: the user whose permissions apply.
    """

    account: str
    session: str
    as_user: str
    cluster: str
    key: Key
    query: TerminalQuery


class TerminalViewer(Protocol):
    """The socket that displays the terminal."""

    def replaced(self) -> None:
        """Called when another socket takes over the terminal."""
        ...


class Terminal:
    """A shell with its buffers.

    Once it is `over`, either `failure` (the exception that interrupted it) or `ending` (the
    result of the command) is set.
    """

    def __init__(
        self,
        owner: TerminalOwner,
        order: StreamRequest,
        target: TerminalTarget,
        forget: Callable[["Terminal"], None],
    ) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner, self.target = owner, target
        self.output, self.typed = ReplayBuffer(), ReplayBuffer()
        self.failure: Exception | None = None
        #: Receives an exception when the output must no longer be shown.
        self.access_lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.over = False
        self._forget, self._order = forget, order
        order = replace(order, params=_params(owner.query, target))
        self._command = ExecSession(
            order, self._hear, self._on_over, ours=target.is_interactive_shell
        )
        self._viewer: TerminalViewer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._news, self._room, self._work = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._size: tuple[int, int] | None = None
        self._tasks: Sequence[asyncio.Task[None]] = ()

    @property
    def ending(self) -> CommandResult | None:
        return self._command.ending

    async def open(self) -> None:
        """Start the command. Raises the same exceptions as `Lasting.open`."""
        await self._command.open()
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._follow())]

    # Called by the socket

    def enter(self, viewer: TerminalViewer) -> None:
        if self._viewer is not None:
            self._viewer.replaced()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._viewer = viewer

    def leave(self, viewer: TerminalViewer) -> None:
        """Detach the viewer, and stop the shell later if no viewer returns."""
        if self._viewer is viewer:
            self._viewer = None
            self._timer = asyncio.get_running_loop().call_later(RECONNECT_SECONDS, self.end)

    async def changed(self) -> None:
        """Return after the next change."""
        await self._news.wait()

    def confirm(self, number: int) -> bool:
        """Discard output before byte `number`, which the browser acknowledged. Return False for an
        invalid number.
        """
        self._room.set()
        return self.output.confirm(number)

    def type(self, data: bytes) -> None:
        """Queue input. Raise `InputBufferFull` if the buffer is full."""
        if len(self.typed) + len(data) > MAX_QUEUED_INPUT:
            raise InputBufferFull
        self.typed.add(data)
        self._work.set()

    def resize(self, columns: int, rows: int) -> None:
        # A process without a TTY receives no more input after a resize message.
        if self.target.tty:
            self._size = columns, rows
            self._work.set()

    def end(self) -> None:
        """Stop the shell without waiting."""
        self._forget(self)
        self._command.close_soon()

    async def close(self) -> None:
        """Stop the shell, and return when the audit log has the outcome."""
        self.end()
        await self._command.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake(self) -> None:
        """Notify tasks that wait for `changed`."""
        self._news.set()
        self._news = asyncio.Event()

    # Input and output

    async def _hear(self, data: bytes) -> None:
        self.output.add(data)
        self.wake()
        while len(self.output) >= MAX_UNACKNOWLEDGED:
            self._room.clear()
            await self._room.wait()

    async def _write(self) -> None:
        attached = self.owner.query.attach
        while True:
            self._work.clear()
            if self._size is not None:
                (columns, rows), self._size = self._size, None
                if attached:
                    # A running program redraws its screen only if the size changes.
                    attached = False
                    await self._command.resize(columns + 1, rows)
                await self._command.resize(columns, rows)
            while piece := self.typed.read_from(self.typed.first, _PIECE):
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
            await delete_shell_pod(self._order, self.target.pod)

    def _on_over(self, over: StreamEnded) -> None:
        self._forget(self)
        if not self.access_lost.done():
            self.access_lost.set_exception(over)
            # Retrieve the exception: asyncio warns if no socket did.
            self.access_lost.exception()
        self.wake()


#: Maximum number of terminals per account, and in total.
MAX_PER_ACCOUNT, MAX_TERMINALS = 20, 400


class TerminalRegistry:
    """Open terminals of this process, for one event loop."""

    def __init__(self) -> None:
        self._held: dict[str, Terminal] = {}

    def find(self, number: str, owner: TerminalOwner) -> Terminal | None:
        """Return the terminal with ID `number` if it belongs to `owner`."""
        found = self._held.get(number)
        if found is None or not compare_digest(found.id, number) or found.owner != owner:
            return None
        return found

    def add(self, terminal: Terminal) -> None:
        """Register a terminal. Raise `QuotaExceeded` if a limit is reached."""
        accounts = Counter(one.owner.account for one in self._held.values())
        if len(self._held) >= MAX_TERMINALS or accounts[terminal.owner.account] >= MAX_PER_ACCOUNT:
            raise QuotaExceeded(_("Too many terminals are open. Close some of them."))
        self._held[terminal.id] = terminal

    def forget(self, terminal: Terminal) -> None:
        self._held.pop(terminal.id, None)

    def __len__(self) -> int:
        return len(self._held)

    async def close(self) -> None:
        """Close all terminals."""
        await asyncio.gather(*(one.close() for one in [*self._held.values()]))


#: Returns the registry of the running event loop.
get_terminals = PerLoop(TerminalRegistry)


def _params(query: TerminalQuery, target: TerminalTarget) -> list[tuple[str, str]]:
    wanted = {"stdin": target.reads, "stdout": True, "stderr": not target.tty, "tty": target.tty}
    return [
        *([("container", target.container)] if target.container else []),
        *(("command", word) for word in query.command),
        *((name, "true") for name, asked in wanted.items() if asked),
    ]
