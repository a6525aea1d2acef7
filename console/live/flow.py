"""Flow control for clients that read slowly or not at all.

ASGI applications can't see that sent data is queued. Our server therefore puts a `Flow` into the
scope of each websocket and request, under `extensions`: senders of optional data skip sending,
and senders of long responses wait. `WebsocketBuffer` limits the queue of a websocket independently of
the application; `Download` does the same for a streamed response. Other servers provide no
`Flow`, and clients are assumed to keep up.
"""

import asyncio
from collections.abc import Callable
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any, Protocol

from console.live.counters import counters

EXTENSION = "quarterdeck.flow"

#: Queue sizes in bytes: the size at which the application is notified, the maximum, and the
#: kernel's send buffer. The kernel doubles the requested size, and its default is several
#: megabytes.
BUFFER, MAX_BUFFER, KERNEL_BUFFER = 64 * 1024, 4 * 1024 * 1024, 64 * 1024
#: Seconds that a websocket client has to read all queued data.
DRAIN_SECONDS = 30.0
#: Same limit for a streamed response. A browser may first ask the user where to save the file.
DOWNLOAD_SECONDS = 120.0


def _nothing() -> None: ...


class Flow:
    """Flow control state of a connection. Use it only on the server's event loop.

    - `clogged`: the client does not keep up.
    - `on_clear`: called when the client has read all queued data.
    - `abort`: closes the connection, so that an incomplete response is not mistaken for a
      complete one.
    """

    __slots__ = ("abort", "clogged", "on_clear")

    def __init__(self) -> None:
        self.clogged = False
        self.on_clear: Callable[[], None] = _nothing
        self.abort: Callable[[], None] = _nothing

    async def wait_clear(self) -> None:
        """Wait until the client keeps up."""
        while self.clogged:
            cleared = asyncio.Event()
            self.on_clear = cleared.set
            await cleared.wait()


def flow_of(scope: dict[str, Any]) -> Flow:
    found = (scope.get("extensions") or {}).get(EXTENSION)
    return found if isinstance(found, Flow) else Flow()


class Timer(Protocol):
    def cancel(self) -> None: ...


class _PushProducer:
    """Twisted's push producer of a connection, which aborts the connection of a client that does not
    read.
    """

    __slots__ = ("_call_later", "_timer", "flow")

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.flow = Flow()
        self._call_later = call_later
        self._timer: Timer | None = None

    def _patience(self) -> float:
        """Return the seconds that the client has to read all queued data."""
        raise NotImplementedError

    def _abort(self) -> None:
        self.flow.abort()

    def _cut(self) -> None:
        """Abort the connection because too much data is queued or was queued for too long."""
        self._timer = None
        counters.slow_closed += 1
        self._abort()

    # Twisted's IPushProducer interface.

    def pauseProducing(self) -> None:
        if not self.flow.clogged:
            self.flow.clogged = True
            self._timer = self._call_later(self._patience(), self._cut)

    def resumeProducing(self) -> None:
        self.stopProducing()
        self.flow.clogged = False
        self.flow.on_clear()

    def stopProducing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class WebsocketBuffer(_PushProducer):
    """Writes to a websocket's Twisted transport and acts as its push producer."""

    __slots__ = ("_transport", "_waiting")

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Timer]) -> None:
        super().__init__(call_later)
        self._transport: Any = None
        self._waiting = 0

    def _patience(self) -> float:
        return DRAIN_SECONDS

    def _abort(self) -> None:
        self._transport.abortConnection()

    def begin(self, transport: Any) -> None:
        """Replace the HTTP channel as the transport's producer."""
        self._transport = transport
        transport.getHandle().setsockopt(SOL_SOCKET, SO_SNDBUF, KERNEL_BUFFER)
        transport.bufferSize = BUFFER
        transport.unregisterProducer()
        transport.registerProducer(self, True)

    def write(self, data: bytes) -> None:
        transport = self._transport
        # Usually the queue is empty. Writing directly then avoids most of the reactor's overhead.
        if transport.connected and not (transport.dataBuffer or transport._tempDataLen):
            written = transport.writeSomeData(data)
            if written == len(data):
                return
            # Transport.write handles the error again.
            data = data[written:] if isinstance(written, int) else data
        transport.write(data)
        if self._timer is not None:
            self._waiting += len(data)
            if self._waiting > MAX_BUFFER:
                self._timer.cancel()
                self._cut()

    def resumeProducing(self) -> None:
        self._waiting = 0
        if self._transport.disconnecting:
            self.stopProducing()
            self.flow.clogged = False
            # A transport with a registered producer does not finish closing.
            self._transport.unregisterProducer()
        else:
            super().resumeProducing()


class Download(_PushProducer):
    """Push producer of a streamed response."""

    __slots__ = ()

    def _patience(self) -> float:
        return DOWNLOAD_SECONDS
