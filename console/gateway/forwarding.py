"""Forward one request to kube-apiserver, and its response to the client while it arrives."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import msgspec

from console.audit.trail import AuditEntry
from console.gateway.headers import request_headers, response_headers
from console.gateway.object_changes import ObjectChange
from console.gateway.requestinfo import RequestInfo
from console.kube.clients import ProxiedResponse, UserClient
from console.kube.store import UNREADABLE
from console.kube.transport import MAX_ERROR
from console.live.flow import Flow
from console.proxying.request import ProxyRequest

#: Seconds until the response must begin. kube-apiserver itself gives up after 60 seconds, except for
#: programs behind a `proxy` subresource. The server of the console waits for 120 seconds.
RESPONSE_SECONDS = 110.0


class Reply:
    """The response to the client. `began` is True once its status `code` was sent."""

    def __init__(self, send: Any, flow: Flow) -> None:
        self.began, self.code = False, 0
        self._send, self._flow = send, flow

    async def start(self, code: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.began, self.code = True, code
        await self._send({"type": "http.response.start", "status": code, "headers": headers})
        # Only a body message writes the headers. The first event of a watch may come much later.
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})

    async def write(self, piece: bytes) -> None:
        """Send a piece, and wait until the client keeps up."""
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._flow.wait_clear()

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    def abort(self) -> None:
        """Abort the connection, so that the client doesn't mistake a part for the whole."""
        self._flow.abort()


async def forward(
    client: UserClient,
    asked: ProxyRequest,
    info: RequestInfo,
    body: bytes,
    reply: Reply,
    entry: AuditEntry | None,
    change: ObjectChange | None = None,
) -> None:
    """Forward a request. `change` keeps the response of a write. Raise `ApiError` if there is no
    response or if it is interrupted.
    """
    opened = client.exchange(
        info.method,
        info.target,
        headers=request_headers(asked.raw_headers),
        body=body or None,
        audit_id=entry.audit_id if entry is not None else "",
        seconds=RESPONSE_SECONDS,
    )
    async with opened as response:
        content = response.content
        if entry is not None and response.code >= HTTPStatus.BAD_REQUEST:
            content = await _record_failure(entry, response)
        elif entry is not None:
            entry.set_outcome(response.code)
            content = change.keep(response) if change is not None else content
        await reply.start(response.code, _headers(info, response))
        async for piece in content:
            await reply.write(piece)
        await reply.end()


def _headers(info: RequestInfo, response: ProxiedResponse) -> list[tuple[bytes, bytes]]:
    return [
        (name, info.console_path(value.decode("latin-1")).encode("latin-1"))
        if name == b"location"
        else (name, value)
        for name, value in response_headers(response.headers)
    ]


class _Status(msgspec.Struct):
    reason: str = ""
    message: str = ""


async def _record_failure(entry: AuditEntry, response: ProxiedResponse) -> AsyncIterator[bytes]:
    """Record the reason of a failure, and return the response's content."""
    raw = b""
    async for piece in response.content:
        raw += piece
        if len(raw) > MAX_ERROR:
            break
    record_status(entry, response.code, raw)

    async def all_of_it() -> AsyncIterator[bytes]:
        yield raw
        async for piece in response.content:
            yield piece

    return all_of_it()


def record_status(entry: AuditEntry, code: int, raw: bytes) -> None:
    """Record the outcome of a response with this body."""
    try:
        status = msgspec.json.decode(raw, type=_Status)
    except UNREADABLE:
        status = _Status()
    entry.set_outcome(code, status.reason, status.message)
