"""HTTP clients for kube-apiserver: credentials, raw request and response bodies, typed errors.

There are three clients with three identities (see `manifests/identities.yaml` and
`reader.yaml`):

- `ReaderClient` only lists and watches. It feeds the shared cache.
- `UserClient` sends the requests of a user. It requires an `Identity` and sends it as
  impersonation headers with every request. Its credential grants nothing but impersonation, so
  kube-apiserver rejects a request that lacks the headers.
- `ConsoleClient` acts as the console itself, for controllers and a few named use cases.

`console.kube.credentials` describes where each identity's credentials come from.

Redirects are never followed. Calls are not retried, except once after a 401 or an untrusted
certificate, with reloaded credentials and certificate authority. Failures are `ApiError`s. Calls
run on the caller's event loop; a client keeps one HTTP session per loop.
"""

import asyncio
import logging
import re
import socket
import ssl
import weakref
from asyncio import sslproto
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, TypeVar

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

from console.kube.credentials import Credentials
from console.kube.errors import (
    ApiError,
    Forbidden,
    ObjectRecreated,
    ServerError,
    TooDeep,
    Unauthorized,
    Unavailable,
    UntrustedCertificate,
    error_from_status,
)
from console.kube.gvr import GVR, PODS, SERVICE_ACCOUNTS
from console.kube.identity import Identity
from console.kube.messages import Message
from console.kube.store import UNREADABLE
from console.kube.throttledreader import Chunks, ThrottledReader
from console.kube.websocket import Websocket

FIELD_MANAGER = "quarterdeck"
#: Timeout of an ordinary call in seconds. A page responds within 5 s even if the server does not.
CALL_TIMEOUT = 4.5
#: Timeout in seconds for opening a stream. kube-apiserver may have to contact a kubelet first.
OPEN_TIMEOUT = 10.0
#: Seconds to wait for the peer's close frame when closing a websocket.
CLOSE_TIMEOUT = 1.0
#: Timeout in seconds for the response headers of a program behind a proxy subresource.
PROXY_TIMEOUT = 60.0
#: Maximum size of a response body in bytes. etcd objects are at most 1.5 MiB, and JSON at most
#: doubles that.
MAX_ANSWER = 16 * 2**20
#: Page size of a list, and the number of pages after which the server's `continue` tokens are not
#: trusted anymore.
PAGE, MOST_PAGES = 500, 1_000
#: Maximum number of bytes read from an error response.
MAX_ERROR = 64 * 2**10
#: Read buffer size of a TLS connection in bytes. With asyncio's default, the buffer is most of the
#: memory cost of a followed log or a terminal. Lists keep the default, which reads them 10% faster.
_MUCH, sslproto.SSLProtocol.max_size = sslproto.SSLProtocol.max_size, 4 * 1024
#: Bytes of a long response that may be buffered in each of TLS and HTTP before flow control stops
#: the server. With the defaults, these buffers are most of the memory cost of an unread response.
_LITTLE = 32 * 1024
#: TCP keepalive: idle seconds before the first probe, seconds between probes, and the number of
#: unanswered probes before the connection is dropped.
KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
#: Maximum seconds to wait for unused connections to close.
_GOODBYE = 1.0

log = logging.getLogger(__name__)

T = TypeVar("T")

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

_TOO_LONG = Message("the request timed out")
#: Warn code, warn agent and the quoted text.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
#: A resourceVersion within the range of etcd revisions.
_VERSION = re.compile(r"[0-9]{1,18}")


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


class ProxiedResponse(msgspec.Struct, frozen=True):
    """The response of a program behind a proxy subresource.

    Flow control stops the server while `content` is not read.
    """

    code: int
    headers: Sequence[tuple[str, str]]
    content: AsyncIterator[bytes]


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
                    data=body,
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
                    _abort(response)
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
                    data=body,
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
                        _abort(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _failure(error) from error

    async def connect(
        self,
        path: str,
        protocol: str,
        *,
        params: Sequence[tuple[str, str]] = (),
        headers: Sequence[tuple[str, str]] = (),
    ) -> Websocket:
        """Open a websocket with the subprotocol `protocol`. The caller must close it.

        Raise `ApiError` for any other response, or if there is none.
        """
        opened = await self._websocket(self.credentials.host + path, (protocol,), params, headers)
        if opened.protocol != protocol:
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
        authorization = await asyncio.to_thread(self.credentials.authorization)
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
    """Return the response body. Raise `ServerError` if it exceeds `MAX_ANSWER`."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > MAX_ANSWER:
            _abort(response)
            raise _too_long()
        pieces.append(piece)
    return b"".join(pieces)


def _too_long() -> ServerError:
    return ServerError(502, Message("The response from the Kubernetes API is too long"))


class _Metadata(msgspec.Struct):
    """The metadata fields that callers rely on. kube-apiserver validates them for custom objects
    too.
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    ownerReferences: list[dict[str, Any]] | None = None


def _object(body: bytes, *, stored: bool = False) -> dict[str, Any]:
    """Decode a response body as a Kubernetes object or `Status`.

    The body must be validated because a proxy in between may send anything with status 200.
    `stored` requires a uid and a resourceVersion, which every object in etcd has. Raise
    `ServerError`, or `TooDeep` for nesting that only a tenant's object can have.
    """
    try:
        found = msgspec.json.decode(body, type=dict[str, Any])
        metadata = msgspec.convert(found.get("metadata"), _Metadata)
    except RecursionError as error:
        raise TooDeep from error
    except UNREADABLE as error:
        raise _no_object() from error
    if stored and not (metadata.uid and metadata.resourceVersion):
        raise _no_object()
    return found


def _no_object() -> ServerError:
    return ServerError(502, Message("The response from the Kubernetes API is not an object"))


class _Token(msgspec.Struct):
    token: str


class _TokenRequest(msgspec.Struct):
    status: _Token


class _Page(msgspec.Struct):
    items: list[dict[str, Any]] | None = None


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


def _expect_much(response: aiohttp.ClientResponse) -> None:
    """Enlarge the TLS read buffer. It relies on private attributes of asyncio; without them, reads
    are only slower.
    """
    transport = response.connection.transport if response.connection is not None else None
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = _MUCH


def _read_no_further(response: aiohttp.ClientResponse, size: int) -> None:
    """Limit the unread TLS data to `size` bytes."""
    transport = response.connection.transport if response.connection is not None else None
    if isinstance(transport, sslproto._SSLProtocolTransport):
        transport.set_read_buffer_limits(size)


def _abort(response: aiohttp.ClientResponse) -> None:
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
        return ServerError(502, why)
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


async def _unless_status(code: int, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the response body as an iterator, or raise the `ApiError` if it is a `Status` object.

    kube-apiserver sends its own errors as `Status`. A proxied program that sends a `Status` is
    treated the same way.
    """
    raw = b""
    async for piece in content:
        raw += piece
        if len(raw) > MAX_ERROR:
            break
    else:
        try:
            status = msgspec.json.decode(raw, type=dict[str, Any])
        except UNREADABLE:
            status = {}
        told = (status.get("kind"), status.get("apiVersion"), status.get("status"))
        if told == ("Status", "v1", "Failure"):
            raise error_from_status(code, status)

    async def all_of_it() -> AsyncIterator[bytes]:
        yield raw
        async for piece in content:
            yield piece

    return all_of_it()


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


def _no_answer(why: str) -> Unavailable:
    return Unavailable(Message("No response from the Kubernetes API: %(why)s", why=why))


def _no_websocket() -> ServerError:
    return ServerError(502, Message("The response from the Kubernetes API is not a WebSocket"))


def _failure(error: BaseException) -> Unavailable:
    """Return the exception for a connection error."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        why = Message("the certificate is not trusted")
        return UntrustedCertificate(
            Message("No response from the Kubernetes API: %(why)s", why=why)
        )
    return _no_answer(_plain(error))


def _plain(error: BaseException) -> str:
    """Describe an error without memory addresses, keys or headers."""
    if isinstance(error, TimeoutError):
        return _TOO_LONG
    if isinstance(error, aiohttp.ClientConnectorError):
        return Message("%(host)s refused the connection", host=f"{error.host}:{error.port}")
    return type(error).__name__


class ReaderClient:
    """List and watch with the reader identity.

    Each request uses a new connection. A reused one may be dead, which only the deadline would
    detect.
    """

    _headers: Sequence[tuple[str, str]] = (("Connection", "close"),)
    _reads_much: ClassVar[bool] = True

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @asynccontextmanager
    async def stream(
        self,
        gvr: GVR,
        namespace: str,
        params: Sequence[tuple[str, str]],
        *,
        read_timeout: float,
        throttled: bool = False,
    ) -> AsyncGenerator[Chunks, None]:
        """Yield the bytes of a list or watch response as soon as the server accepts the request.

        Set `throttled` for long-running responses (see `console.kube.throttledreader`).
        """
        async with self._transport.open(
            "GET",
            gvr.path(namespace),
            params=params,
            headers=self._headers,
            total_timeout=None,
            read_timeout=read_timeout,
        ) as response:
            if self._reads_much:
                _expect_much(response)
            yield ThrottledReader(response) if throttled else response.content

    async def latest(self, gvr: GVR, namespace: str) -> bytes:
        """Return a JSON list of at most one object, at the server's current resourceVersion."""
        answer = await self._transport.request(
            "GET", gvr.path(namespace), params=[("limit", "1")], headers=self._headers
        )
        return answer.body

    async def ready(self) -> None:
        """Return if /readyz responds with 200 within 3 s. Raise `ApiError` otherwise."""
        await self._transport.request("GET", "/readyz", timeout=3)

    async def reload(self) -> None:
        await self._transport.reload()


class ObjectClient:
    """Read and write single objects as JSON dictionaries."""

    def __init__(self, transport: Transport, headers: Sequence[tuple[str, str]] = ()) -> None:
        self._transport = transport
        self._headers = tuple(headers)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        content_type: str = JSON,
        params: Sequence[tuple[str, str]] = (),
        audit_id: str = "",
        warnings: list[str] | None = None,
        stored: bool = False,
    ) -> dict[str, Any]:
        """Send a request and return the decoded object.

        The response's warnings are appended to `warnings`. `stored` requires the object to have
        a uid and a resourceVersion.
        """
        headers = [*self._headers]
        data = None
        if body is not None:
            data = msgspec.json.encode(body)
            headers.append(("Content-Type", content_type))
        if audit_id:
            headers.append(("Audit-ID", audit_id))
        answer = await self._transport.request(
            method, path, params=params, headers=headers, body=data
        )
        if warnings is not None:
            warnings += answer.warnings
        return _object(answer.body, stored=stored)

    async def get(
        self, gvr: GVR, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> dict[str, Any]:
        path = gvr.object_path(namespace, name)
        return await self._call("GET", path, audit_id=audit_id, stored=True)

    async def list_by_fields(self, gvr: GVR, fields: str) -> Sequence[dict[str, Any]]:
        """Return the objects of all namespaces that match the field selector `fields`."""
        params = {"limit": str(PAGE), "fieldSelector": fields}
        found: list[dict[str, Any]] = []
        for _page in range(MOST_PAGES):
            page = await self._call("GET", gvr.path(), params=[*params.items()])
            try:
                found += msgspec.convert(page, _Page).items or ()
            except msgspec.ValidationError as error:
                raise _no_object() from error
            token = page["metadata"].get("continue")
            if not token:
                return found
            params["continue"] = str(token)
        raise _too_long()

    async def create(
        self,
        gvr: GVR,
        body: dict[str, Any],
        *,
        namespace: str = "",
        dry_run: bool = False,
        audit_id: str = "",
        warnings: list[str] | None = None,
        stored: bool = True,
    ) -> dict[str, Any]:
        """Create an object. Set `stored=False` for objects that are not persisted, like
        `SubjectAccessReview`.
        """
        return await self._call(
            "POST",
            gvr.path(namespace),
            body=body,
            params=_writing(dry_run=dry_run),
            audit_id=audit_id,
            warnings=warnings,
            stored=stored and not dry_run,
        )

    async def replace(
        self,
        gvr: GVR,
        body: dict[str, Any],
        *,
        namespace: str = "",
        name: str,
        subresource: str = "",
        audit_id: str = "",
    ) -> dict[str, Any]:
        """Replace an object. Raise `Conflict` unless `body` has the object's current
        resourceVersion.
        """
        _check_version(body)
        path = gvr.object_path(namespace, name, subresource)
        return await self._call(
            "PUT", path, body=body, params=_writing(), audit_id=audit_id, stored=True
        )

    async def patch(
        self,
        gvr: GVR,
        body: Any,
        *,
        namespace: str = "",
        name: str,
        content_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        audit_id: str = "",
        warnings: list[str] | None = None,
    ) -> dict[str, Any]:
        """Patch an object. Raise `Conflict` if `body` has an outdated resourceVersion.

        `APPLY_PATCH` is a forced server-side apply: it takes over fields that other managers
        own. https://kubernetes.io/docs/reference/using-api/server-side-apply/
        """
        _check_version(body)
        params = _writing(dry_run=dry_run)
        if content_type == APPLY_PATCH:
            params.append(("force", "true"))
        return await self._call(
            "PATCH",
            gvr.object_path(namespace, name, subresource),
            body=body,
            content_type=content_type,
            params=params,
            audit_id=audit_id,
            warnings=warnings,
            stored=not dry_run,
        )

    async def apply(self, gvr: GVR, body: dict[str, Any], *, audit_id: str = "") -> dict[str, Any]:
        """Apply `body` with server-side apply."""
        metadata = body["metadata"]
        return await self.patch(
            gvr,
            body,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            content_type=APPLY_PATCH,
            audit_id=audit_id,
        )

    async def delete(
        self,
        gvr: GVR,
        *,
        namespace: str = "",
        name: str,
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
        policy: str = "",
        dry_run: bool = False,
        audit_id: str = "",
    ) -> dict[str, Any]:
        """Delete the object if it still has `uid` and `resource_version`.

        `grace` (seconds) and `policy` (propagation policy) default to those of kube-apiserver.
        """
        given = {"uid": uid, "resourceVersion": resource_version}
        options: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {field: value for field, value in given.items() if value},
        }
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if policy:
            options["propagationPolicy"] = policy
        if dry_run:
            options["dryRun"] = ["All"]
        path = gvr.object_path(namespace, name)
        try:
            return await self._call("DELETE", path, body=options, audit_id=audit_id)
        except TooDeep:
            # The object was deleted. Only the response could not be decoded.
            return {}

    async def evict(
        self,
        *,
        namespace: str,
        name: str,
        uid: str,
        grace: int | None = None,
        dry_run: bool = False,
        audit_id: str = "",
    ) -> None:
        """Evict the pod if it still has `uid`.

        `grace` (seconds) defaults to the pod's grace period. Raise `TooManyRequests` if a
        PodDisruptionBudget does not allow the eviction.
        https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
        """
        options: dict[str, Any] = {"preconditions": {"uid": uid}}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if dry_run:
            options["dryRun"] = ["All"]
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": options,
        }
        path = PODS.object_path(namespace, name, "eviction")
        await self._call("POST", path, body=eviction, audit_id=audit_id)


class UserClient(ObjectClient):
    """Send requests on behalf of a user."""

    def __init__(
        self,
        transport: Transport,
        identity: Identity,
        *,
        on_refusal: Callable[[str, Forbidden], None] | None = None,
    ) -> None:
        """`on_refusal` is called with the path and the error of every request that is forbidden."""
        if not isinstance(identity, Identity):
            raise TypeError("UserClient requires an Identity")
        super().__init__(transport, identity.headers())
        self.identity = identity
        self._on_refusal = on_refusal

    async def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        try:
            return await super()._call(method, path, **request)
        except Forbidden as error:
            if self._on_refusal is not None:
                self._on_refusal(path, error)
            raise

    async def get_openapi(self, document: str = "") -> bytes:
        """Return the index of kube-apiserver's OpenAPI v3 documents, or the document named
        `document`.

        See `console.kube.openapi`.
        """
        path = f"/openapi/v3/{document}" if document else "/openapi/v3"
        return (await self._transport.request("GET", path, headers=self._headers)).body

    @asynccontextmanager
    async def stream(
        self, path: str, params: Sequence[tuple[str, str]] = (), *, audit_id: str = ""
    ) -> AsyncGenerator[aiohttp.StreamReader, None]:
        """Yield the bytes of a long response as soon as its headers arrive.

        Flow control stops the server while the stream is not read. Raise `ApiError` for an error
        response and if the connection breaks.
        """
        headers = self._recorded(audit_id)
        async with AsyncExitStack() as stack:

            def opened() -> Coroutine[Any, Any, aiohttp.ClientResponse]:
                return stack.enter_async_context(
                    self._transport.open(
                        "GET",
                        path,
                        params=params,
                        headers=headers,
                        total_timeout=None,
                        read_ahead=_LITTLE,
                    )
                )

            response = await self._begin(opened)
            try:
                yield response.content
            finally:
                if not response.content.at_eof():
                    _abort(response)

    @asynccontextmanager
    async def connect(
        self,
        path: str,
        protocol: str,
        params: Sequence[tuple[str, str]] = (),
        *,
        audit_id: str = "",
    ) -> AsyncGenerator[Websocket, None]:
        """Yield a websocket to `path`. Raise `ApiError` if the server does not open one."""
        headers = self._recorded(audit_id)
        socket = await self._begin(
            lambda: self._transport.connect(path, protocol, params=params, headers=headers)
        )
        try:
            yield socket
        finally:
            await socket.close()

    def _recorded(self, audit_id: str) -> list[tuple[str, str]]:
        return [*self._headers, *([("Audit-ID", audit_id)] if audit_id else ())]

    async def _begin(
        self, opened: Callable[[], Coroutine[Any, Any, T]], seconds: float = OPEN_TIMEOUT
    ) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await self._transport.with_reloaded_credentials(opened)
        except TimeoutError as error:
            raise _no_answer(_TOO_LONG) from error

    @asynccontextmanager
    async def proxy(
        self,
        method: str,
        path: str,
        *,
        headers: Sequence[tuple[str, str]],
        body: bytes | None = None,
        audit_id: str = "",
    ) -> AsyncGenerator[ProxiedResponse, None]:
        """Yield the response of a program behind a proxy subresource as soon as its headers arrive.

        `path` is encoded and includes the query. `headers` must contain only allowed headers of
        the browser's request; the impersonation headers are added here. Raise `ApiError` for
        errors of kube-apiserver itself and if the connection breaks.
        """
        sent = [*headers, *self._recorded(audit_id)]
        async with AsyncExitStack() as stack:
            found = await self._begin(
                lambda: self._proxied(stack, method, path, sent, body), PROXY_TIMEOUT
            )
            yield found

    @asynccontextmanager
    async def relay(
        self,
        path: str,
        protocols: Sequence[str],
        headers: Sequence[tuple[str, str]],
        *,
        audit_id: str = "",
    ) -> AsyncGenerator[Websocket, None]:
        """Yield a websocket to a program behind a proxy subresource.

        Raise `ApiError` if the server does not open one.
        """
        sent = [*headers, *self._recorded(audit_id)]
        socket = await self._begin(lambda: self._transport.relay(path, protocols, sent))
        try:
            yield socket
        finally:
            await socket.close()

    async def _proxied(
        self,
        stack: AsyncExitStack,
        method: str,
        path: str,
        headers: Sequence[tuple[str, str]],
        body: bytes | None,
    ) -> ProxiedResponse:
        opened = self._transport.request_any(method, path, headers, body)
        response = await stack.enter_async_context(opened)
        answered = [(name, value) for name, value in response.headers.items()]
        content: AsyncIterator[bytes] = response.content.iter_any()
        if response.status >= 400 and response.content_type == JSON:
            content = await _unless_status(response.status, content)
        return ProxiedResponse(response.status, answered, content)

    async def get_resources(self, group: str, version: str) -> bytes:
        """Return the resource types that kube-apiserver serves in a group version (see
        `console.kube.api_discovery`).
        """
        # A resource path without the plural is the path of the group version.
        path = GVR(group, version, "").path()
        return (await self._transport.request("GET", path, headers=self._headers)).body


class ConsoleClient(ObjectClient):
    """Send requests as the console itself."""

    async def request_token(self, *, namespace: str, name: str, seconds: int) -> str:
        """Return a service account token that is valid for `seconds`, or for the maximum the server
        allows.
        """
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": [], "expirationSeconds": seconds},
        }
        path = SERVICE_ACCOUNTS.object_path(namespace, name, "token")
        made = await self._call("POST", path, body=body)
        try:
            return msgspec.convert(made, _TokenRequest).status.token
        except msgspec.ValidationError as error:
            raise _no_object() from error

    def guarded(self, check: Callable[[], None]) -> "ConsoleClient":
        """Return a client that calls `check` before each write. `check` raises `ApiError` to reject
        the write.

        Each write takes at most `CALL_TIMEOUT` seconds in total.
        """
        return _GuardedClient(self._transport, check)


class _GuardedClient(ConsoleClient):
    def __init__(self, transport: Transport, check: Callable[[], None]) -> None:
        super().__init__(transport)
        self._check = check

    async def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        if method == "GET":
            return await super()._call(method, path, **request)
        self._check()
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                return await super()._call(method, path, **request)
        except TimeoutError as error:
            raise _no_answer(_TOO_LONG) from error


def _check_version(body: Any) -> None:
    """Raise `Conflict` for a malformed resourceVersion.

    The value comes from forms, and kube-apiserver would respond with status 500.
    """
    metadata = body.get("metadata") if isinstance(body, dict) else None
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if version is not None and not _VERSION.fullmatch(version):
        raise ObjectRecreated


def _writing(*, dry_run: bool = False) -> list[tuple[str, str]]:
    trial = [("dryRun", "All")] if dry_run else []
    return [("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict"), *trial]
