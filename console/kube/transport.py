"""HTTP requests, long responses and websockets to kube-apiserver with one credential.

Redirects are never followed. Calls are not retried, except once after a 401 or an untrusted
certificate, with reloaded credentials and certificate authority. Failures are `ApiError`s. Calls
run on the caller's event loop; a transport keeps one HTTP session per loop.
"""

import asyncio
import io
import logging
import re
import socket
import ssl
import weakref
from asyncio import sslproto
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

from console.kube.credentials import Credentials
from console.kube.errors import (
    ApiError,
    Forbidden,
    InvalidResponse,
    NodeRefused,
    TooLong,
    Unauthorized,
    Unavailable,
    UnsupportedProtocol,
    UntrustedCertificate,
    error_from_status,
)
from console.kube.messages import Message
from console.kube.rawconnection import RawConnection, open_raw
from console.kube.store import UNREADABLE
from console.kube.websocket import Websocket

#: Timeout of an ordinary call in seconds. A page responds within 5 s even if the server does not.
CALL_TIMEOUT = 4.5
#: Seconds to wait for the peer's close frame when closing a websocket.
CLOSE_TIMEOUT = 1.0
#: Maximum size of a response body in bytes. etcd objects are at most 1.5 MiB, and JSON at most
#: doubles that.
MAX_ANSWER = 16 * 2**20
#: Maximum size in bytes of a request body that aiohttp sends in one piece.
MAX_PIECE = 2**20
#: Maximum number of bytes read from an error response.
MAX_ERROR = 64 * 2**10
#: Read buffer size of a TLS connection in bytes. With asyncio's default, the buffer is most of the
#: memory cost of a followed log or a terminal. Lists keep the default, which reads them 10% faster.
_MUCH, sslproto.SSLProtocol.max_size = sslproto.SSLProtocol.max_size, 4 * 1024
#: TCP keepalive: idle seconds before the first probe, seconds between probes, and the number of
#: unanswered probes before the connection is dropped.
KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
#: Maximum seconds to wait for unused connections to close.
_GOODBYE = 1.0
JSON = "application/json"
#: Start of a kubelet's response to a client without permission.
_KUBELET_DENIES = b"Forbidden (user="

TIMED_OUT = Message("the request timed out")
#: Warn code, warn agent and the quoted text.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')

log = logging.getLogger(__name__)

T = TypeVar("T")


class Endpoint(msgspec.Struct, frozen=True):
    """The address of kube-apiserver and how to verify its certificate.

    `authority` is a PEM bundle, or "" for the system's trust store. `server_name` is "" to use
    the host of `url`.
    """

    url: str
    authority: str = ""
    server_name: str = ""


class ApiResponse(msgspec.Struct, frozen=True):
    """A response body and the texts of its `Warning` headers."""

    body: bytes
    warnings: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class _Connections:
    """The connections of one event loop, opened with one generation of the credentials."""

    generation: int
    session: aiohttp.ClientSession
    sockets: weakref.WeakSet[socket.socket]
    uses: int = 0
    retired: bool = False

    async def leave(self) -> None:
        self.uses -= 1
        if self.retired and not self.uses:
            await self.close()

    async def close(self) -> None:
        """Close all connections and wait until they are closed, including pending TLS shutdowns."""
        await self.session.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                while remaining := [one for one in self.sockets if one.fileno() >= 0]:
                    for one in remaining:
                        # The peer may have closed the socket already.
                        with suppress(OSError):
                            one.shutdown(socket.SHUT_RDWR)
                    await asyncio.sleep(0)


class Transport:
    """Send HTTP requests with one credential. Independent of Kubernetes object types."""

    def __init__(self, credentials: Credentials, *, user_agent: str = "quarterdeck") -> None:
        self.credentials = credentials
        self._user_agent = user_agent
        self._closing: set[asyncio.Task[None]] = set()
        self._kept: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections]
        self._kept = weakref.WeakKeyDictionary()

    def _connections(self) -> _Connections:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        # Another transport that shares these credentials may have reloaded them.
        if kept is None or kept.session.closed or kept.generation != self.credentials.generation:
            self._retire()
            generation = self.credentials.generation
            sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

            def made(address: aiohttp.AddrInfoType) -> socket.socket:
                sockets.add(one := _socket(address))
                return one

            connector = aiohttp.TCPConnector(
                ssl=self.credentials.ssl_context(),
                limit=0,
                keepalive_timeout=30,
                socket_factory=made,
            )
            session = aiohttp.ClientSession(
                connector=connector,
                middlewares=(_refused,),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                # Compressing megabytes on loopback or inside a cluster costs more than it saves.
                headers={"User-Agent": self._user_agent, "Accept-Encoding": "identity"},
            )
            kept = self._kept[loop] = _Connections(generation, session, sockets)
        return kept

    def _retire(self) -> None:
        """Make the next request on the running loop open new connections.

        The old connections stay open while they are in use, because readers of a closed
        connection are not notified.
        """
        loop = asyncio.get_running_loop()
        kept = self._kept.pop(loop, None)
        if kept is None:
            return
        kept.retired = True
        if not kept.uses:
            closing = loop.create_task(kept.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[aiohttp.ClientSession, None]:
        kept = self._connections()
        kept.uses += 1
        try:
            yield kept.session
        finally:
            await kept.leave()

    async def close(self) -> None:
        """Close the running loop's connections, including those in use, except retired ones."""
        kept = self._kept.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept.close()

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        params: Sequence[tuple[str, str]] = (),
        headers: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
        total_timeout: float | None = CALL_TIMEOUT,
        read_timeout: float | None = None,
        read_ahead: int | None = None,
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """Send a request and yield the response as soon as its headers arrive.

        `total_timeout` and `read_timeout` (between two reads) are in seconds; None means no
        limit. `read_ahead` is the approximate number of bytes buffered before they are read.
        Raise `ApiError` for a status of 300 or above and if there is no response.
        """
        timeout = aiohttp.ClientTimeout(
            total=total_timeout, sock_connect=CALL_TIMEOUT, sock_read=read_timeout
        )
        try:
            sent = await self._headers(headers)
            async with (
                self._session() as session,
                session.request(
                    method,
                    self.credentials.host + path,
                    params=list(params),
                    headers=sent,
                    data=_payload(body),
                    timeout=timeout,
                    allow_redirects=False,
                    proxy=self.credentials.proxy,
                    server_hostname=self.credentials.tls_server_name,
                    # aiohttp pauses reading at twice this size.
                    read_bufsize=read_ahead // 2 if read_ahead else None,
                ) as response,
            ):
                if read_ahead:
                    _read_no_further(response, read_ahead)
                try:
                    yield response
                except asyncio.CancelledError:
                    abort(response)
                    raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _failure(error) from error

    @asynccontextmanager
    async def request_any(
        self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """Send a request and yield the response, whatever its status. `path` and its query are sent
        unchanged.
        """
        try:
            sent = await self._headers(headers)
            async with (
                self._session() as session,
                session.request(
                    method,
                    URL(self.credentials.host + path, encoded=True),
                    headers=sent,
                    skip_auto_headers=("Content-Type",),
                    data=_payload(body),
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=CALL_TIMEOUT),
                    allow_redirects=False,
                    middlewares=(),
                    proxy=self.credentials.proxy,
                    server_hostname=self.credentials.tls_server_name,
                ) as response,
            ):
                try:
                    yield response
                finally:
                    if not response.content.at_eof():
                        abort(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _failure(error) from error

    async def open_raw(
        self, method: str, path: str, headers: Sequence[tuple[str, str]]
    ) -> RawConnection:
        """Send a request that asks to switch protocols, and return the connection, whatever the
        response's status. The caller must close it. `path` is sent unchanged.
        """
        try:
            return await open_raw(self.credentials, method, path, headers)
        except (TimeoutError, OSError) as error:
            raise _failure(error) from error

    async def connect(
        self,
        path: str,
        protocols: Sequence[str],
        *,
        params: Sequence[tuple[str, str]] = (),
        headers: Sequence[tuple[str, str]] = (),
    ) -> Websocket:
        """Open a websocket with one of the subprotocols, the preferred one first. The caller must
        close it.

        Raise `UnsupportedProtocol` if the server doesn't support any of them, and `ApiError` for any
        other response and for a missing response.
        """
        url = self.credentials.host + path
        try:
            opened = await self._websocket(url, protocols, params, headers)
        except Forbidden as error:
            # kube-apiserver's own errors are `Status` objects. A kubelet denies in plain text, and
            # rejects a handshake without a supported subprotocol with an empty 403 response.
            if error.status:
                raise
            denied = error.body.startswith(_KUBELET_DENIES)
            raise NodeRefused if denied else UnsupportedProtocol(protocols) from error
        if opened.protocol not in protocols:
            await opened.close()
            raise _no_websocket()
        return opened

    async def relay(
        self, path: str, protocols: Sequence[str], headers: Sequence[tuple[str, str]]
    ) -> Websocket:
        """Open a websocket with any of `protocols`, or without a subprotocol. `path` is sent
        unchanged.
        """
        url = URL(self.credentials.host + path, encoded=True)
        return await self._websocket(url, protocols, (), headers)

    async def _websocket(
        self,
        url: str | URL,
        protocols: Sequence[str],
        params: Sequence[tuple[str, str]],
        headers: Sequence[tuple[str, str]],
    ) -> Websocket:
        sent = await self._headers(headers)
        # The request is forwarded to a kubelet, which has no content negotiation and rejects other
        # values.
        sent["Accept"] = "*/*"
        kept = self._connections()
        kept.uses += 1
        try:
            socket = await kept.session.ws_connect(
                url,
                protocols=protocols,
                params=list(params),
                headers=sent,
                timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_TIMEOUT),
                proxy=self.credentials.proxy,
                server_hostname=self.credentials.tls_server_name,
            )
        except BaseException as error:
            await kept.leave()
            if isinstance(error, aiohttp.WSServerHandshakeError):
                raise _no_websocket() from error
            if isinstance(error, aiohttp.ClientError | TimeoutError | OSError):
                raise _failure(error) from error
            raise
        return Websocket(socket, kept.leave)

    async def _headers(self, headers: Sequence[tuple[str, str]]) -> CIMultiDict[str]:
        sent: CIMultiDict[str] = CIMultiDict(headers)
        sent.setdefault("Accept", JSON)
        own = self.credentials
        # A thread for each request would cost as much as the rest of a small request.
        current = own.is_current
        authorization = (
            own.authorization() if current else await asyncio.to_thread(own.authorization)
        )
        if authorization:
            sent["Authorization"] = authorization
        return sent

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Sequence[tuple[str, str]] = (),
        headers: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
        timeout: float = CALL_TIMEOUT,
    ) -> ApiResponse:
        """Send a request and return the complete response."""

        async def ask() -> ApiResponse:
            async with self.open(
                method, path, params=params, headers=headers, body=body, total_timeout=timeout
            ) as response:
                warnings = tuple(_warnings(response.headers.getall("Warning", ())))
                return ApiResponse(await _body(response), warnings)

        return await self.with_reloaded_credentials(ask)

    async def with_reloaded_credentials(self, doing: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `doing`. After a 401 or an untrusted certificate, reload the credentials and run it
        once more.
        """
        try:
            return await doing()
        except (Unauthorized, UntrustedCertificate):
            if not await self.reload():
                raise
            return await doing()

    async def reload(self) -> bool:
        """Reload the credentials. Return True if they may have changed; on errors the old ones
        stay.
        """
        kept = self._kept.get(asyncio.get_running_loop())
        used = kept.generation if kept is not None else 0
        try:
            anew = await asyncio.to_thread(self.credentials.reload)
        except Exception as error:  # noqa: BLE001  a partially written file can cause any exception
            log.warning("Cannot reload the credentials: %s", error)
            return False
        if not anew and used == self.credentials.generation:
            return False
        self._retire()
        return True


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Return the response body. Raise `TooLong` if it exceeds `MAX_ANSWER`."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > MAX_ANSWER:
            abort(response)
            raise TooLong
        pieces.append(piece)
    return b"".join(pieces)


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Create a socket with TCP keepalive.

    A watch on a broken connection then fails after `KEEP_ALIVE` instead of at its deadline.
    """
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        option = getattr(socket, name, None)
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def enlarge_read_buffer(response: aiohttp.ClientResponse) -> None:
    """Enlarge the TLS read buffer. It relies on private attributes of asyncio; without them, reads
    are only slower.
    """
    transport = response.connection.transport if response.connection is not None else None
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = _MUCH


def _payload(body: bytes | None) -> io.BytesIO | bytes | None:
    """Return the body in the form in which aiohttp sends it. aiohttp sends large bytes in one piece,
    which blocks the event loop, and warns about it.
    """
    return io.BytesIO(body) if body and len(body) > MAX_PIECE else body


def _read_no_further(response: aiohttp.ClientResponse, size: int) -> None:
    """Limit the unread TLS data to `size` bytes."""
    transport = response.connection.transport if response.connection is not None else None
    if isinstance(transport, sslproto._SSLProtocolTransport):
        transport.set_read_buffer_limits(size)


def abort(response: aiohttp.ClientResponse) -> None:
    """Abort the connection. A TLS shutdown would wait for the peer, which may not respond."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


async def _refused(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raise the error of a response with status 300 or above before aiohttp follows a redirect.

    For a rejected websocket handshake this is the only place that reads the response body.
    """
    response = await send(request)
    if response.status < 300:
        return response
    try:
        raise await _error(response)
    finally:
        response.release()


async def _error(response: aiohttp.ClientResponse) -> ApiError:
    """Return the `ApiError` for a response with status 300 or above."""
    if response.status < 400:
        why = Message("kube-apiserver returned a redirect, which the console does not follow")
        return InvalidResponse(why)
    raw = b""
    async for piece in response.content.iter_any():
        raw += piece
        if len(raw) > MAX_ERROR:
            break
    try:
        status = msgspec.json.decode(raw, type=dict[str, Any])
    except UNREADABLE:
        status = {}
    seconds = _seconds(response.headers.get("Retry-After", ""))
    return error_from_status(response.status, status, retry_after=seconds, body=raw)


def _warnings(values: Iterable[str]) -> Iterator[str]:
    """Yield the texts of `Warning` headers (RFC 7234, section 5.5)."""
    for value in values:
        for quoted in _WARNING.findall(value):
            yield re.sub(r"\\(.)", r"\1", quoted)


def _seconds(retry_after: str) -> float | None:
    """Parse a `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3).

    kube-apiserver sends seconds, but a proxy may send a date.
    """
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
        # A date without a time zone is in GMT.
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def no_response(why: str) -> Unavailable:
    return Unavailable(Message("No response from the Kubernetes API: %(why)s", why=why))


def _no_websocket() -> InvalidResponse:
    return InvalidResponse(Message("The response from the Kubernetes API is not a WebSocket"))


def _failure(error: BaseException) -> Unavailable:
    """Return the exception for a connection error."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        why = Message("the certificate is not trusted")
        return UntrustedCertificate(
            Message("No response from the Kubernetes API: %(why)s", why=why)
        )
    return no_response(failure_reason(error))


def failure_reason(error: BaseException) -> str:
    """Describe a connection error in words, without memory addresses, keys or headers."""
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    if isinstance(error, aiohttp.ClientConnectorError):
        return Message("%(host)s refused the connection", host=f"{error.host}:{error.port}")
    if isinstance(error, OSError | aiohttp.ServerConnectionError):
        return Message("the connection was closed")
    return Message("the response is invalid")
