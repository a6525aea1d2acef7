"""Daphne inside this process, with limits of ours.

Daphne reads a whole request before the application hears of it, into a temporary file and without
limit. Here a body is refused while it arrives, and what is accepted stays in memory:

- a body above `MAX_BODY`, announced or not: 413, after at most twice that has been read; of somebody who
  is not signed in, above `SMALL_BODY` and what was read together with that;
- a request line and headers above 16 KiB, or more than `MAX_HEADERS` of them: 400;
- a request that does not come in time is broken off: its headers within `HEAD_SECONDS`, its body at
  `BODY_RATE`; and so is one that has no answer after `ANSWER_SECONDS`;
- how many connections there are, in all and of one address: `console.connections`;
- what comes in over websockets, and what waits to go out: `console.sockets`.

Responses carry no Server header. SIGINT and SIGTERM close the port and the sockets (1001), give running
requests `GRACE` seconds, and return.
"""

# mypy: disallow-untyped-calls=False
# Half of Twisted is typed, and that half describes interfaces that its own classes do not keep to.
import asyncio
import io
import logging
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

# First: it chooses Twisted's reactor, which must happen before anything imports one.
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

from console.audit.source import is_trusted
from console.connections import Limits, Seats, file_limit
from console.edge import Application
from console.live.flow import EXTENSION, Download, Flow
from console.sockets import MAX_MESSAGE, Socket, Sockets

log = logging.getLogger(__name__)

reactor: Any = twisted_reactor

#: A form of the editor with the largest object there is, as it was and as it is to be.
MAX_BODY = 5 * 2**20
MAX_HEADERS = 100
#: Bytes of whoever is not signed in: a login, or a request for a token.
SMALL_BODY = 64 * 1024
#: Seconds: for a request's line and headers, and until the next request on the same connection.
HEAD_SECONDS, IDLE_SECONDS = 10.0, 60.0
#: Seconds for a body beside what its size takes, and bytes a second that it must have.
BODY_SECONDS, BODY_RATE = 10.0, 16 * 1024
#: Seconds until an answer has begun. Many objects are made or tried one by one.
ANSWER_SECONDS = 120.0
#: Seconds that a refused client may go on sending before the connection is cut, and bytes.
LINGER_SECONDS, LINGER_BYTES = 2.0, MAX_BODY
#: Seconds in which a client has to answer that its socket is closed: why comes after all that waits.
CLOSE_SECONDS = 10.0
#: Seconds that running requests have when the process is asked to stop.
GRACE = 5.0

#: Whether the sender of a request with these headers is signed in.
Admits = Callable[[Mapping[bytes, Sequence[bytes]]], Awaitable[bool]]


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
    b"413 Content Too Large", b"The request is larger than the console accepts before the login.\n"
)
_TOO_SLOW = _refusal(b"408 Request Timeout", b"The request did not come in time.\n")


class Request(WebRequest):
    """One HTTP request, whose body is kept in memory and counted as it comes.

    An answer that is sent bit by bit is told by `download.flow` when its client does not keep up.
    """

    error_template = "%(title)s: %(body)s\n"
    download: Download

    def __init__(self, channel: "Channel", queued: bool = False) -> None:
        # Django parses forms itself; Twisted would do it a second time, and in its own way.
        super().__init__(channel, queued, parsePOSTFormSubmission=False)

    def gotLength(self, length: int | None) -> None:
        self.content = io.BytesIO()

    def handleContentChunk(self, data: bytes) -> None:
        before = self.content.tell()
        if before + len(data) > MAX_BODY:
            self.channel.refuse()
            return
        super().handleContentChunk(data)
        self.channel.body_came(before + len(data))
        if before <= SMALL_BODY < before + len(data):
            self.channel.ask_who(dict(self.requestHeaders.getAllRawHeaders()))

    def flow_begins(self) -> Flow:
        """Before the application is told of the request."""
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
        """Daphne asks every few seconds. An answer that has begun may take as long as it is read."""
        began: float | None = getattr(self, "request_start", None)
        if began is None or self._response_started or self.finished:
            return
        if time.time() - began > ANSWER_SECONDS:
            running = self.server.connections.get(self, {}).get("application_instance")
            if running is not None:
                running.cancel()
            self.basic_error(503, b"Service Unavailable", "No answer in time")

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        self.responseHeaders.setRawHeaders(b"X-Content-Type-Options", [b"nosniff"])
        super().basic_error(status, status_text, body)


class Channel(HTTPChannel):
    """One HTTP connection."""

    requestFactory: Any = Request
    maxHeaders = MAX_HEADERS
    transport: Any
    factory: Any
    callLater: Any
    _networkProducer: Any
    _discarded = -1
    #: Between two requests.
    _waits = False
    _body_began = 0.0

    @property
    def is_idle(self) -> bool:
        """Nothing is being answered."""
        return not self._handlingRequest

    def connectionMade(self) -> None:
        super().connectionMade()
        self.setTimeout(HEAD_SECONDS)
        if not self.factory.seats.enter(self.transport, str(self.transport.getPeer().host)):
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.factory.seats.leave(self.transport)
        super().connectionLost(reason)

    def resetTimeout(self) -> None:
        """Twisted gives more time for each byte that comes; here each part of a request has its own."""

    def body_came(self, size: int) -> None:
        """So many bytes of it are there."""
        left = self._body_began + BODY_SECONDS + size / BODY_RATE - reactor.seconds()
        self.setTimeout(max(left, 0.001))

    def ask_who(self, headers: Mapping[bytes, Sequence[bytes]]) -> None:
        """Reads no further before it is known that somebody is signed in who may send more."""
        admits: Admits | None = self.factory.server.admits
        if admits is not None:
            self._networkProducer.pauseProducing()
            asking = asyncio.ensure_future(admits(headers))
            asking.add_done_callback(self._answered_who)

    def _answered_who(self, asked: "asyncio.Future[bool]") -> None:
        known = not asked.cancelled() and asked.exception() is None and asked.result()
        if self._handlingRequest or not self.transport.connected:
            # All of it was here already, or the client is gone.
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
            # Without a content object there is nothing for the request to be closed with.
            self.requests[-1].gotLength(0)
            self.refuse()
        else:
            super().allHeadersReceived()
            self._body_began = reactor.seconds()
            self.body_came(0)

    def allContentReceived(self) -> None:
        if self._discarded < 0:
            super().allContentReceived()

    def refuse(self, answer: bytes = _TOO_LARGE) -> None:
        """Answers 413. Closing at once would reset the connection before the client has read that."""
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


class Connections(HTTPFactory):
    """Makes channels of ours. HTTP/1.1 alone: TLS, and with it HTTP/2, ends at the proxy."""

    def __init__(self, server: "Server", seats: Seats) -> None:
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
        admits: Admits | None = None,
    ) -> None:
        super().__init__(
            application=application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="",
            verbosity=0,
        )
        self.host, self.port, self.stopping, self.admits = host, port, stopping, admits
        before, files = file_limit()
        self.limits = Limits.of(files)
        text = "%s files may be open (%s before): %s connections, %s of one address"
        log.info(text, files, before, *self.limits)

    def serve(self, ready: Callable[[], None]) -> None:
        """Until a signal. Raises `CannotListenError` before anything has happened."""
        self.connections: dict[Any, dict[str, Any]] = {}
        proxies = settings.TRUSTED_PROXIES
        seats = Seats(self.limits, _is_idle, lambda address: is_trusted(address, proxies))
        self.http_factory = Connections(self, seats)
        self.ws_factory = Sockets(self, server=self.server_name, seats=seats)
        self.ws_factory.setProtocolOptions(
            autoPingTimeout=self.ping_timeout,
            allowNullOrigin=True,  # the application compares origins, exactly
            openHandshakeTimeout=self.websocket_handshake_timeout,
            closeHandshakeTimeout=CLOSE_SECONDS,
            failByDrop=False,  # say why before closing
        )
        observers: list[Any] = [_ignore]
        globalLogBeginner.beginLoggingTo(observers, redirectStandardIO=False, discardBuffer=True)
        listener = reactor.listenTCP(self.port, self.http_factory, backlog=512, interface=self.host)
        reactor.callLater(1, self.application_checker)
        reactor.callLater(2, self.timeout_checker)
        asyncio.set_event_loop(daphne_server.twisted_loop)
        reactor.addSystemEventTrigger("before", "shutdown", self._stop, listener)
        reactor.callWhenRunning(ready)
        # Twisted leaves SIGINT ignored where it is inherited so, as in the background of a shell.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reactor.run(installSignalHandlers=True)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        if isinstance(protocol, Socket):
            scope["extensions"] = {EXTENSION: protocol.outgoing.flow}
        elif isinstance(protocol, Request):
            scope["extensions"] = {EXTENSION: protocol.flow_begins()}
        return super().create_application(protocol, scope)

    def _stop(self, listener: Any) -> "defer.Deferred[None]":
        loop = daphne_server.twisted_loop
        return defer.Deferred.fromFuture(
            asyncio.ensure_future(self._wind_down(listener), loop=loop)
        )

    async def _wind_down(self, listener: Any) -> None:
        """No new connections; sockets are told to go; what runs may finish, within limits."""
        listener.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, Socket) and protocol.state == Socket.STATE_OPEN:
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


def _ignore(event: Any) -> None:
    """Twisted's own log; what matters of it is raised as well."""


async def _nothing() -> None: ...


def run(
    application: Application,
    host: str,
    port: int,
    ready: Callable[[], None],
    stopping: Callable[[], Awaitable[None]] = _nothing,
    admits: Admits | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM, in the main thread. `ready` is called when the port is open;
    `stopping` is awaited on the server's loop when the last request is done. `admits` says who may send
    more than `SMALL_BODY`, all if there is none.

    Raises SystemExit(1), after one line on standard error, if the port cannot be opened.
    """
    try:
        Server(application, host, port, stopping, admits).serve(ready)
    except CannotListenError as error:
        reason = getattr(error.socketError, "strerror", None) or error.socketError
        sys.stderr.write(f"Cannot listen on {host}:{port}: {reason}\n")
        raise SystemExit(1) from None


__all__ = ["MAX_BODY", "MAX_MESSAGE", "Server", "run"]
