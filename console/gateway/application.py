"""ASGI application for the paths of the gateway. It runs before Django.

The steps are those of ks-apiserver's filter chain, in its order; the first that refuses ends the
request. See `docs/api.md`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from http import HTTPStatus
from time import perf_counter
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host
from django.utils import translation
from django.utils.translation import gettext as _

from console.audit.trail import AuditEntry, AuditUnavailable
from console.gateway.authentication import Caller, authenticate
from console.gateway.errors import Refusal, send_refusal
from console.gateway.forwarding import Reply, forward
from console.gateway.headers import check_request_headers
from console.gateway.impersonation import impersonated
from console.gateway.kapis import serving
from console.gateway.limits import (
    BODIES,
    USER_BODIES,
    fair_slots,
    long_requests,
    too_many_requests,
)
from console.gateway.object_changes import ObjectChange
from console.gateway.paths import TLS_EXTENSION, is_gateway_path
from console.gateway.recording import recorded
from console.gateway.requestinfo import RequestInfo, read_request
from console.gateway.upgrading import Upgrade, pass_on, upgrade_of
from console.kube.errors import ApiError
from console.kube.gvr import Key
from console.kube.identity import Identity
from console.live.flow import flow_of
from console.metrics.families import requests
from console.proxying.application import read_body, wait_for_disconnect
from console.proxying.request import ProxyRequest, Scope, host_of
from console.proxying.responses import LocalResponse
from console.streams.memory_quota import MemoryQuota, QuotaExceeded
from console.streams.stream import SessionGuard, StreamEnded
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.words import translate_message
from console.views.authorization import check_permission

log = logging.getLogger(__name__)

Application = Callable[[Scope, Any, Any], Awaitable[Any]]

#: Label of the metrics of requests. Long requests are not counted, because they would distort the times.
ROUTE = "gateway"

_bodies = MemoryQuota(USER_BODIES, BODIES)


class GatewayApplication:
    """Answers requests for the gateway's paths, and passes all other requests to `inner`.

    Connections whose TLS the console terminates are for the gateway only. kubectl's `get --raw` leaves
    out the path of the server's address, so other paths there are those of the host cluster.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        own_port = TLS_EXTENSION in (scope.get("extensions") or {})
        if scope["type"] == "http" and (own_port or is_gateway_path(scope["raw_path"])):
            asked = ProxyRequest.of(scope)
            with translation.override(asked.lang):
                return await _Exchange(asked, receive, send).run()
        return await self._inner(scope, receive, send)


class _Exchange:
    """One request and its response."""

    def __init__(self, asked: ProxyRequest, receive: Any, send: Any) -> None:
        self._asked, self._receive, self._send = asked, receive, send
        self._reply = Reply(send, flow_of(asked.scope))
        self._is_long = False
        #: Set if the session or the permission ended. Raised only after the audit record is complete.
        self._over: StreamEnded | None = None

    async def run(self) -> None:
        began = perf_counter()
        try:
            await self._answer()
        finally:
            if self._reply.code and not self._is_long:
                requests.record(ROUTE, self._reply.code, perf_counter() - began)

    async def _answer(self) -> None:
        try:
            await self._filter()
        except Refusal as refusal:
            await self._refuse(refusal)
        except ApiError as error:
            await self._refuse(_refusal_of(error))
        except LocalResponse as interrupted:
            await self._refuse(Refusal(interrupted.code, str(interrupted.text)))
        except ConnectionResetError:
            # The client has disconnected, so nobody reads a response.
            log.debug("A client disconnected before its connection was switched")
        except AuditUnavailable:
            text = _("The audit trail can't be written, so the request was not sent.")
            await self._refuse(Refusal(503, text))
        except Exception:
            log.exception("A request through the gateway failed")
            await self._refuse(Refusal(500, _("An internal error occurred in the console.")))

    async def _refuse(self, refusal: Refusal) -> None:
        if refusal.code == HTTPStatus.SERVICE_UNAVAILABLE:
            # Django does this between requests: a connection to a restarted database is unusable.
            await sync_to_async(close_old_connections)()
        if self._reply.began:
            self._reply.abort()
        else:
            self._reply.began, self._reply.code = True, refusal.code
            await send_refusal(self._send, refusal)

    async def _filter(self) -> None:
        asked = self._asked
        # Request information
        check_host(asked)
        check_request_headers(asked.raw_headers)
        info = read_request(asked.method, asked.raw_path, asked.query)
        if serving.is_kapis(info):
            await self._serve_kapis(info)
            return
        offered = upgrade_of(asked)
        # Authentication
        caller = await authenticate(asked, upgrades=offered is not None)
        # Cluster dispatch
        cluster = clusters.get(info.cluster)
        if cluster is None:
            raise Refusal(404, _("The cluster was not found."))
        # Authorization, as far as kube-apiserver can't do it
        _authorize(info, caller)
        body = await read_body(self._receive)
        self._is_long = is_long = info.is_long or offered is not None
        async with AsyncExitStack() as stack:
            # Limits, which include the questions about impersonation
            slots = long_requests() if is_long else fair_slots()
            await stack.enter_async_context(slots.slot(caller.account))
            try:
                stack.enter_context(_bodies.reserve(caller.account, len(body)))
            except QuotaExceeded as error:
                raise too_many_requests() from error
            identity = await impersonated(asked.raw_headers, caller, cluster)
            # Audit
            entry = await stack.enter_async_context(recorded(asked, info, caller, identity, body))
            change = None
            if entry is not None and offered is None:
                change = await ObjectChange.of(info, cluster, identity)
            if entry is not None and change is not None:
                # After the response, and before the record is complete
                stack.push_async_callback(change.describe, entry)
            # Proxy
            work = self._proxy(info, cluster, identity, offered, body, entry, change)
            if is_long:
                await self._guarded(work, info, caller, cluster, identity, entry)
            else:
                await self._until_disconnect(work)
        if self._over is not None:
            raise Refusal(self._over.code, str(self._over))

    async def _serve_kapis(self, info: RequestInfo) -> None:
        """Answer a request for KubeSphere's API, which the console serves itself. Its handlers record
        their writes.
        """
        asked = self._asked
        anonymous = serving.is_public(info)
        caller = None if anonymous else await authenticate(asked, upgrades=False)
        cluster = clusters.get(info.cluster)
        if cluster is None:
            raise Refusal(404, _("The cluster was not found."))
        body = await read_body(self._receive)
        account = caller.account if caller is not None else ""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(fair_slots().slot(account))
            try:
                stack.enter_context(_bodies.reserve(account, len(body)))
            except QuotaExceeded as error:
                raise too_many_requests() from error
            identity = (
                await impersonated(asked.raw_headers, caller, cluster)
                if caller is not None
                else None
            )
            work = serving.answer(asked, info, caller, identity, cluster, body, self._reply)
            await self._until_disconnect(work)

    async def _proxy(
        self,
        info: RequestInfo,
        cluster: Cluster,
        identity: Identity,
        offered: Upgrade | None,
        body: bytes,
        entry: AuditEntry | None,
        change: ObjectChange | None,
    ) -> None:
        client = cluster.runtime.as_user(identity)
        if offered is None:
            await forward(client, self._asked, info, body, self._reply, entry, change)
        else:
            await pass_on(client, self._asked, info, offered, self._reply, entry)

    async def _guarded(
        self,
        work: Coroutine[Any, Any, None],
        info: RequestInfo,
        caller: Caller,
        cluster: Cluster,
        identity: Identity,
        entry: AuditEntry | None,
    ) -> None:
        """Run `work` while the session or token is valid, and while the user has the permission, if
        the console knows of it at the start.
        """

        def access() -> Access:
            if identity is caller.identity:
                return caller.presence.access_for(cluster)
            return cluster.access_for(identity)

        right = Permission(info.verb, info.subresource)
        key = Key(info.namespace, info.name)
        known = bool(info.resource) and right.granted(access(), info.gvr, key)

        def check() -> None:
            if known:
                check_permission(right, access(), info.gvr, key)

        ending: asyncio.Future[StreamEnded] = asyncio.get_running_loop().create_future()
        with SessionGuard(caller.account, caller.presence, check, ending.set_result).watching():
            await self._until_disconnect(work, ending)
        if ending.done():
            self._over = ending.result()
            if entry is not None:
                entry.set_outcome(self._over.code, "Ended", str(self._over))

    async def _until_disconnect(
        self,
        work: Coroutine[Any, Any, None],
        ending: "asyncio.Future[StreamEnded] | None" = None,
    ) -> None:
        """Run `work` until it ends, the client disconnects, or `ending` is done."""
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(wait_for_disconnect(self._receive))
        until = (task, gone) if ending is None else (task, gone, ending)
        try:
            await asyncio.wait(until, return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
            gone.cancel()
            await asyncio.gather(task, gone, return_exceptions=True)
        if not task.cancelled():
            task.result()


def check_host(asked: ProxyRequest) -> None:
    """Raise `Refusal` for a host name that is not the console's."""
    domain, _port = split_domain_port(host_of(asked.scope).lower())
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise Refusal(400, _("The console is not available under this host name."))


def _authorize(info: RequestInfo, caller: Caller) -> None:
    """Raise `Refusal` for requests that the token or session is not for."""
    if caller.read_only and info.changes:
        raise Refusal(403, _("This token or session is read-only."))
    if caller.by_cookie and info.subresource == "proxy":
        text = _(
            "The console does not show content of pods, services and nodes on its own address. Open "
            "the port on the page of the pod or service."
        )
        raise Refusal(403, text)


def _refusal_of(error: ApiError) -> Refusal:
    """Return the response for a request that kube-apiserver did not answer."""
    # A rejected credential is the console's, not the user's.
    code = 503 if error.code == 401 else error.code
    return Refusal(code, translate_message(error.message))
