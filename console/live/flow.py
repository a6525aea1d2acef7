"""What waits for a client that reads too slowly, or not at all.

An ASGI application cannot see that what it sends piles up. Our server puts a `Flow` into the scope of a
socket or a request, under `extensions`, so that whoever can do without sends nothing, and whoever has a
long answer waits. It keeps `Outgoing` for each socket, which bounds what waits whatever the application
does, and `Download` for each answer that is sent bit by bit. On any other server there is no `Flow`, and
clients are taken to keep up.
"""

import asyncio
from collections.abc import Callable
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any, Protocol

from console.live.counters import counters

EXTENSION = "quarterdeck.flow"

#: Bytes that may wait in this process before the application is told, at most, and in the kernel (which
#: keeps twice what it is asked for, and else several megabytes).
BUFFER, MAX_BUFFER, KERNEL_BUFFER = 64 * 1024, 4 * 1024 * 1024, 64 * 1024
#: Seconds in which a client has to read all that waits for it.
DRAIN_SECONDS = 30.0
#: The same for an answer to a request: a browser may ask its user first where a file shall go.
DOWNLOAD_SECONDS = 120.0


def _nothing() -> None: ...


class Flow:
    """`clogged`: the client does not keep up. `on_clear` is called when it has read all that waited.
    `abort` breaks the connection, so that nobody takes for whole what is not.

    On the server's loop only.
    """

    __slots__ = ("abort", "clogged", "on_clear")

    def __init__(self) -> None:
        self.clogged = False
        self.on_clear: Callable[[], None] = _nothing
        self.abort: Callable[[], None] = _nothing

    async def clear(self) -> None:
        """Returns when the client keeps up."""
        while self.clogged:
            cleared = asyncio.Event()
            self.on_clear = cleared.set
            await cleared.wait()


def flow_of(scope: dict[str, Any]) -> Flow:
    found = (scope.get("extensions") or {}).get(EXTENSION)
    return found if isinstance(found, Flow) else Flow()


class Timer(Protocol):
    def cancel(self) -> None: ...


class Outgoing:
    """Writes to one socket's Twisted transport, which tells it, as its producer, when to stop and when
    to go on. A client that does not read loses the connection: nothing else could still reach it."""

    __slots__ = ("_call_later", "_timer", "_transport", "_waiting", "flow")

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.flow = Flow()
        self._call_later = call_later
        self._transport: Any = None
        self._timer: Timer | None = None
        self._waiting = 0

    def begin(self, transport: Any) -> None:
        """In place of the HTTP channel that the connection began with."""
        self._transport = transport
        transport.getHandle().setsockopt(SOL_SOCKET, SO_SNDBUF, KERNEL_BUFFER)
        transport.bufferSize = BUFFER
        transport.unregisterProducer()
        transport.registerProducer(self, True)

    def write(self, data: bytes) -> None:
        transport = self._transport
        # Nothing waits, as nearly always: most of what the reactor would do for it is not needed.
        if transport.connected and not (transport.dataBuffer or transport._tempDataLen):
            written = transport.writeSomeData(data)
            if written == len(data):
                return
            # An error is found again by whoever handles it.
            data = data[written:] if isinstance(written, int) else data
        transport.write(data)
        if self._timer is not None:
            self._waiting += len(data)
            if self._waiting > MAX_BUFFER:
                self._timer.cancel()
                self._cut()

    def _cut(self) -> None:
        """Too much, or for too long."""
        self._timer = None
        counters.slow_closed += 1
        self._transport.abortConnection()

    # Twisted's IPushProducer.

    def pauseProducing(self) -> None:
        if not self.flow.clogged:
            self.flow.clogged = True
            self._timer = self._call_later(DRAIN_SECONDS, self._cut)

    def resumeProducing(self) -> None:
        self.stopProducing()
        self.flow.clogged = False
        self._waiting = 0
        if self._transport.disconnecting:
            # With a producer a transport never believes that all is written.
            self._transport.unregisterProducer()
        else:
            self.flow.on_clear()

    def stopProducing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Download:
    """The producer of an answer that is sent bit by bit. A client that does not read for long loses the
    connection."""

    __slots__ = ("_call_later", "_timer", "flow")

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.flow = Flow()
        self._call_later = call_later
        self._timer: Timer | None = None

    def pauseProducing(self) -> None:
        if not self.flow.clogged:
            self.flow.clogged = True
            self._timer = self._call_later(DOWNLOAD_SECONDS, self._cut)

    def resumeProducing(self) -> None:
        self.stopProducing()
        self.flow.clogged = False
        self.flow.on_clear()

    def stopProducing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self) -> None:
        self._timer = None
        counters.slow_closed += 1
        self.flow.abort()
