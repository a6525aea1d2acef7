"""Websockets of `console.web.server`, with limits in both directions.

- A message above `MAX_MESSAGE`, in one frame or several, is refused with close code 1009.
- The queue for a client that does not read is bounded, see `console.live.flow`.
- Messages are not compressed, so that a text for hundreds of clients is framed only once.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-calls=False
from typing import Any

# Imported first because Daphne selects Twisted's reactor, which must happen before any other import
# of it.
from daphne import server as daphne_server  # isort: skip
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from console.live.flow import WebsocketBuffer
from console.web.connections import ConnectionSlots

#: Maximum size of an incoming message in bytes. Outgoing messages may be larger.
MAX_MESSAGE = 64 * 1024


class Websocket(WebSocketProtocol):
    """Websocket connection."""

    transport: Any
    factory: "WebsocketFactory"

    def __init__(self) -> None:
        super().__init__()
        self.outgoing = WebsocketBuffer(daphne_server.reactor.callLater)

    def connectionLost(self, reason: Any) -> None:
        self.factory.seats.release(self.transport)
        super().connectionLost(reason)

    def onOpen(self) -> None:
        super().onOpen()
        # The application has already received the handshake's data, which would otherwise stay in
        # memory as long as the websocket.
        self.http_headers.clear()
        self.http_request_data = b""
        self.outgoing.begin(self.transport)

    def onMessageFrameBegin(self, length: int) -> None:
        super().onMessageFrameBegin(length)
        if not self.failedByMe and self.message_data_total_length > MAX_MESSAGE:
            self.wasMaxMessagePayloadSizeExceeded = True
            self._fail_connection(1009, f"message exceeds {MAX_MESSAGE} bytes")

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        # The client may have disconnected between the decision to send and the write.
        if self.state == self.STATE_OPEN:
            self.outgoing.write(self.factory.encode_frame(content))

    def serverClose(self, code: int | None = None) -> None:
        # `sendClose`, which Daphne calls, raises an exception for codes reserved by RFC 6455.
        self.sendCloseFrame(code=1000 if code is None else code)


class WebsocketFactory(WebSocketFactory):
    protocol = Websocket

    def __init__(self, *args: Any, seats: ConnectionSlots, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seats = seats
        self._last: tuple[object, bytes] = (None, b"")

    def encode_frame(self, content: str | bytes) -> bytes:
        """Return the websocket frame of a message. The last frame is cached, so a text for many
        clients is encoded once.
        """
        if content is not self._last[0]:
            binary = isinstance(content, bytes)
            payload = content if isinstance(content, bytes) else content.encode()
            message = self.prepareMessage(payload, binary, doNotCompress=True)
            self._last = content, message.payloadHybi
        return self._last[1]
