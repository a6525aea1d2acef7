"""Daphne running in this process, with limits on requests and connections.

Daphne reads a whole request into a temporary file, without a limit, before it calls the
application. Here a body is checked while it arrives, and accepted bodies stay in memory:

- A body above `MAX_BODY`, announced or not: 413, after at most twice that size was read. For
  clients that are not signed in, the limit is `SMALL_BODY` plus the data of the same read.
- A request line and headers above 16 KiB, or more than `MAX_HEADERS` headers: 400.
- A slow request is aborted: headers must arrive within `HEAD_SECONDS`, the body at `BODY_RATE`,
  and a response must start within `RESPONSE_SECONDS`.
- `console.web.connections` limits connections in total and per address.
- `console.web.sockets` limits incoming websocket messages and queued outgoing data.

Responses have no Server header. SIGINT and SIGTERM close the port and the websockets (1001),
give running requests `GRACE` seconds, and return.
"""

# mypy: disallow-untyped-calls=False
# Twisted is only partly typed, and its own classes violate some of the typed interfaces.
import asyncio
import io
import logging
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

# Imported first because Daphne selects Twisted's reactor, which must happen before any other import
# of it.
from daphne import server as daphne_server  # isort: skip
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.internet import defer
from twisted.internet import reactor as twisted_reactor
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import connectionDone
from twisted.logger import globalLogBeginner
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel

from console.audit.client_address import is_trusted
from console.live.flow import EXTENSION, Download, Flow
from console.web.connections import ConnectionSlots, Limits, raise_file_limit
from console.web.hardening import Application
from console.web.sockets import MAX_MESSAGE, Websocket, WebsocketFactory

log = logging.getLogger(__name__)

reactor: Any = twisted_reactor

#: Fits a form of the editor with the original and the edited text of the largest possible object.
MAX_BODY = 5 * 2**20
MAX_HEADERS = 100
#: Maximum body size in bytes for clients that are not signed in (sign-in and token requests).
SMALL_BODY = 64 * 1024
#: Seconds for a request's line and headers, and until the next request on the same connection.
HEAD_SECONDS, IDLE_SECONDS = 10.0, 60.0
#: Base time in seconds for a body, and minimum rate in bytes per second.
BODY_SECONDS, BODY_RATE = 10.0, 16 * 1024
#: Seconds until a response must start. Bulk actions create or validate many objects one after
#: another.
RESPONSE_SECONDS = 120.0
#: Seconds and bytes that a refused client may still send before the connection is aborted.
LINGER_SECONDS, LINGER_BYTES = 2.0, MAX_BODY
#: Seconds that a client has to answer a close frame, which is queued behind all pending data.
CLOSE_SECONDS = 10.0
#: Seconds that running requests have to finish during shutdown.
GRACE = 5.0

#: Coroutine function that returns True if the request with these headers is signed in.
IsSignedIn = Callable[[Mapping[bytes, Sequence[bytes]]], Awaitable[bool]]


def _refusal(status: bytes, text: bytes) -> bytes:
    return (
        b"HTTP/1.1 %s\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n"
        b"X-Content-Type-Options: nosniff\r\n"
        b"Cache-Control: private, no-store\r\n"
        b"Connection: close\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (status, len(text), text)
    )


_TOO_LARGE = _refusal(
    b"413 Content Too Large", b"The request is larger than the console accepts.\n"
)
_ANONYMOUS = _refusal(
    b"413 Content Too Large", b"The request is larger than the console accepts before sign-in.\n"
)
_TOO_SLOW = _refusal(b"408 Request Timeout", b"The request did not arrive in time.\n")


class Request(WebRequest):
    """HTTP request that keeps its body in memory and counts its size.

    `download.flow` reports to the application if the client can't keep up with a streamed
    response.
    """

    error_template = "%(title)s: %(body)s\n"
    download: Download

    def __init__(self, channel: "Channel", queued: bool = False) -> None:
        # Django parses forms itself; Twisted would parse them a second time with other rules.
        super().__init__(channel, queued, parsePOSTFormSubmission=False)

    def gotLength(self, length: int | None) -> None:
        self.content = io.BytesIO()

    def handleContentChunk(self, data: bytes) -> None:
        before = self.content.tell()
        if before + len(data) > MAX_BODY:
            self.channel.refuse()
            return
        super().handleContentChunk(data)
        self.channel.extend_body_timeout(before + len(data))
        if before <= SMALL_BODY < before + len(data):
            self.channel.check_signed_in(dict(self.requestHeaders.getAllRawHeaders()))

    def start_flow(self) -> Flow:
        """Create the response's flow control, before the application is called."""
        self.download = Download(reactor.callLater)
        self.download.flow.abort = self._abort
        return self.download.flow

    def _abort(self) -> None:
        if self.channel is not None:
            self.channel.transport.abortConnection()

    def handle_reply(self, message: dict[str, Any]) -> None:
        more = message["type"] == "http.response.body" and message.get("more_body")
        if more and self.producer is None and not self.finished and self.channel is not None:
            self.registerProducer(self.download, True)
        super().handle_reply(message)

    def finish(self) -> None:
        if self.producer is not None:
            self.unregisterProducer()
        super().finish()

    def check_timeouts(self) -> None:
        """Abort the request with 503 if no response has started in time.

        Daphne calls this every few seconds. A response that has started has no time limit.
        """
        began: float | None = getattr(self, "request_start", None)
        if began is None or self._response_started or self.finished:
            return
        if time.time() - began > RESPONSE_SECONDS:
            running = self.server.connections.get(self, {}).get("application_instance")
            if running is not None:
                running.cancel()
            self.basic_error(503, b"Service Unavailable", "No response in time")

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        self.responseHeaders.setRawHeaders(b"X-Content-Type-Options", [b"nosniff"])
        super().basic_error(status, status_text, body)


class Channel(HTTPChannel):
    """HTTP connection."""

    requestFactory: Any = Request
    maxHeaders = MAX_HEADERS
    transport: Any
    factory: Any
    callLater: Any
    _networkProducer: Any
    _discarded = -1
    #: True between two requests.
    _waits = False
    _body_began = 0.0

    @property
    def is_idle(self) -> bool:
        """True if no request is in progress."""
        return not self._handlingRequest

    def connectionMade(self) -> None:
        super().connectionMade()
        self.setTimeout(HEAD_SECONDS)
        if not self.factory.seats.acquire(self.transport, str(self.transport.getPeer().host)):
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.factory.seats.release(self.transport)
        super().connectionLost(reason)

    def resetTimeout(self) -> None:
        """Do nothing: Twisted extends the timeout for each received byte, but here each part of a
        request has its own timeout.
        """

    def extend_body_timeout(self, size: int) -> None:
        """Extend the timeout after `size` bytes of the body have been received."""
        left = self._body_began + BODY_SECONDS + size / BODY_RATE - reactor.seconds()
        self.setTimeout(max(left, 0.001))

    def check_signed_in(self, headers: Mapping[bytes, Sequence[bytes]]) -> None:
        """Pause reading until it is known whether the client is signed in and may send a larger
        body.
        """
        admits: IsSignedIn | None = self.factory.server.admits
        if admits is not None:
            self._networkProducer.pauseProducing()
            asking = asyncio.ensure_future(admits(headers))
            asking.add_done_callback(self._answered_who)

    def _answered_who(self, asked: "asyncio.Future[bool]") -> None:
        known = not asked.cancelled() and asked.exception() is None and asked.result()
        if self._handlingRequest or not self.transport.connected:
            # The request has already arrived completely, or the client has disconnected.
            known = True
        if not known:
            self.refuse(_ANONYMOUS)
        self._networkProducer.resumeProducing()

    def requestDone(self, request: Any) -> None:
        super().requestDone(request)
        if not self._handlingRequest and self.persistent:
            self._waits = not self.requests
            self.setTimeout(IDLE_SECONDS if self._waits else HEAD_SECONDS)

    def timeoutConnection(self) -> None:
        if self.requests and self._discarded < 0:
            self.transport.write(_TOO_SLOW)
        super().timeoutConnection()

    def allHeadersReceived(self) -> None:
        if self.length is not None and self.length > MAX_BODY:
            # Closing a request requires a content object.
            self.requests[-1].gotLength(0)
            self.refuse()
        else:
            super().allHeadersReceived()
            self._body_began = reactor.seconds()
            self.extend_body_timeout(0)

    def allContentReceived(self) -> None:
        if self._discarded < 0:
            super().allContentReceived()

    def refuse(self, answer: bytes = _TOO_LARGE) -> None:
        """Send an error response, 413 by default.

        Only the sending side is closed: closing the connection immediately would reset it before
        the client has read the response.
        """
        if self._discarded >= 0:
            return
        self._discarded = 0
        self.setTimeout(None)
        self.transport.write(answer)
        self.transport.loseWriteConnection()
        self.callLater(LINGER_SECONDS, self.transport.abortConnection)

    def dataReceived(self, data: bytes) -> None:
        if self._discarded < 0:
            if self._waits:
                self._waits = False
                self.setTimeout(HEAD_SECONDS)
            super().dataReceived(data)
            return
        self._discarded += len(data)
        if self._discarded > LINGER_BYTES:
            self.transport.abortConnection()

    def rawDataReceived(self, data: bytes) -> None:
        if self._discarded < 0:
            super().rawDataReceived(data)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._respondToBadRequestAndDisconnect()


class HTTPConnectionFactory(HTTPFactory):
    """Creates HTTP/1.1 channels. TLS, and therefore HTTP/2, is terminated at the proxy."""

    def __init__(self, server: "Server", seats: ConnectionSlots) -> None:
        super().__init__(server)
        self.seats = seats

    def buildProtocol(self, addr: Any) -> Channel:
        channel = Channel()
        channel.factory = self
        channel.callLater = self.reactor.callLater
        return channel


def _is_idle(connection: Any) -> bool:
    return isinstance(connection.protocol, Channel) and connection.protocol.is_idle


class Server(daphne_server.Server):
    def __init__(
        self,
        application: Application,
        host: str,
        port: int,
        stopping: Callable[[], Awaitable[None]],
        admits: IsSignedIn | None = None,
    ) -> None:
        super().__init__(
            application=application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="",
            verbosity=0,
        )
        self.host, self.port, self.stopping, self.admits = host, port, stopping, admits
        before, files = raise_file_limit()
        self.limits = Limits.of(files)
        text = "Limits: %s open files (before: %s), %s connections, %s per address"
        log.info(text, files, before, *self.limits)

    def serve(self, ready: Callable[[], None]) -> None:
        """Serve until a signal arrives. Raise `CannotListenError` if the port can't be opened."""
        self.connections: dict[Any, dict[str, Any]] = {}
        proxies = settings.TRUSTED_PROXIES
        seats = ConnectionSlots(self.limits, _is_idle, lambda address: is_trusted(address, proxies))
        self.http_factory = HTTPConnectionFactory(self, seats)
        self.ws_factory = WebsocketFactory(self, server=self.server_name, seats=seats)
        self.ws_factory.setProtocolOptions(
            autoPingTimeout=self.ping_timeout,
            allowNullOrigin=True,  # the application compares origins exactly
            openHandshakeTimeout=self.websocket_handshake_timeout,
            closeHandshakeTimeout=CLOSE_SECONDS,
            failByDrop=False,  # send the close reason before closing
        )
        # Relevant errors are also raised as exceptions.
        observers: list[Any] = [lambda _event: None]
        globalLogBeginner.beginLoggingTo(observers, redirectStandardIO=False, discardBuffer=True)
        listener = reactor.listenTCP(self.port, self.http_factory, backlog=512, interface=self.host)
        reactor.callLater(1, self.application_checker)
        reactor.callLater(2, self.timeout_checker)
        asyncio.set_event_loop(daphne_server.twisted_loop)
        reactor.addSystemEventTrigger("before", "shutdown", self._stop, listener)
        reactor.callWhenRunning(ready)
        # Twisted keeps SIGINT ignored if that is inherited, for example from a shell's background
        # job.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reactor.run(installSignalHandlers=True)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        if isinstance(protocol, Websocket):
            scope["extensions"] = {EXTENSION: protocol.outgoing.flow}
        elif isinstance(protocol, Request):
            scope["extensions"] = {EXTENSION: protocol.start_flow()}
        return super().create_application(protocol, scope)

    def _stop(self, listener: Any) -> "defer.Deferred[None]":
        loop = daphne_server.twisted_loop
        return defer.Deferred.fromFuture(
            asyncio.ensure_future(self._wind_down(listener), loop=loop)
        )

    async def _wind_down(self, listener: Any) -> None:
        """Stop listening, close the websockets, and wait `GRACE` seconds for running requests."""
        listener.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, Websocket) and protocol.state == Websocket.STATE_OPEN:
                protocol.serverClose(1001)
        running = {
            application
            for details in self.connections.values()
            if (application := details.get("application_instance")) and not application.done()
        }
        if running:
            _, running = await asyncio.wait(running, timeout=GRACE)
        for application in running:
            application.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.stopping()


async def _nothing() -> None: ...


def run(
    application: Application,
    host: str,
    port: int,
    ready: Callable[[], None],
    stopping: Callable[[], Awaitable[None]] = _nothing,
    admits: IsSignedIn | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, in the main thread.

    `ready` is called when the port is open. `stopping` is awaited on the server's event loop
    after the last request. `admits` decides which clients may send more than `SMALL_BODY`;
    without it, all clients may.

    Raise SystemExit(1), after one line on standard error, if the port can't be opened.
    """
    try:
        Server(application, host, port, stopping, admits).serve(ready)
    except CannotListenError as error:
        reason = getattr(error.socketError, "strerror", None) or error.socketError
        sys.stderr.write(f"Cannot listen on {host}:{port}: {reason}\n")
        raise SystemExit(1) from None


__all__ = ["MAX_BODY", "MAX_MESSAGE", "Server", "run"]
