"""Connections of clients that switch their protocol (`console.gateway.upgrading`).

ASGI has no such connections. The request is answered with the bytes of a response, and then its
HTTP channel is replaced as the transport's protocol, as Daphne does for websockets.
"""

# mypy: disallow-untyped-calls=False
import asyncio
from collections.abc import Callable
from typing import Any

# Imported first because Daphne selects Twisted's reactor, which must happen before any other import
# of it.
from daphne import server as daphne_server  # isort: skip
from twisted.internet.protocol import Protocol, connectionDone
from twisted.protocols.policies import ProtocolWrapper
from twisted.python.failure import Failure

from console.kube.rawconnection import ByteStream

#: Seconds that a client has to read the remaining data after the other end was closed.
CLOSE_SECONDS = 30.0


class RawClientConnection(Protocol):
    """The client's end of a connection. Implements `console.kube.rawconnection.ByteStream`, and
    Twisted's interface `IPushProducer`.

    `on_lost` is called when the connection is closed. Reading is paused until `join`.
    """

    transport: Any

    def __init__(self, received: bytes, on_lost: Callable[[Failure], None]) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_event_loop().create_future()
        self._received, self._on_lost = received, on_lost
        self._other: ByteStream | None = None
        self._closing: Any = None

    def begin(self, transport: Any) -> None:
        """Replace the HTTP channel, which is the transport's protocol and producer."""
        transport.unregisterProducer()
        if isinstance(transport, ProtocolWrapper):
            # TLS
            transport.wrappedProtocol = self  # type: ignore[assignment]
        else:
            transport.protocol = self
        self.makeConnection(transport)
        transport.pauseProducing()
        transport.registerProducer(self, True)

    # Twisted's interface

    def dataReceived(self, data: bytes) -> None:
        if self._other is not None:
            self._other.write(data)
        else:
            self._received += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self._closing is not None and self._closing.active():
            self._closing.cancel()
        if not self.closed.done():
            self.closed.set_result(None)
        if self._other is not None:
            self._other.close()
        self._on_lost(reason)

    def pauseProducing(self) -> None:
        if self._other is not None:
            self._other.pause_reading()

    def resumeProducing(self) -> None:
        if self._other is not None:
            self._other.resume_reading()

    def stopProducing(self) -> None: ...

    # ByteStream

    def join(self, other: ByteStream) -> None:
        self._other = other
        if self._received:
            other.write(self._received)
            self._received = b""
        self.resume_reading()
        if self.closed.done():
            other.close()

    def write(self, data: bytes) -> None:
        if not self.closed.done():
            self.transport.write(data)

    def pause_reading(self) -> None:
        if not self.closed.done():
            self.transport.pauseProducing()

    def resume_reading(self) -> None:
        if not self.closed.done() and self._closing is None:
            self.transport.resumeProducing()

    def close(self) -> None:
        if self.closed.done() or self._closing is not None:
            return
        self._closing = daphne_server.reactor.callLater(CLOSE_SECONDS, self.abort)
        # A transport with a registered producer does not finish closing.
        self.transport.unregisterProducer()
        self.transport.loseConnection()

    def abort(self) -> None:
        if not self.closed.done():
            self.transport.abortConnection()
