"""HTTP to kube-apiserver: credentials, raw bytes in and out, typed errors.

Three clients, three identities (see `manifests/identities.yaml` and `reader.yaml`):

- `ReaderClient` lists and watches, nothing else. It feeds the shared cache.
- `UserClient` does what a person asked for. It cannot be made without an `Identity` and sends it as
  impersonation headers with every request; its credential may do nothing but impersonate, so a
  request that lost the headers is refused by kube-apiserver.
- `ConsoleClient` acts as the console itself, for controllers and named use cases.

Where each has its credential from says `console.kube.credentials`.

Promises: redirects are never followed; no call is retried, but once after a 401 or a certificate that is
not trusted, with the credentials and the authority read anew; failures are `ApiError`s. Calls run on the
caller's event loop: a client keeps one HTTP session for each loop that uses it.
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
    Distrusted,
    Forbidden,
    Replaced,
    ServerError,
    TooDeep,
    Unauthorized,
    Unavailable,
    error_from_status,
)
from console.kube.gvr import GVR, PODS, SERVICE_ACCOUNTS
from console.kube.identity import Identity
from console.kube.sentences import Sentence
from console.kube.store import UNREADABLE
from console.kube.throttledreader import Chunks, ThrottledReader
from console.kube.websocket import Websocket

FIELD_MANAGER = "quarterdeck"
#: Seconds for an ordinary call, so that a page answers within 5 s when the server does not.
CALL_TIMEOUT = 4.5
#: Seconds until a stream has begun: what kube-apiserver has to ask a kubelet first may take longer.
OPEN_TIMEOUT = 10.0
#: Seconds that the other side of a websocket has to close it as well.
CLOSE_TIMEOUT = 1.0
#: The same for what a program behind a proxy subresource answers, which may have to work for it.
PROXY_TIMEOUT = 60.0
#: Bytes of one answer. etcd holds no object of more than 1.5 MiB, and JSON doubles it at most.
MAX_ANSWER = 16 * 2**20
#: Objects of one page of a list, and pages after which no server has told the truth.
PAGE, MOST_PAGES = 500, 1_000
#: Bytes that are read of an answer that says what went wrong.
MAX_ERROR = 64 * 2**10
#: Bytes that a TLS connection has ready for what it reads. asyncio's own would be most of what a followed
#: log or a terminal costs; lists have it, which are read a tenth quicker with it.
_MUCH, sslproto.SSLProtocol.max_size = sslproto.SSLProtocol.max_size, 4 * 1024
#: Bytes of a long answer that wait in its connection, in TLS and in HTTP each, before the server is held
#: back: theirs of their own would be most of what an answer costs that nobody reads.
_LITTLE = 32 * 1024
#: Of TCP: seconds of silence, then seconds between questions, and how many may stay unanswered.
KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
#: Seconds, at most, until connections that nobody uses are closed.
_GOODBYE = 1.0

log = logging.getLogger(__name__)

T = TypeVar("T")

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

_TOO_LONG = Sentence("it took too long")
#: Code, who warns, and the text in quotes.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
#: A resourceVersion that fits etcd's revisions.
_VERSION = re.compile(r"[0-9]{1,18}")


class Endpoint(msgspec.Struct, frozen=True):
    """Where kube-apiserver is, and how its certificate is checked. `authority` is PEM, "" for the
    system's own; `server_name` is "" for that of the address."""

    url: str
    authority: str = ""
    server_name: str = ""


class Answer(msgspec.Struct, frozen=True):
    """`warnings`: what the server says to whoever asked, though it did what was asked."""

    body: bytes
    warnings: tuple[str, ...] = ()


class Proxied(msgspec.Struct, frozen=True):
    """What a program behind a proxy subresource answers. Who does not read `content` holds it back."""

    code: int
    headers: Sequence[tuple[str, str]]
    content: AsyncIterator[bytes]


@dataclass(eq=False, slots=True)
class _Connections:
    """Those of one event loop, made of one generation of the credentials."""

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
        """Returns when all are closed, also those on which TLS waits for the other side's goodbye."""
        await self.session.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                while remaining := [one for one in self.sockets if one.fileno() >= 0]:
                    for one in remaining:
                        # It may be closed already on the other side.
                        with suppress(OSError):
                            one.shutdown(socket.SHUT_RDWR)
                    await asyncio.sleep(0)


class Transport:
    """Requests with one credential. Knows nothing of objects."""

    def __init__(self, credentials: Credentials, *, user_agent: str = "quarterdeck") -> None:
        self.credentials = credentials
        self._user_agent = user_agent
        self._closing: set[asyncio.Task[None]] = set()
        self._kept: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections]
        self._kept = weakref.WeakKeyDictionary()

    def _connections(self) -> _Connections:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        # Others who have these credentials, too, may have read them anew.
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
                # identity: compressing megabytes on loopback or in a cluster costs more than it saves.
                headers={"User-Agent": self._user_agent, "Accept-Encoding": "identity"},
            )
            kept = self._kept[loop] = _Connections(generation, session, sockets)
        return kept

    def _retire(self) -> None:
        """The next request on the running loop has other connections. What is being read on these goes
        on: whoever waits for more on one that is closed is not told."""
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
        """Closes the running loop's connections, also those in use, but for retired ones."""
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
        """The response once its headers are there; `ApiError` for 300 and above, or for none at all.

        `total_timeout` and `read_timeout` (between two reads) are seconds; None is no limit.
        `read_ahead`: bytes, about, that are read before somebody wants them.
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
                    # aiohttp stops at twice as much.
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
    async def exchange(
        self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """Any answer, whatever its code, to a request whose path and query go out as they are."""
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
        """A websocket that speaks `protocol`, for the caller to close; `ApiError` for any other answer,
        or none at all."""
        opened = await self._websocket(self.credentials.host + path, (protocol,), params, headers)
        if opened.protocol != protocol:
            await opened.close()
            raise _no_websocket()
        return opened

    async def relay(
        self, path: str, protocols: Sequence[str], headers: Sequence[tuple[str, str]]
    ) -> Websocket:
        """The same with whichever of some protocols, or none, and with a path that goes out as it is."""
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
        # A kubelet, to which it goes on, has no representations, and refuses whoever wants one.
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
    ) -> Answer:
        """The whole answer."""

        async def ask() -> Answer:
            async with self.open(
                method, path, params=params, headers=headers, body=body, total_timeout=timeout
            ) as response:
                warnings = tuple(_warnings(response.headers.getall("Warning", ())))
                return Answer(await _body(response), warnings)

        return await self.trusted(ask)

    async def trusted(self, doing: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """A first 401, or a certificate that is not trusted, makes the credentials be read anew and the
        call repeated."""
        try:
            return await doing()
        except (Unauthorized, Distrusted):
            if not await self.reload():
                raise
            return await doing()

    async def reload(self) -> bool:
        """Reads the credentials anew; True if they may have changed. Errors leave the old ones."""
        kept = self._kept.get(asyncio.get_running_loop())
        used = kept.generation if kept is not None else 0
        try:
            anew = await asyncio.to_thread(self.credentials.reload)
        except Exception as error:  # noqa: BLE001  files that are being written may be anything
            log.warning("The credentials cannot be read anew: %s", error)
            return False
        if not anew and used == self.credentials.generation:
            return False
        self._retire()
        return True


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Raises `ServerError` for one that does not come to an end."""
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
    return ServerError(502, Sentence("The answer of the Kubernetes API is too long"))


class _Metadata(msgspec.Struct):
    """Of it what callers rely on, which kube-apiserver sees to in all objects, custom ones too."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    ownerReferences: list[dict[str, Any]] | None = None


def _object(body: bytes, *, stored: bool = False) -> dict[str, Any]:
    """What every answer to a call is: an object of Kubernetes, or its `Status`. A proxy in between may
    answer 200 with anything. `stored`: an object that is in etcd, so that it has uid and version. Raises
    `ServerError`, and `TooDeep` for what only a tenant can have made."""
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
    return ServerError(502, Sentence("The answer of the Kubernetes API is no object"))


class _Token(msgspec.Struct):
    token: str


class _TokenRequest(msgspec.Struct):
    status: _Token


class _Page(msgspec.Struct):
    items: list[dict[str, Any]] | None = None


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """One whose other side is asked for a sign of life when it is silent, so that a watch on a line that
    is gone ends after `KEEP_ALIVE`, not after its deadline."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        option = getattr(socket, name, None)
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _expect_much(response: aiohttp.ClientResponse) -> None:
    """Where asyncio does not let us, it is only slower."""
    transport = response.connection.transport if response.connection is not None else None
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = _MUCH


def _read_no_further(response: aiohttp.ClientResponse, size: int) -> None:
    """So many bytes of TLS wait until what came before is read."""
    transport = response.connection.transport if response.connection is not None else None
    if isinstance(transport, sslproto._SSLProtocolTransport):
        transport.set_read_buffer_limits(size)


def _abort(response: aiohttp.ClientResponse) -> None:
    """Breaks the connection. TLS would end it by asking the other side, which may be gone."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


async def _refused(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raises what an answer of 300 and above says, before a redirect could be followed. Of a websocket
    that is refused nobody else reads it."""
    response = await send(request)
    if response.status < 300:
        return response
    try:
        raise await _error(response)
    finally:
        response.release()


async def _error(response: aiohttp.ClientResponse) -> ApiError:
    """The ApiError of an answer of 300 and above."""
    if response.status < 400:
        why = Sentence("kube-apiserver answered with a redirect, which is never followed")
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
    """What is to be read still. Raises the `ApiError` of a `Status`, which is what kube-apiserver says
    itself: a program could send one too, and would be understood as it wants to be."""
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
    """The texts of `Warning` headers (RFC 7234, section 5.5)."""
    for value in values:
        for quoted in _WARNING.findall(value):
            yield re.sub(r"\\(.)", r"\1", quoted)


def _seconds(retry_after: str) -> float | None:
    """Seconds or a date (RFC 9110, section 10.2.3); kube-apiserver sends the former, a proxy may not."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
        # A date without a zone is in GMT.
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _no_answer(why: str) -> Unavailable:
    return Unavailable(Sentence("No answer from the Kubernetes API: %(why)s", why=why))


def _no_websocket() -> ServerError:
    return ServerError(502, Sentence("The answer of the Kubernetes API is no websocket"))


def _failure(error: BaseException) -> Unavailable:
    """Of a connection."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        why = Sentence("its certificate is not trusted")
        return Distrusted(Sentence("No answer from the Kubernetes API: %(why)s", why=why))
    return _no_answer(_plain(error))


def _plain(error: BaseException) -> str:
    """A sentence without addresses of memory, keys or headers."""
    if isinstance(error, TimeoutError):
        return _TOO_LONG
    if isinstance(error, aiohttp.ClientConnectorError):
        return Sentence("%(host)s refused the connection", host=f"{error.host}:{error.port}")
    return type(error).__name__


class ReaderClient:
    """Lists and watches as the reader, each on a connection of its own: one that was kept may be dead,
    and only the deadline would tell."""

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
        """The bytes of a list or a watch, from when the server has accepted it. `throttled`: of one that
        goes on for long (see `console.kube.throttledreader`)."""
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
        """A list of one object at most, at the server's present resourceVersion, as JSON."""
        answer = await self._transport.request(
            "GET", gvr.path(namespace), params=[("limit", "1")], headers=self._headers
        )
        return answer.body

    async def ready(self) -> None:
        """Proof of life: returns if /readyz answers 200 within 3 s, else raises `ApiError`."""
        await self._transport.request("GET", "/readyz", timeout=3)

    async def reload(self) -> None:
        await self._transport.reload()


class ObjectClient:
    """Reads and writes single objects as JSON dictionaries."""

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
        """`warnings`: gets those of the answer. `stored`: that is an object with uid and version."""
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

    async def select(self, gvr: GVR, fields: str) -> Sequence[dict[str, Any]]:
        """The objects of all namespaces that a field selector chooses."""
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
        """`stored`: it is there from then on, as a review (`SubjectAccessReview`) is not."""
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
        """Refused with `Conflict` unless `body` carries the object's current resourceVersion."""
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
        """Refused with `Conflict` if `body` carries a resourceVersion that is not the current one. With
        `APPLY_PATCH` it is applied, taking fields that another manager owns:
        https://kubernetes.io/docs/reference/using-api/server-side-apply/
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
        """Server-side apply of `body`."""
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
        """Deletes the object if it still is the one with `uid` and `resource_version`. `grace` (seconds)
        and `policy` (of propagation) are kube-apiserver's own where they are not given."""
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
            # It is done, whatever the object was.
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
        """Deletes the pod if it still is the one with `uid`, and if its disruption budget allows it; else
        refused with `TooManyRequests`. `grace` (seconds) is the pod's own where it is not given.
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
    """Acts as a person."""

    def __init__(
        self,
        transport: Transport,
        identity: Identity,
        *,
        on_refusal: Callable[[str, Forbidden], None] | None = None,
    ) -> None:
        """`on_refusal`: told of every path whose change or reading was forbidden, and why."""
        if not isinstance(identity, Identity):
            raise TypeError("a UserClient needs an Identity")
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
        """What kube-apiserver publishes of its types: the index of its documents, or the one of that
        name (see `console.kube.openapi`)."""
        path = f"/openapi/v3/{document}" if document else "/openapi/v3"
        return (await self._transport.request("GET", path, headers=self._headers)).body

    @asynccontextmanager
    async def stream(
        self, path: str, params: Sequence[tuple[str, str]] = (), *, audit_id: str = ""
    ) -> AsyncGenerator[aiohttp.StreamReader, None]:
        """The bytes of a long answer, from when the server has begun it. Whoever does not read them holds
        the server back. Raises `ApiError`, also when the answer breaks off."""
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
        """A websocket with what is at `path`. Raises `ApiError`, also for whatever answers but does not
        open one."""
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
                return await self._transport.trusted(opened)
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
    ) -> AsyncGenerator[Proxied, None]:
        """What a program answers behind a proxy subresource, from when it has begun to. `path`: with the
        query, encoded. `headers`: none of a browser's that was not chosen; whom it is asked as is added
        here. Raises `ApiError` for what kube-apiserver itself refuses, and when the answer breaks off."""
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
        """The same for a websocket. Raises `ApiError` for whatever answers but does not open one."""
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
    ) -> Proxied:
        opened = self._transport.exchange(method, path, headers, body)
        response = await stack.enter_async_context(opened)
        answered = [(name, value) for name, value in response.headers.items()]
        content: AsyncIterator[bytes] = response.content.iter_any()
        if response.status >= 400 and response.content_type == JSON:
            content = await _unless_status(response.status, content)
        return Proxied(response.status, answered, content)

    async def get_resources(self, group: str, version: str) -> bytes:
        """The types of one group and version that kube-apiserver serves (see `console.kube.served`)."""
        # The path of a type, without its plural.
        path = GVR(group, version, "").path()
        return (await self._transport.request("GET", path, headers=self._headers)).body


class ConsoleClient(ObjectClient):
    """Acts as the console itself."""

    async def request_token(self, *, namespace: str, name: str, seconds: int) -> str:
        """A token of a service account, for so long or what the server allows."""
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
        """One that asks before each write whether it still may: `check` raises `ApiError` if not. Such a
        write takes `CALL_TIMEOUT` seconds in all at most."""
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
    """Raises `Conflict` for a resourceVersion that no server gave out. kube-apiserver would fail of it,
    with a 500, and it comes from forms."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if version is not None and not _VERSION.fullmatch(version):
        raise Replaced


def _writing(*, dry_run: bool = False) -> list[tuple[str, str]]:
    trial = [("dryRun", "All")] if dry_run else []
    return [("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict"), *trial]
