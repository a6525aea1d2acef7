"""ASGI application for the hosts of open ports. It runs before Django, so no console page exists
there.

Each request checks the session and the permission, and is sent to kube-apiserver with the user's
identity. A running response is aborted when either ends (`console.streams.stream.SessionGuard`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.utils import translation
from django.utils.translation import gettext as _

from console.kube.clients import ProxiedResponse, UserClient
from console.kube.errors import ApiError
from console.live.flow import flow_of
from console.proxying.address import ProxyBase
from console.proxying.headers import (
    RawHeaders,
    cookie_name,
    cookies_of,
    local_redirect,
    request_headers,
    response_headers,
    session_cookie,
)
from console.proxying.paths import (
    ENTER,
    RESERVED,
    BadPath,
    is_rewritten,
    read_path,
    read_query,
    without_prefix,
    without_prefixes,
)
from console.proxying.relaying import MAX_WAITING_BYTES, POLICY, WebsocketRelay
from console.proxying.request import ProxyRequest, Scope, host_of, is_allowed
from console.proxying.responses import (
    LocalResponse,
    port_not_open,
    send_answer,
    send_redirect,
    send_start,
    upstream_error,
)
from console.proxying.store import (
    OpenPortRecord,
    PortOwner,
    find_open_port,
    record_use,
    redeem_ticket,
)
from console.proxying.target import VERBS, ProxyTarget
from console.streams.memory_quota import MemoryQuota, QuotaExceeded
from console.streams.stream import SessionGuard, StreamEnded
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.permissions import Denied
from console.ui.core.requests import UserSession
from console.ui.core.text import escape_invisible
from console.views.authorization import PermissionsUnconfirmed

log = logging.getLogger(__name__)

Application = Callable[[Scope, Any, Any], Awaitable[Any]]
#: Creates the presence of a stored session's owner.
PresenceOf = Callable[[PortOwner], UserSession]

#: Bytes reserved for a response in addition to the request body, and the limits per user and in
#: total.
SIZE, USER, PROCESS = 256 * 1024, 32 * 2**20, 128 * 2**20
places = MemoryQuota(USER, PROCESS)
#: Statuses of complete responses. Browsers and proxies interpret others differently.
_STATUSES = range(200, 600)


async def has_opened_port(headers: Mapping[bytes, Sequence[bytes]]) -> bool | None:
    """Return True if a request with these headers has opened the port that its host names.

    Return None for hosts of the console. Database errors count as False; this function never
    raises.
    """
    base: ProxyBase | None = settings.PROXY_BASE
    raw = [(name.lower(), value) for name, values in headers.items() for value in values]
    label = base.label_of(host_of({"headers": raw})) if base is not None else None
    if base is None or label is None:
        return None
    try:
        return await _find(base, label, raw) is not None
    except DatabaseError:
        return False


async def _find(base: ProxyBase, label: str, headers: RawHeaders) -> OpenPortRecord | None:
    """Return the open port for these cookies. Raise DatabaseError if the lookup fails."""
    shown = [value for name, value in cookies_of(headers) if name == cookie_name(base)]
    return await sync_to_async(find_open_port)(label, shown) if shown else None


class ProxyApplication:
    """Handles requests for hosts of open ports, and passes all other requests to `inner`."""

    def __init__(self, inner: Application, presence_of: PresenceOf) -> None:
        self._inner, self._presence_of = inner, presence_of

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        base: ProxyBase | None = settings.PROXY_BASE
        label = None
        if base is not None and scope["type"] in ("http", "websocket"):
            label = base.label_of(host_of(scope))
        if base is None or label is None:
            return await self._inner(scope, receive, send)
        kind = HttpProxy if scope["type"] == "http" else WebsocketProxy
        return await kind(ProxyRequest.of(scope), base, label, self._presence_of, send).run(receive)


class _ProxiedConnection:
    """Base class for an HTTP request or a websocket."""

    def __init__(
        self, asked: ProxyRequest, base: ProxyBase, label: str, presence_of: PresenceOf, send: Any
    ) -> None:
        self._asked, self._base, self._label = asked, base, label
        self._presence_of, self._send = presence_of, send
        self._flow = flow_of(asked.scope)
        self._began = False

    @property
    def _origin(self) -> str:
        return self._base.origin(self._label)

    async def _find(self) -> OpenPortRecord:
        """Return the open port. Raise `LocalResponse` if it isn't open for this browser."""
        found = await _find(self._base, self._label, self._asked.raw_headers)
        if found is None:
            raise port_not_open()
        return found

    def _read_path(self) -> tuple[str, str]:
        try:
            return read_path(self._asked.raw_path), read_query(self._asked.query)
        except BadPath as error:
            text = _("The address is ambiguous and was rejected.")
            raise LocalResponse(400, text) from error

    async def _as_person(
        self,
        found: OpenPortRecord,
        needs: Sequence[str],
        size: int,
        receive: Any,
        work: Callable[[UserClient], Coroutine[Any, Any, None]],
    ) -> None:
        """Run `work` while the session and permissions are valid.

        `needs`: HTTP methods whose permissions are required. `receive`: reports the client's
        disconnect, if given. Raise `LocalResponse` or `QuotaExceeded`.
        """
        presence, cluster = self._presence_of(found.owner), clusters.get(found.owner.cluster)
        if cluster is None:
            raise port_not_open()
        if not await presence.is_valid():
            raise LocalResponse(
                401, _("Your session has ended. Sign in to the console, and open the port again.")
            )
        for method in needs:
            _check(method, found.target, presence.access_for(cluster))
        await sync_to_async(record_use)(found)
        client = cluster.runtime.as_user(presence.access_for(cluster).identity)
        ending: asyncio.Future[StreamEnded] = asyncio.get_running_loop().create_future()

        def right() -> None:
            for method in needs:
                found.target.check(presence.access_for(cluster), method)

        vigil = SessionGuard(found.owner.account, presence, right, ending.set_result)
        with places.reserve(found.owner.account, size), vigil.watching():
            task = asyncio.create_task(work(client))
            gone = asyncio.create_task(
                wait_for_disconnect(receive) if receive else asyncio.Event().wait()
            )
            try:
                await asyncio.wait((task, gone, ending), return_when=asyncio.FIRST_COMPLETED)
            finally:
                task.cancel()
                gone.cancel()
                await asyncio.gather(task, gone, return_exceptions=True)
        if ending.done():
            over = ending.result()
            raise LocalResponse(over.code, str(over))
        if not task.cancelled():
            task.result()


class WebsocketProxy(_ProxiedConnection):
    """A websocket. It requires write permission too, because the client can send data."""

    async def run(self, receive: Any) -> None:
        # Consume the connect event.
        await receive()
        relay, code = WebsocketRelay(receive, self._send, self._flow), POLICY
        try:
            if not self._label or self._asked.headers.get("origin") != self._origin:
                return
            path, query = self._read_path()
            found = await self._find()
            path = found.target.path + without_prefix(path, found.target)
            path = f"{path}?{query}" if query else path

            async def work(client: UserClient) -> None:
                nonlocal code
                headers = request_headers(self._asked.raw_headers, self._base, self._label)
                protocols = self._asked.scope.get("subprotocols") or ()
                code = await relay.run(client, path, protocols, headers, found.audit_id)

            await self._as_person(found, ("GET", "POST"), SIZE + MAX_WAITING_BYTES, None, work)
        except (LocalResponse, QuotaExceeded, ApiError, DatabaseError):
            code = POLICY
        except Exception:
            log.exception("A websocket of an open port failed")
            code = POLICY
        finally:
            if code:
                # Before the websocket is accepted, the server sends this as a 403 response.
                await self._send({"type": "websocket.close", "code": code})


class HttpProxy(_ProxiedConnection):
    """An HTTP request and its response."""

    async def run(self, receive: Any) -> None:
        with translation.override(self._asked.lang):
            try:
                await self._answer(receive)
            except LocalResponse as answered:
                await self._end(answered)
            except QuotaExceeded:
                text = _(
                    "Too many transfers through open ports are in progress. Wait until some transfers "
                    "have finished."
                )
                await self._end(LocalResponse(429, text))
            except DatabaseError:
                await self._end(LocalResponse(503, _("The database is not available.")))
            except Exception:
                log.exception("A request to an open port failed")
                await self._end(LocalResponse(500, _("An internal error occurred in the console.")))

    async def _end(self, answered: LocalResponse) -> None:
        if self._began:
            # Abort the connection, so that the client doesn't mistake a partial response for a
            # complete one.
            self._flow.abort()
        else:
            self._began = True
            await send_answer(self._asked, self._send, answered)

    async def _answer(self, receive: Any) -> None:
        asked = self._asked
        if not self._label:
            raise port_not_open()
        if asked.method not in VERBS:
            raise LocalResponse(405, _("Requests with this HTTP method are not forwarded."))
        path, query = self._read_path()
        if path == ENTER and asked.method == "GET":
            await self._enter(query)
            return
        if not is_allowed(asked.method, asked.headers, self._origin):
            raise LocalResponse(403, _("The request came from another site and was rejected."))
        found = await self._find()
        if path.startswith(RESERVED):
            raise LocalResponse(404, _("Page not found."))
        path = without_prefix(path, found.target)
        body = await read_body(receive)
        path = f"{path}?{query}" if query else path
        # The permission that opened the port, and the permission for this request.
        needs = ("GET", asked.method)

        async def work(client: UserClient) -> None:
            await self._pour(client, found, path, body)

        await self._as_person(found, needs, SIZE + len(body), receive, work)

    async def _enter(self, query: str) -> None:
        """Exchange a one-time ticket for a cookie, and redirect to a URL without the ticket."""
        ticket = parse_qs(query).get("ticket", [""])[0]
        cookie = await sync_to_async(redeem_ticket)(self._label, ticket)
        if not cookie:
            text = _(
                "This link has already been used or has expired. Open the port again in the console."
            )
            raise LocalResponse(403, text)
        self._began = True
        await send_redirect(self._send, "/", session_cookie(self._base, cookie))

    async def _pour(
        self, client: UserClient, found: OpenPortRecord, path: str, body: bytes
    ) -> None:
        target = found.target
        headers = request_headers(self._asked.raw_headers, self._base, self._label)
        opened = client.proxy(
            self._asked.method,
            target.path + path,
            headers=headers,
            body=body or None,
            audit_id=found.audit_id,
        )
        try:
            async with opened as proxied:
                await self._hand_back(found, proxied)
        except ApiError as error:
            raise upstream_error(error, target) from error

    async def _hand_back(self, found: OpenPortRecord, proxied: ProxiedResponse) -> None:
        if proxied.code not in _STATUSES:
            raise LocalResponse(502, _("The application responded with an invalid HTTP status."))
        target, headers = found.target, response_headers(proxied.headers, self._base, found.target)
        answered = {name.lower(): value for name, value in proxied.headers}
        kind, encoding = answered.get("content-type", ""), answered.get("content-encoding", "")
        content, length = proxied.content, answered.get("content-length", "")
        if "location" in answered:
            headers = [*headers, ("Location", self._location(found, answered["location"]))]
        if is_rewritten(kind, encoding) and self._asked.method != "HEAD":
            content, length = without_prefixes(content, target), ""
        if length.isascii() and length.isdigit():
            headers = [*headers, ("Content-Length", length)]
        self._began = True
        await send_start(self._send, proxied.code, headers)
        async for piece in content:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await self._flow.wait_clear()
        await self._send({"type": "http.response.body", "body": b""})

    def _location(self, found: OpenPortRecord, location: str) -> str:
        try:
            place = local_redirect(location, self._origin, found.target)
        except ValueError as error:
            raise LocalResponse(
                502, _("The application redirected to an invalid address.")
            ) from error
        if place is None:
            text = _("The application at this port redirects to another site: %(address)s")
            words = {"address": escape_invisible(location)}
            code = HTTPStatus.OK if self._asked.is_page else HTTPStatus.BAD_GATEWAY
            title = _("Redirect to another site")
            onward = {"link": location, "link_text": _("Continue to the other site")}
            raise LocalResponse(code, text % words, title=title, **onward)
        return place


def _check(method: str, target: ProxyTarget, access: Access) -> None:
    """Check the permission for `method`. Raise `LocalResponse` if it is denied or can't be confirmed."""
    try:
        target.check(access, method)
    except PermissionsUnconfirmed as error:
        raise LocalResponse(503, str(error)) from error
    except Denied as error:
        words = {"verb": VERBS[method], "name": escape_invisible(target.resource_name.name)}
        text = _(
            "You don't have permission to access %(name)s through the cluster's proxy (verb: "
            "%(verb)s)."
        )
        raise LocalResponse(403, text % words) from error


async def read_body(receive: Any) -> bytes:
    """Read the request body. The server limits its size."""
    pieces = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise LocalResponse(400, _("The request was interrupted."))
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


async def wait_for_disconnect(receive: Any) -> None:
    """Return when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
