"""Clients for kube-apiserver with three identities (see `manifests/identities.yaml` and
`reader.yaml`).

- `ReaderClient` only lists and watches. It feeds the shared cache.
- `UserClient` sends the requests of a user. It requires an `Identity` and sends it as
  impersonation headers with every request. Its credential grants nothing but impersonation, so
  kube-apiserver rejects a request that lacks the headers.
- `ConsoleClient` acts as the console itself, for controllers and a few named use cases.

`console.kube.credentials` describes where each identity's credentials come from. Failures are
`ApiError`s.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

import aiohttp
import msgspec

from console.kube.api_discovery import AGGREGATED
from console.kube.compatibility import ApiVersions
from console.kube.errors import (
    ApiError,
    Forbidden,
    InvalidResponse,
    ObjectRecreated,
    TooDeep,
    TooLong,
    error_from_status,
)
from console.kube.gvr import GVR, PODS, SERVICE_ACCOUNTS, Key
from console.kube.identity import Identity
from console.kube.messages import Message
from console.kube.rawconnection import RawConnection
from console.kube.store import UNREADABLE
from console.kube.throttledreader import Chunks, ThrottledReader
from console.kube.transport import (
    CALL_TIMEOUT,
    JSON,
    MAX_ERROR,
    TIMED_OUT,
    Transport,
    abort,
    enlarge_read_buffer,
    no_response,
)
from console.kube.websocket import Websocket

FIELD_MANAGER = "quarterdeck"
#: Timeout in seconds for opening a stream. kube-apiserver may have to contact a kubelet first.
OPEN_TIMEOUT = 10.0
#: Timeout in seconds for the response headers of a program behind a proxy subresource.
PROXY_TIMEOUT = 60.0
#: Page size of a list, and the number of pages after which the server's `continue` tokens are not
#: trusted anymore.
PAGE, MOST_PAGES = 500, 1_000
#: Bytes of a long response that may be buffered in each of TLS and HTTP before flow control stops
#: the server. With the defaults, these buffers are most of the memory cost of an unread response.
_LITTLE = 32 * 1024
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
#: Media types of a table, and of a list if the server can't convert its objects to a table.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#: Media types of a list of metadata, and of a list of whole objects.
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
APPLY_PATCH = "application/apply-patch+yaml"
#: A resourceVersion within the range of etcd revisions.
_VERSION = re.compile(r"[0-9]{1,18}")

T = TypeVar("T")


class ProxiedResponse(msgspec.Struct, frozen=True):
    """The response of a program behind a proxy subresource.

    Flow control stops the server while `content` is not read.
    """

    code: int
    headers: Sequence[tuple[str, str]]
    content: AsyncIterator[bytes]


class ReaderClient:
    """List and watch with the reader identity.

    Each request uses a new connection. A reused one may be dead, which only the deadline would
    detect.
    """

    _headers: Sequence[tuple[str, str]] = (("Connection", "close"),)
    _reads_much: ClassVar[bool] = True

    def __init__(
        self, transport: Transport, versions: Callable[[], ApiVersions] = ApiVersions
    ) -> None:
        """`versions` returns the API versions of the server (see `console.kube.compatibility`)."""
        self._transport = transport
        self._versions = versions

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
            self._versions().served(gvr).path(namespace),
            params=params,
            headers=self._headers,
            total_timeout=None,
            read_timeout=read_timeout,
        ) as response:
            if self._reads_much:
                enlarge_read_buffer(response)
            yield ThrottledReader(response) if throttled else response.content

    async def latest(self, gvr: GVR, namespace: str) -> bytes:
        """Return a JSON list of at most one object, at the server's current resourceVersion."""
        path = self._versions().served(gvr).path(namespace)
        answer = await self._transport.request(
            "GET", path, params=[("limit", "1")], headers=self._headers
        )
        return answer.body

    async def discovery(self, path: str) -> bytes:
        """Return a document of the discovery API, in the aggregated format if the server supports it
        (see `console.kube.api_discovery`).
        """
        headers = [*self._headers, ("Accept", AGGREGATED)]
        return (await self._transport.request("GET", path, headers=headers)).body

    async def ready(self) -> None:
        """Return if /readyz responds with 200 within 3 s. Raise `ApiError` otherwise."""
        await self._transport.request("GET", "/readyz", timeout=3)

    async def reload(self) -> None:
        await self._transport.reload()


class ObjectClient:
    """Read and write single objects as JSON dictionaries."""

    def __init__(
        self,
        transport: Transport,
        headers: Sequence[tuple[str, str]] = (),
        *,
        versions: Callable[[], ApiVersions] = ApiVersions,
    ) -> None:
        """`versions` returns the API versions of the server (see `console.kube.compatibility`)."""
        self._transport = transport
        self._headers = tuple(headers)
        self._versions = versions

    def _recorded(self, audit_id: str) -> list[tuple[str, str]]:
        return [*self._headers, *([("Audit-ID", audit_id)] if audit_id else ())]

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
        headers = self._recorded(audit_id)
        versions = self._versions()
        data = None
        if body is not None:
            data = msgspec.json.encode(versions.sent(body))
            headers.append(("Content-Type", content_type))
        answer = await self._transport.request(
            method, path, params=params, headers=headers, body=data
        )
        if warnings is not None:
            warnings += answer.warnings
        return versions.received(_object(answer.body, stored=stored))

    def _path(self, gvr: GVR, namespace: str, name: str, subresource: str = "") -> str:
        return self._versions().served(gvr).object_path(namespace, name, subresource)

    async def get(
        self, gvr: GVR, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> dict[str, Any]:
        path = self._path(gvr, namespace, name)
        return await self._call("GET", path, audit_id=audit_id, stored=True)

    async def list_by_fields(
        self, gvr: GVR, fields: str, namespace: str = ""
    ) -> Sequence[dict[str, Any]]:
        """Return the objects that match the field selector `fields`, by default of all namespaces."""
        params = {"limit": str(PAGE), "fieldSelector": fields}
        found: list[dict[str, Any]] = []
        for _page in range(MOST_PAGES):
            page = await self._call("GET", gvr.path(namespace), params=[*params.items()])
            try:
                found += msgspec.convert(page, _Page).items or ()
            except msgspec.ValidationError as error:
                raise _no_object() from error
            token = page["metadata"].get("continue")
            if not token:
                return found
            params["continue"] = str(token)
        raise TooLong

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
            self._versions().served(gvr).path(namespace),
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
        path = self._path(gvr, namespace, name, subresource)
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
            self._path(gvr, namespace, name, subresource),
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
        path = self._path(gvr, namespace, name)
        # kube-apiserver reads the options from the body. In the query, audit logs show the dry run.
        params = [("dryRun", "All")] if dry_run else []
        try:
            return await self._call("DELETE", path, params=params, body=options, audit_id=audit_id)
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
            "apiVersion": self._versions().eviction,
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
        versions: Callable[[], ApiVersions] = ApiVersions,
    ) -> None:
        """`on_refusal` is called with the path and the error of every request that is forbidden."""
        if not isinstance(identity, Identity):
            raise TypeError("UserClient requires an Identity")
        super().__init__(transport, identity.headers(), versions=versions)
        self.identity = identity
        self._on_refusal = on_refusal

    async def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        try:
            return await super()._call(method, path, **request)
        except Forbidden as error:
            if self._on_refusal is not None:
                self._on_refusal(path, error)
            raise

    async def get_table(self, gvr: GVR, key: Key) -> bytes:
        """Return one object as a table with one row (see `console.kube.tables`)."""
        path = gvr.object_path(key.namespace, key.name)
        return await self._table(path, [("includeObject", "Object")])

    async def get_columns(self, gvr: GVR, namespace: str) -> bytes:
        """Return a table with the columns of a type and at most one row without its object."""
        return await self._table(gvr.path(namespace), [("includeObject", "None"), ("limit", "1")])

    async def _table(self, path: str, params: Sequence[tuple[str, str]]) -> bytes:
        headers = [*self._headers, ("Accept", TABLE)]
        return (await self._transport.request("GET", path, params=params, headers=headers)).body

    async def list_metadata(self, gvr: GVR, namespace: str, limit: int) -> bytes:
        """Return a list with the metadata of at most `limit` objects. A server that can't leave out
        the rest returns whole objects.
        """
        headers = [*self._headers, ("Accept", METADATA)]
        answer = await self._transport.request(
            "GET", gvr.path(namespace), params=[("limit", str(limit))], headers=headers
        )
        return answer.body

    async def get_openapi(self, document: str = "") -> bytes:
        """Return the index of kube-apiserver's OpenAPI v3 documents, or the document named
        `document`.

        See `console.kube.api_discovery`.
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
                    abort(response)

    @asynccontextmanager
    async def connect(
        self,
        path: str,
        protocols: Sequence[str],
        params: Sequence[tuple[str, str]] = (),
        *,
        audit_id: str = "",
    ) -> AsyncGenerator[Websocket, None]:
        """Yield a websocket to `path` with one of the subprotocols, the preferred one first. Raise
        `ApiError` if the server does not open one.
        """
        headers = self._recorded(audit_id)
        socket = await self._begin(
            lambda: self._transport.connect(path, protocols, params=params, headers=headers)
        )
        try:
            yield socket
        finally:
            await socket.close()

    async def _begin(
        self, opened: Callable[[], Coroutine[Any, Any, T]], seconds: float = OPEN_TIMEOUT
    ) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await self._transport.with_reloaded_credentials(opened)
        except TimeoutError as error:
            raise no_response(TIMED_OUT) from error

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

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        path: str,
        *,
        headers: Sequence[tuple[str, str]],
        body: bytes | None = None,
        audit_id: str = "",
        seconds: float,
    ) -> AsyncGenerator[ProxiedResponse, None]:
        """Yield kube-apiserver's response as soon as its headers arrive, whatever its status.

        `path` is encoded and includes the query. `headers` must not contain credentials; the
        impersonation headers are added here. `seconds` is the timeout for the response's headers.
        Raise `ApiError` if there is no response, if the connection breaks, and if the console's own
        credentials are rejected.
        """
        sent = [*headers, *self._recorded(audit_id)]
        async with AsyncExitStack() as stack:

            async def opened() -> aiohttp.ClientResponse:
                response = await stack.enter_async_context(
                    self._transport.request_any(method, path, sent, body)
                )
                _check_credentials(response.status)
                return response

            response = await self._begin(opened, seconds)
            answered = [(name, value) for name, value in response.headers.items()]
            yield ProxiedResponse(response.status, answered, response.content.iter_any())

    @asynccontextmanager
    async def upgrade(
        self, method: str, path: str, headers: Sequence[tuple[str, str]], *, audit_id: str = ""
    ) -> AsyncGenerator[RawConnection, None]:
        """Send a request that asks to switch protocols, and yield the connection, whatever the
        response's status. Errors are as for `exchange`.
        """
        sent = [*headers, *self._recorded(audit_id)]

        async def opened() -> RawConnection:
            connection = await self._transport.open_raw(method, path, sent)
            try:
                _check_credentials(connection.status)
            except ApiError:
                connection.abort()
                raise
            return connection

        connection = await self._begin(opened)
        try:
            yield connection
        finally:
            connection.close()

    async def get_resources(self, group: str, version: str) -> bytes:
        """Return the resource types that kube-apiserver serves in a group version (see
        `console.kube.api_discovery`).
        """
        # A resource path without the plural is the path of the group version.
        path = GVR(group, self._versions().served_version(group, version), "").path()
        return (await self._transport.request("GET", path, headers=self._headers)).body


#: Called with the method, the path and the body of each write. Records the write, and yields the ID of
#: its audit record, or "" for a write that is not recorded.
WriteRecorder = Callable[[str, str, Any], AbstractAsyncContextManager[str]]


class ConsoleClient(ObjectClient):
    """Send requests as the console itself. Writes without `audit_id` are recorded by `recorder`."""

    recorder: WriteRecorder | None = None

    async def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        if self.recorder is None or method == "GET" or request.get("audit_id"):
            return await super()._call(method, path, **request)
        async with self.recorder(method, path, request.get("body")) as audit_id:
            return await super()._call(method, path, **{**request, "audit_id": audit_id})

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
        guarded = _GuardedClient(self._transport, check, self._versions)
        guarded.recorder = self.recorder
        return guarded


class _GuardedClient(ConsoleClient):
    def __init__(
        self, transport: Transport, check: Callable[[], None], versions: Callable[[], ApiVersions]
    ) -> None:
        super().__init__(transport, versions=versions)
        self._check = check

    async def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        if method == "GET":
            return await super()._call(method, path, **request)
        self._check()
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                return await super()._call(method, path, **request)
        except TimeoutError as error:
            raise no_response(TIMED_OUT) from error


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


def _no_object() -> InvalidResponse:
    return InvalidResponse(Message("The response from the Kubernetes API is not an object"))


class _Token(msgspec.Struct):
    token: str


class _TokenRequest(msgspec.Struct):
    status: _Token


class _Page(msgspec.Struct):
    items: list[dict[str, Any]] | None = None


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


def _check_credentials(status: int) -> None:
    """Raise `Unauthorized` for status 401, which concerns the console's credentials: impersonated
    users are authenticated by the console.
    """
    if status == HTTPStatus.UNAUTHORIZED:
        raise error_from_status(status, {})


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
