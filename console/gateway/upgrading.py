"""Connections that switch their protocol: exec, attach, port-forward, and watches over websockets.

The bytes are passed on unchanged in both directions, so kubectl's websockets and SPDY work as with
kube-apiserver. The server offers an `Upgrade` in the ASGI scope, because ASGI has no such
connections.
"""

import asyncio
from typing import Protocol

from django.utils.translation import gettext as _

from console.audit.trail import AuditEntry
from console.gateway.errors import Refusal
from console.gateway.forwarding import Reply, record_status
from console.gateway.headers import request_headers, response_headers
from console.gateway.paths import UPGRADE_EXTENSION
from console.gateway.requestinfo import RequestInfo
from console.kube.clients import UserClient
from console.kube.rawconnection import SWITCHING_PROTOCOLS, ByteStream, RawConnection, join
from console.proxying.request import ProxyRequest

_PROTOCOLS = frozenset({"websocket", "spdy/3.1"})


class Upgrade(Protocol):
    """Offer of the server to switch the protocol. `protocol` is the header, joined if repeated."""

    @property
    def protocol(self) -> str: ...

    def accept(self, head: bytes) -> ByteStream:
        """Send `head`, which must be a response with status 101, and return the connection. Call
        it once, and send nothing else. Raise ConnectionResetError if the client has disconnected.
        """
        ...


def upgrade_of(asked: ProxyRequest) -> Upgrade | None:
    """Return the offer of a request that asks to switch the protocol, or None. Raise `Refusal`."""
    offered: Upgrade | None = (asked.scope.get("extensions") or {}).get(UPGRADE_EXTENSION)
    connection = asked.headers.get("connection", "").lower()
    if offered is None or "upgrade" not in {one.strip() for one in connection.split(",")}:
        return None
    if offered.protocol.lower() not in _PROTOCOLS:
        raise Refusal(400, _("The connection can't switch to this protocol."))
    if asked.headers.get("content-length", "0") != "0" or "transfer-encoding" in asked.headers:
        raise Refusal(400, _("A request that switches the protocol must not have a body."))
    return offered


async def pass_on(
    client: UserClient,
    asked: ProxyRequest,
    info: RequestInfo,
    offered: Upgrade,
    reply: Reply,
    entry: AuditEntry | None,
) -> None:
    """Pass the connection on until one side closes it. If kube-apiserver refuses to switch the
    protocol, its response is sent instead. Raise `ApiError` if there is no response.
    """
    opened = client.upgrade(
        info.method,
        info.target,
        request_headers(asked.raw_headers, upgrade=offered.protocol),
        audit_id=entry.audit_id if entry is not None else "",
    )
    async with opened as connection:
        if connection.status != SWITCHING_PROTOCOLS:
            await _refuse(connection, reply, entry)
            return
        if entry is not None:
            entry.set_outcome(connection.status)
        reply.began = True
        stream = offered.accept(_head(connection))
        try:
            join(stream, connection)
            await asyncio.wait((stream.closed, connection.closed))
        finally:
            stream.abort()
            connection.abort()


def _head(connection: RawConnection) -> bytes:
    kept = response_headers(connection.headers)
    switched = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in connection.headers
        if name.lower() in ("connection", "upgrade")
    ]
    lines = b"".join(b"%s: %s\r\n" % pair for pair in (*switched, *kept))
    return b"HTTP/1.1 101 Switching Protocols\r\n" + lines + b"\r\n"


async def _refuse(connection: RawConnection, reply: Reply, entry: AuditEntry | None) -> None:
    body = await connection.read_refusal()
    if entry is not None:
        record_status(entry, connection.status, body)
    headers = [one for one in response_headers(connection.headers) if one[0] != b"content-length"]
    await reply.start(connection.status, [*headers, (b"content-length", b"%d" % len(body))])
    if body:
        await reply.write(body)
    await reply.end()
