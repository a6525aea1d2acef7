"""Daphne inside this process, with limits of ours.

Daphne reads a whole request before the application hears of it, into a temporary file and without
limit. Here a body is refused while it arrives, and what is accepted stays in memory:

- a body above `MAX_BODY`, announced or not: 413, after at most twice that has been read;
- a request line and headers above 16 KiB, or more than `MAX_HEADERS` of them: 400;
- what comes in over websockets, and what waits to go out: `console.sockets`.

Responses carry no Server header. SIGINT and SIGTERM close the port and the sockets (1001), give running
requests `GRACE` seconds, and return.
"""

# mypy: disallow-untyped-calls=False
# Half of Twisted is typed, and that half describes interfaces that its own classes do not keep to.
import asyncio
import io
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

# First: it chooses Twisted's reactor, which must happen before anything imports one.
from daphne import server as daphne_server  # isort: skip
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import defer
from twisted.internet import reactor as twisted_reactor
from twisted.internet.error import CannotListenError
from twisted.logger import globalLogBeginner
from twisted.web.http import HTTPChannel

from console.edge import Application
from console.live.flow import EXTENSION, Download, Flow
from console.sockets import MAX_MESSAGE, Socket, Sockets

reactor: Any = twisted_reactor

#: A form of the editor with the largest object there is, as it was and as it is to be.
MAX_BODY = 5 * 2**20
MAX_HEADERS = 100
#: Seconds that a refused client may go on sending before the connection is cut, and bytes.
LINGER_SECONDS, LINGER_BYTES = 2.0, MAX_BODY
#: Seconds that running requests have when the process is asked to stop.
GRACE = 5.0

_TOO_LARGE = b"The request is larger than the console accepts.\n"
_REFUSAL = (
    b"HTTP/1.1 413 Content Too Large\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"X-Content-Type-Options: nosniff\r\n"
    b"Cache-Control: private, no-store\r\n"
    b"Connection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_TOO_LARGE), _TOO_LARGE)
)


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
        if self.content.tell() + len(data) > MAX_BODY:
            self.channel.refuse()
        else:
            super().handleContentChunk(data)

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
    _discarded = -1

    def allHeadersReceived(self) -> None:
        if self.length is not None and self.length > MAX_BODY:
            # Without a content object there is nothing for the request to be closed with.
            self.requests[-1].gotLength(0)
            self.refuse()
        else:
            super().allHeadersReceived()

    def allContentReceived(self) -> None:
        if self._discarded < 0:
            super().allContentReceived()

    def refuse(self) -> None:
        """Answers 413. Closing at once would reset the connection before the client has read that."""
        if self._discarded >= 0:
            return
        self._discarded = 0
        self.setTimeout(None)
        self.transport.write(_REFUSAL)
        self.transport.loseWriteConnection()
        self.callLater(LINGER_SECONDS, self.transport.abortConnection)

    def dataReceived(self, data: bytes) -> None:
        if self._discarded < 0:
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

    def buildProtocol(self, addr: Any) -> Channel:
        channel = Channel()
        channel.factory = self
        channel.callLater = self.reactor.callLater
        channel.timeOut = self.timeOut
        return channel


class Server(daphne_server.Server):
    def __init__(
        self,
        application: Application,
        host: str,
        port: int,
        stopping: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(
            application=application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="",
            verbosity=0,
        )
        self.host, self.port, self.stopping = host, port, stopping

    def serve(self, ready: Callable[[], None]) -> None:
        """Until a signal. Raises `CannotListenError` before anything has happened."""
        self.connections: dict[Any, dict[str, Any]] = {}
        self.http_factory = Connections(self)
        self.ws_factory = Sockets(self, server=self.server_name)
        self.ws_factory.setProtocolOptions(
            autoPingTimeout=self.ping_timeout,
            allowNullOrigin=True,  # the application compares origins, exactly
            openHandshakeTimeout=self.websocket_handshake_timeout,
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
) -> None:
    """Serves until SIGINT or SIGTERM, in the main thread. `ready` is called when the port is open;
    `stopping` is awaited on the server's loop when the last request is done.

    Raises SystemExit(1), after one line on standard error, if the port cannot be opened.
    """
    try:
        Server(application, host, port, stopping).serve(ready)
    except CannotListenError as error:
        reason = getattr(error.socketError, "strerror", None) or error.socketError
        sys.stderr.write(f"Cannot listen on {host}:{port}: {reason}\n")
        raise SystemExit(1) from None


__all__ = ["MAX_BODY", "MAX_MESSAGE", "Server", "run"]
