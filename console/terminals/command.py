"""Run a command in a container through the exec or attach subresource, over a websocket.

The first byte of a message is its channel. The last message, on channel 3, is a Status with the
exit code. The process keeps running if the client disconnects, so a shell that is no longer
needed is stopped explicitly.

Kubernetes before 1.30 has only version 4 of the protocol, in which stdin can't be closed
separately: the command reads the end of its input when the connection is closed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from console.audit.trail import AuditEntry
from console.kube.clients import UserClient
from console.kube.errors import Unavailable
from console.kube.messages import Message
from console.kube.store import UNREADABLE
from console.kube.websocket import Websocket
from console.streams.stream import LongRunningStream, StreamEnded, StreamRequest
from console.ui.core.manifests import mappings_at, text

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
PROTOCOLS = (V5, V4)
STDIN, STDOUT, STDERR, STATUS, RESIZE = range(5)
#: Closes the channel that the next byte names. Only version 5 of the protocol has it.
_CLOSE = 255
#: Seconds between two pings. Proxies close connections that look idle.
PING = 30.0
#: Ctrl+C interrupts the running program. Ctrl+D then exits the shell. The delay is required: if
#: both are sent at the same time, the Ctrl+D is lost.
_INTERRUPT, _END, _BETWEEN = b"\x03", b"\x04", 0.3
#: Seconds that the command has to exit after Ctrl+D.
_LAST = 1.0
_MISSING = "executable file not found"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a command. `code`: exit code, None if it never ran. `missing`: the program doesn't
    exist.
    """

    code: int | None
    missing: bool = False
    message: str = ""

    def __str__(self) -> str:
        return f"exit code {self.code}" if self.code is not None else f"not run: {self.message}"


class ExecSession(LongRunningStream):
    """A running exec or attach session.

    `on_output` is awaited for each chunk of output, in order. While it runs, no more output is
    read. `on_error` receives the chunks of stderr, `on_output` by default. `ours`: the shell belongs
    to the viewer and is stopped with the session.
    """

    def __init__(
        self,
        order: StreamRequest,
        on_output: Callable[[bytes], Awaitable[None]],
        on_over: Callable[[StreamEnded], None] | None,
        *,
        on_error: Callable[[bytes], Awaitable[None]] | None = None,
        ours: bool = True,
    ) -> None:
        super().__init__(order, on_over)
        self._on_output, self._ours = on_output, ours
        self._on_error = on_error or on_output
        self._socket: Websocket | None = None
        self._typed = self._written = 0
        self.ending: CommandResult | None = None

    async def type(self, data: bytes) -> None:
        self._typed += len(data)
        await self._say(STDIN, data)

    async def resize(self, columns: int, rows: int) -> None:
        size = {"Width": columns, "Height": rows}
        await self._say(RESIZE, msgspec.json.encode(size))

    @property
    def can_end_input(self) -> bool:
        """True if the protocol of the open session can close stdin."""
        return self._socket is not None and self._socket.protocol == V5

    async def end_input(self) -> None:
        """Close stdin, so that the command reads its end. Requires `can_end_input`."""
        await self._say(_CLOSE, bytes([STDIN]))

    async def finished(self) -> Exception | None:
        """Wait for the command to end. Return the exception that interrupted it, or None."""
        if self._task is not None:
            await asyncio.wait((self._task,))
        return self._over or self._error

    async def _say(self, channel: int, data: bytes) -> None:
        """Send a message, and wait while the connection is congested. Do nothing if it is closed."""
        if self._socket is not None and not self._closing:
            await self._socket.send(_message(channel, data))

    async def _run_connection(self, client: UserClient, audit_id: str) -> None:
        order = self._order
        async with client.connect(order.path, PROTOCOLS, order.params, audit_id=audit_id) as socket:
            self._socket = socket
            self._begin()
            pinging = asyncio.create_task(_ping(socket))
            try:
                while (message := await socket.receive_bytes()) is not None:
                    await self._hear(message)
            except asyncio.CancelledError:
                await self._say_goodbye(socket)
                raise
            finally:
                pinging.cancel()
                self._socket = None
        if self.ending is None:
            raise Unavailable(Message("The Kubernetes API closed the connection"))

    async def _hear(self, message: bytes) -> None:
        channel, data = message[:1], message[1:]
        if channel in (bytes([STDOUT]), bytes([STDERR])) and data:
            self._written += len(data)
            await (self._on_output if channel == bytes([STDOUT]) else self._on_error)(data)
        elif channel == bytes([STATUS]):
            self.ending = _ending(data)

    async def _say_goodbye(self, socket: Websocket) -> None:
        if not self._ours or self.ending is not None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_BETWEEN + _LAST):
                await socket.send(_message(STDIN, _INTERRUPT))
                await asyncio.sleep(_BETWEEN)
                await socket.send(_message(STDIN, _END))
                while self.ending is None and (message := await socket.receive_bytes()) is not None:
                    if message[:1] == bytes([STATUS]):
                        self.ending = _ending(message[1:])

    def _record_outcome(self, recording: AuditEntry) -> None:
        if self.ending is not None and self.ending.code is None:
            recording.set_outcome(500, "NotRun")
        elif self.ending is not None and self.ending.code:
            recording.set_outcome(200, f"Exit {self.ending.code}")
        super()._record_outcome(recording)
        container = dict(self._order.params).get("container", "")
        about = [
            recording.message,
            f"container {container}" if container else "",
            str(self.ending or ""),
            f"{self._typed} bytes of input, {self._written} bytes of output",
        ]
        recording.message = "; ".join(filter(None, about))


async def _ping(socket: Websocket) -> None:
    while True:
        await asyncio.sleep(PING)
        await socket.ping()


def _message(channel: int, data: bytes) -> bytes:
    return bytes([channel]) + data


def _ending(data: bytes) -> CommandResult:
    try:
        status: Mapping[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except UNREADABLE:
        status = {}
    if status.get("status") == "Success":
        return CommandResult(0)
    for cause in mappings_at(status, "details", "causes"):
        code = text(cause.get("message"))
        if cause.get("reason") == "ExitCode" and code.isascii() and code.isdigit():
            return CommandResult(int(code[:9]))
    message = text(status.get("message"))
    # The text before it comes from the container runtime and contains only internal numbers.
    return CommandResult(None, _MISSING in message, message.rpartition("container process: ")[2])
