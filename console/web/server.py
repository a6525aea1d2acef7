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
from typing import Any, NamedTuple

# Imported first because Daphne selects Twisted's reactor, which must happen before any other import
# of it.
from daphne import server as daphne_server  # isort: skip
from cryptography.hazmat.primitives.serialization import Encoding
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
from console.gateway.errors import status_body, status_headers
from console.gateway.paths import TLS_EXTENSION, UPGRADE_EXTENSION, is_gateway_path
from console.live.flow import EXTENSION, Download, Flow
from console.web.connections import ConnectionSlots, Limits, raise_file_limit
from console.web.hardening import Application
from console.web.rawconnection import RawClientConnection
from console.web.sockets import MAX_MESSAGE, Websocket, WebsocketFactory
from console.web.tls import TlsPort

log = logging.getLogger(__name__)

reactor: Any = twisted_reactor

#: Fits a form of *Create from YAML* with the largest possible text (`console.ui.editing.imports`),
#: whose lines browsers end with two bytes. A form of the editor contains two texts.
MAX_BODY = 12 * 2**20
MAX_HEADERS = 100
#: Maximum body size in bytes for clients that are not signed in (sign-in and token requests).
SMALL_BODY = 64 * 1024
#: Seconds for a request's line and headers, and until the next request on the same connection.
HEAD_SECONDS, IDLE_SECONDS = 10.0, 60.0
#: Base time in seconds for a body, and minimum rate in bytes per second.
BODY_SECONDS, BODY_RATE = 10.0, 16 * 1024
#: Seconds until a response must start. API clients create or validate many objects in a request.
RESPONSE_SECONDS = 120.0
#: Seconds and bytes that a refused client may still send before the connection is aborted.
LINGER_SECONDS, LINGER_BYTES = 2.0, MAX_BODY
#: Seconds that a client has to answer a close frame, which is queued behind all pending data.
CLOSE_SECONDS = 10.0
#: Seconds that running requests have to finish during shutdown.
GRACE = 5.0

#: Coroutine function that returns True if the request with these headers is signed in.
IsSignedIn = Callable[[Mapping[bytes, Sequence[bytes]]], Awaitable[bool]]


class _Refusal(NamedTuple):
    """A response that is sent before the request has arrived completely."""

    status: bytes
    text: bytes

    def response(self, path: bytes) -> bytes:
        """Return the response for a request of this path: a `Status` in the gateway."""
        if is_gateway_path(path):
            content = status_body(int(self.status[:3]), self.text.decode())
            headers = status_headers(content)
        else:
            content = self.text + b"\n"
            headers = [
                (b"Content-Type", b"text/plain; charset=utf-8"),
                (b"X-Content-Type-Options", b"nosniff"),
                (b"Cache-Control", b"private, no-store"),
                (b"Content-Length", b"%d" % len(content)),
            ]
        lines = b"".join(b"%s: %s\r\n" % pair for pair in (*headers, (b"Connection", b"close")))
        return b"HTTP/1.1 %s\r\n%s\r\n%s" % (self.status, lines, content)


_TOO_LARGE = _Refusal(b"413 Content Too Large", b"The request is larger than the console accepts.")
_ANONYMOUS = _Refusal(
    b"413 Content Too Large", b"The request is larger than the console accepts before sign-in."
)
_TOO_SLOW = _Refusal(b"408 Request Timeout", b"The request did not arrive in time.")


class Request(WebRequest):
    """HTTP request that keeps its body in memory and counts its size.

    `download.flow` reports to the application if the client can't keep up with a streamed
    response.
    """

    error_template = "%(title)s: %(body)s\n"
    download: Download
    #: Value of the `Upgrade` header of a request for the gateway.
    protocol = ""

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

    def process(self) -> Any:
        upgrade = self.requestHeaders.getRawHeaders(b"Upgrade", ())
        if upgrade and (self.isSecure() or is_gateway_path(self.path)):
            # Otherwise Daphne would handle a websocket itself.
            self.protocol = b",".join(upgrade).decode("latin-1")
            self.requestHeaders.removeHeader(b"Upgrade")
        return super().process()

    def extensions(self) -> dict[str, Any]:
        """Return the extensions of the ASGI scope."""
        found: dict[str, Any] = {EXTENSION: self.start_flow()}
        if self.protocol:
            found[UPGRADE_EXTENSION] = self
        if self.isSecure():
            found[TLS_EXTENSION] = self.channel.client_certificate
        return found

    def accept(self, head: bytes) -> RawClientConnection:
        """Implement `console.gateway.upgrading.Upgrade`."""
        channel = self.channel
        if channel is None:
            raise ConnectionResetError
        transport = channel.transport
        self._response_started = True
        channel.setTimeout(None)

        def on_lost(reason: Failure) -> None:
            channel.factory.seats.release(transport)
            self.connectionLost(reason)

        connection = RawClientConnection(b"".join(channel._dataBuffer), on_lost)
        connection.begin(transport)
        connection.write(head)
        return connection

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
        if self.isSecure() or is_gateway_path(self.path):
            content = status_body(status, body)
            headers = status_headers(content)
            self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
            self.handle_reply({"type": "http.response.body", "body": content})
            return
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

    @property
    def client_certificate(self) -> bytes:
        """The verified certificate (DER) of a client that connects with TLS, or b""."""
        found = self.transport.getPeerCertificate() if self.isSecure() else None
        if found is None:
            return b""
        return bytes(found.to_cryptography().public_bytes(Encoding.DER))

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
        if admits is not None and not self.client_certificate:
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
            self.transport.write(_TOO_SLOW.response(self._target))
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

    @property
    def _target(self) -> bytes:
        """The path and query of the request that is arriving, b"" before its first line."""
        target: bytes = getattr(self, "_path", b"")
        return target

    def refuse(self, answer: _Refusal = _TOO_LARGE) -> None:
        """Send an error response, 413 by default.

        Only the sending side is closed: closing the connection immediately would reset it before
        the client has read the response.
        """
        if self._discarded >= 0:
            return
        self._discarded = 0
        self.setTimeout(None)
        self.transport.write(answer.response(self._target))
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
        tls: TlsPort | None = None,
    ) -> None:
        super().__init__(
            application=application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="",
            verbosity=0,
        )
        self.host, self.port, self.stopping, self.admits = host, port, stopping, admits
        self.tls = tls
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
        listeners = [
            reactor.listenTCP(self.port, self.http_factory, backlog=512, interface=self.host)
        ]
        if self.tls is not None:
            listeners.append(self._listen_tls(self.tls))
        reactor.callLater(1, self.application_checker)
        reactor.callLater(2, self.timeout_checker)
        asyncio.set_event_loop(daphne_server.twisted_loop)
        reactor.addSystemEventTrigger("before", "shutdown", self._stop, listeners)
        reactor.callWhenRunning(ready)
        # Twisted keeps SIGINT ignored if that is inherited, for example from a shell's background
        # job.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reactor.run(installSignalHandlers=True)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        if isinstance(protocol, Websocket):
            scope["extensions"] = {EXTENSION: protocol.outgoing.flow}
        elif isinstance(protocol, Request):
            scope["extensions"] = protocol.extensions()
        return super().create_application(protocol, scope)

    def _listen_tls(self, tls: TlsPort) -> Any:
        listener = reactor.listenSSL(
            tls.port, self.http_factory, tls.options, backlog=512, interface=self.host
        )
        tls.listening(listener.getHost().port)
        return listener

    def _stop(self, listeners: Sequence[Any]) -> "defer.Deferred[None]":
        loop = daphne_server.twisted_loop
        return defer.Deferred.fromFuture(
            asyncio.ensure_future(self._wind_down(listeners), loop=loop)
        )

    async def _wind_down(self, listeners: Sequence[Any]) -> None:
        """Stop listening, close the websockets, and wait `GRACE` seconds for running requests."""
        for listener in listeners:
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
    tls: TlsPort | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, in the main thread.

    `ready` is called when the port is open. `stopping` is awaited on the server's event loop
    after the last request. `admits` decides which clients may send more than `SMALL_BODY`;
    without it, all clients may. `tls` is a second port for the gateway.

    Raise SystemExit(1), after one line on standard error, if a port can't be opened.
    """
    try:
        Server(application, host, port, stopping, admits, tls).serve(ready)
    except CannotListenError as error:
        reason = getattr(error.socketError, "strerror", None) or error.socketError
        sys.stderr.write(f"Cannot listen on {host}:{error.port}: {reason}\n")
        raise SystemExit(1) from None


__all__ = ["MAX_BODY", "MAX_MESSAGE", "Server", "run"]
