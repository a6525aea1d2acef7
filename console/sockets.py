"""Websockets as `console.server` has them, with limits of ours both ways.

- A message above `MAX_MESSAGE`, in one frame or in many, is refused with close code 1009.
- What waits for a client that does not read is bounded, see `console.live.flow`.
- Nothing is compressed: a text that goes to hundreds is framed once, and not hundreds of times.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-calls=False
from typing import Any

# First: it chooses Twisted's reactor, which must happen before anything imports one.
from daphne import server as daphne_server  # isort: skip
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from console.connections import Seats
from console.live.flow import Outgoing

#: Bytes of a message that comes in; rows that go out may be larger.
MAX_MESSAGE = 64 * 1024


class Socket(WebSocketProtocol):
    """One websocket."""

    transport: Any
    factory: "Sockets"

    def __init__(self) -> None:
        super().__init__()
        self.outgoing = Outgoing(daphne_server.reactor.callLater)

    def connectionLost(self, reason: Any) -> None:
        self.factory.seats.leave(self.transport)
        super().connectionLost(reason)

    def onOpen(self) -> None:
        super().onOpen()
        # Of the handshake the application has what it needs; the rest would stay as long as the socket.
        self.http_headers.clear()
        self.http_request_data = b""
        self.outgoing.begin(self.transport)

    def onMessageFrameBegin(self, length: int) -> None:
        super().onMessageFrameBegin(length)
        if not self.failedByMe and self.message_data_total_length > MAX_MESSAGE:
            self.wasMaxMessagePayloadSizeExceeded = True
            self._fail_connection(1009, f"a message may have {MAX_MESSAGE} bytes")

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        # The client may have gone between the decision to send and the sending.
        if self.state == self.STATE_OPEN:
            self.outgoing.write(self.factory.framed(content))

    def serverClose(self, code: int | None = None) -> None:
        # `sendClose`, which Daphne calls, raises for the codes that RFC 6455 itself defines.
        self.sendCloseFrame(code=1000 if code is None else code)


class Sockets(WebSocketFactory):
    protocol = Socket

    def __init__(self, *args: Any, seats: Seats, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seats = seats
        self._last: tuple[object, bytes] = (None, b"")

    def framed(self, content: str | bytes) -> bytes:
        """As it goes over the wire. One text that is sent to many is encoded once."""
        if content is not self._last[0]:
            binary = isinstance(content, bytes)
            payload = content if isinstance(content, bytes) else content.encode()
            message = self.prepareMessage(payload, binary, doNotCompress=True)
            self._last = content, message.payloadHybi
        return self._last[1]
