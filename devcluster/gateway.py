"""HTTP request handling: authentication, authorization and dispatch to the handlers.

The order is that of kube-apiserver: authentication, impersonation, authorization, then the
lookup of the resource. Responses therefore don't reveal whether an object exists that the user
may not see.
"""

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, Protocol

from aiohttp import web

from devcluster import metrics
from devcluster.audit import RequestRecord
from devcluster.authn import ANONYMOUS_USER, UserInfo, authenticate
from devcluster.cluster import Cluster
from devcluster.errors import (
    StatusError,
    bad_request,
    forbidden_path,
    internal,
    method_not_allowed,
    not_found,
    page_not_found,
)
from devcluster.impersonation import impersonate
from devcluster.options import read_list_options
from devcluster.pagination import wait_until_fresh
from devcluster.rbac import Attributes, attributes_of
from devcluster.requestinfo import RequestInfo, parse_request
from devcluster.requests import (
    JSON,
    Request,
    Response,
    StreamingResponse,
    error_response,
    json_response,
)
from devcluster.server_endpoints import ServerEndpoints
from devcluster.streams.handler import SUBRESOURCES, StreamHandler
from devcluster.streams.proxying import ProxyHandler, is_proxied
from devcluster.watch import Watch, stream

_log = logging.getLogger(__name__)
#: Body size limit of kube-apiserver, in bytes.
BODY_LIMIT = 3 * 1024 * 1024
# Health endpoints are public, as in kube-apiserver by default.
_OPEN_PATHS = frozenset({"/healthz", "/livez", "/readyz"})


class OpenStream(Protocol):
    """An open stream or connection."""

    def close(self) -> None: ...


class Gateway:
    """Request handler of the web server."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._general = ServerEndpoints(cluster)
        self._connections = StreamHandler(cluster.handlers, cluster.tokens, cluster.release)
        self._proxies = ProxyHandler(cluster.handlers.objects)
        #: Open watches, logs and websockets. They are closed when the server stops.
        self.open_streams: set[OpenStream] = {self._connections}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        info = parse_request(request.method, request.path, request.query)
        audit_id = request.headers.get("Audit-ID") or str(uuid.uuid4())
        user = ANONYMOUS_USER
        noted: RequestRecord | None = None
        response: web.StreamResponse
        try:
            user = self._authenticate(request)
            user = impersonate(user, list(request.headers.items()), self._cluster.rbac)
            noted = self._log_request(request, info, user, audit_id)
            self._authorize(info, user)
            response = await self._answer(request, info, user, audit_id)
        except StatusError as error:
            response = _response(error_response(error), audit_id)
        except web.HTTPException:
            raise
        except ConnectionResetError as error:
            # The client disconnected before the request body was complete. No client reads the
            # response.
            response = _response(error_response(bad_request(str(error))), audit_id)
        except (TypeError, AttributeError, KeyError) as error:
            # A field has the wrong type (such as text instead of a map) in a type without a field
            # table.
            _log.warning("cannot handle %s %s", request.method, request.path, exc_info=error)
            refusal = bad_request(f"the object cannot be decoded: {error}")
            response = _response(error_response(refusal), audit_id)
        except Exception as error:  # noqa: BLE001 - a failed request must not stop the server
            _log.exception("failed to handle %s %s", request.method, request.path)
            response = _response(error_response(internal(str(error))), audit_id)
        # The request was rejected before authentication or impersonation completed.
        noted = noted or self._log_request(request, info, user, audit_id)
        noted.code = response.status
        return response

    def _authenticate(self, request: web.Request) -> UserInfo:
        transport = request.transport
        certificate: Mapping[str, Any] | None = (
            transport.get_extra_info("peercert") if transport else None
        )
        authorization = request.headers.get("Authorization", "")
        return authenticate(authorization, certificate, self._cluster.find_token)

    def _log_request(
        self, request: web.Request, info: RequestInfo, user: UserInfo, audit_id: str
    ) -> RequestRecord:
        return self._cluster.audit.begin(
            user=user.name,
            verb=info.verb,
            group=info.group,
            resource=info.resource,
            subresource=info.subresource,
            namespace=info.namespace,
            name=info.name,
            path=request.path,
            query=dict(request.query),
            user_agent=request.headers.get("User-Agent", ""),
            audit_id=audit_id,
        )

    def _authorize(self, info: RequestInfo, user: UserInfo) -> None:
        if info.is_resource:
            self._cluster.rbac.require(attributes_of(user, info.verb, info))
        elif info.path not in _OPEN_PATHS:
            asked = Attributes(user, info.verb, path=info.path)
            if not self._cluster.rbac.authorize(asked).allowed:
                raise forbidden_path(user.name, info.verb, info.path)

    async def _answer(
        self, request: web.Request, info: RequestInfo, user: UserInfo, audit_id: str
    ) -> web.StreamResponse:
        if not info.is_resource:
            return _response(self._general.answer(request), audit_id)
        call = await self._call(request, info, user)
        if info.verb == "watch":
            return await self._watch(request, call, audit_id)
        if info.resource == "pods" and info.subresource in SUBRESOURCES and not info.group:
            return await self._connections.answer(request, call)
        if is_proxied(info):
            return self._proxies.answer(request, call)
        answer = await self._act(call)
        if isinstance(answer, StreamingResponse):
            return await self._stream(request, answer, audit_id)
        return _response(answer, audit_id)

    async def _act(self, call: Request) -> Response | StreamingResponse:
        info = call.info
        if info.group == metrics.GROUP:
            return self._cluster.metrics.answer(call)
        if call.declared.virtual:
            return self._review(call)
        if info.rest:
            raise page_not_found()
        if info.subresource:
            return self._cluster.subresources.answer(call)
        named = info.verb in ("get", "update", "patch", "delete")
        if info.verb not in call.declared.verbs or bool(info.name) < named:
            raise method_not_allowed()
        if info.verb == "create" and info.name:
            raise method_not_allowed()
        handlers = self._cluster.handlers
        match info.verb:
            case "get":
                return handlers.get(call)
            case "list":
                return await handlers.list(call)
            case "create":
                return handlers.create(call)
            case "update":
                return handlers.update(call)
            case "patch":
                return self._cluster.patches.patch(call)
            case "delete":
                return handlers.delete(call)
            case "deletecollection":
                return handlers.delete_collection(call)
        raise method_not_allowed()

    async def _call(self, request: web.Request, info: RequestInfo, user: UserInfo) -> Request:
        declared = self._cluster.registry.find(info.group, info.resource, info.version)
        if declared is None:
            raise page_not_found()
        if declared.namespaced and not info.namespace and info.verb not in ("list", "watch"):
            raise method_not_allowed() if not info.name else page_not_found()
        if not declared.namespaced and info.namespace and info.resource != "namespaces":
            raise page_not_found()
        query: Mapping[str, str] = request.query
        if not self._cluster.release.has_field_validation:
            query = {**query, "fieldValidation": "Ignore"}
        return Request(
            info=info,
            declared=declared,
            user=user,
            query=query,
            content_type=request.headers.get("Content-Type", ""),
            accept=request.headers.get("Accept", ""),
            user_agent=request.headers.get("User-Agent", ""),
            body=await self._body(request),
        )

    async def _body(self, request: web.Request) -> bytes:
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            message = f"Request entity too large: limit is {BODY_LIMIT}"
            raise StatusError(413, "RequestEntityTooLarge", message) from error

    def _review(self, call: Request) -> Response:
        if call.info.verb != "create":
            raise method_not_allowed()
        if call.declared.plural == "bindings":
            raise not_found("", "bindings", call.info.name)
        review = call.object()
        kind, info = call.declared.kind, call.info
        review["kind"], review["apiVersion"] = kind, call.declared.group_version(call.version)
        answered = self._cluster.reviews.answer(kind, review, call.user, info.namespace)
        return json_response(answered, 201)

    async def _watch(
        self, request: web.Request, call: Request, audit_id: str
    ) -> web.StreamResponse:
        if "watch" not in call.declared.verbs:
            raise method_not_allowed()
        options = read_list_options(call.declared, call.query, watch=True)
        renderer = self._cluster.handlers.renderer(call)
        store = self._cluster.store
        if options.initial_events and options.resource_version:
            await wait_until_fresh(store, options.resource_version)
        collection = store.collection(call.declared.storage)
        transport = request.transport

        def cut() -> None:
            if transport:
                transport.abort()

        watch = Watch(store, collection, call.namespace, options, renderer, cut)
        first = watch.open()

        async def send(write: Callable[[bytes], Awaitable[None]]) -> None:
            await stream(watch, options, first, write)

        try:
            return await self._send(request, watch, JSON, audit_id, send)
        finally:
            watch.close()

    async def _stream(
        self, request: web.Request, answer: StreamingResponse, audit_id: str
    ) -> web.StreamResponse:
        async def send(write: Callable[[bytes], Awaitable[None]]) -> None:
            async with aclosing(answer.chunks) as chunks:
                async for chunk in chunks:
                    await write(chunk)

        return await self._send(request, answer, answer.content_type, audit_id, send)

    async def _send(
        self,
        request: web.Request,
        open_answer: OpenStream,
        content_type: str,
        audit_id: str,
        send: Callable[[Callable[[bytes], Awaitable[None]]], Awaitable[None]],
    ) -> web.StreamResponse:
        """Send a chunked response while the data is produced."""
        headers = {
            "Content-Type": content_type,
            "Cache-Control": "no-cache, private",
            "Audit-ID": audit_id,
        }
        response = web.StreamResponse(headers=headers)
        response.enable_chunked_encoding()
        self.open_streams.add(open_answer)
        try:
            # Clients usually end a watch by closing the connection.
            with suppress(ConnectionResetError):
                await response.prepare(request)
                await send(response.write)
                await response.write_eof()
        finally:
            self.open_streams.discard(open_answer)
        return response


def _response(answer: Response, audit_id: str) -> web.Response:
    headers = {
        "Audit-ID": audit_id,
        "Cache-Control": "no-cache, private",
        "Content-Type": answer.content_type,
        **answer.headers,
    }
    return web.Response(body=answer.body, status=answer.code, headers=headers)
