"""Requests to the console's own pages in the same process, with the token of the original request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlencode

import msgspec

from console.kube.store import UNREADABLE
from console.proxying.request import Scope

Application = Callable[[Scope, Any, Any], Awaitable[Any]]

#: Maximum bytes of a response. A longer one is cut off.
MAX_RESPONSE = 2 * 2**20
#: Headers of the original request that are passed on.
_PASSED_ON = frozenset(
    {b"accept-language", b"authorization", b"host", b"user-agent", b"x-forwarded-for"}
)
_FORM = (b"content-type", b"application/x-www-form-urlencoded")


class PageError(Exception):
    """The response of a page is an error. `str()` is its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Status(msgspec.Struct):
    """A Kubernetes `Status`, or a list of them."""

    message: str = ""
    code: int = 0
    items: "list[_Status]" = []


class Pages:
    """Pages of the console for one client. `application` answers requests with the middleware."""

    def __init__(self, application: Application, scope: Scope) -> None:
        self._application, self._scope = application, scope

    async def get(
        self, url: str, params: Mapping[str, str | int] | None = None, *, newest: bool = False
    ) -> bytes:
        """Return the first or the `newest` `MAX_RESPONSE` bytes of a response. Parameters that are ""
        or 0 are left out. Raise `PageError`.
        """
        query = urlencode([pair for pair in (params or {}).items() if pair[1] not in ("", 0)])
        return await self._send("GET", url, query.encode(), newest=newest)

    async def post(self, url: str, fields: Mapping[str, str]) -> bytes:
        """Submit a form. Raise `PageError`."""
        path, _mark, query = url.partition("?")
        return await self._send("POST", path, query.encode(), urlencode(fields).encode())

    async def _send(
        self, method: str, path: str, query: bytes, body: bytes = b"", *, newest: bool = False
    ) -> bytes:
        exchange = _Exchange(body, newest=newest)
        scope = self._scope_of(method, path, query, len(body))
        task = asyncio.ensure_future(self._application(scope, exchange.receive, exchange.send))
        complete = asyncio.ensure_future(exchange.complete.wait())
        try:
            await asyncio.wait((task, complete), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # If the response is too long, its sender stops here.
            task.cancel()
            complete.cancel()
            await asyncio.gather(task, complete, return_exceptions=True)
        if not task.cancelled():
            task.result()
        if exchange.code >= HTTPStatus.MULTIPLE_CHOICES:
            raise PageError(exchange.code, _message(exchange.content))
        return exchange.content

    def _scope_of(self, method: str, path: str, query: bytes, size: int) -> Scope:
        headers = [pair for pair in self._scope["headers"] if pair[0] in _PASSED_ON]
        headers.append((b"accept", b"application/json"))
        if method == "POST":
            headers += [_FORM, (b"content-length", str(size).encode())]
        # The extensions belong to the connection of the original request.
        scope = {name: value for name, value in self._scope.items() if name != "extensions"}
        return scope | {
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query,
            "headers": headers,
        }


class _Exchange:
    """The ASGI messages of one request. `complete` is set if the response exceeds the limit."""

    def __init__(self, body: bytes, *, newest: bool) -> None:
        self.code, self._content = 0, bytearray()
        self.complete = asyncio.Event()
        self._newest, self._body = newest, body
        self._received = False

    async def receive(self) -> dict[str, Any]:
        if self._received:
            # The client of this request never disconnects.
            await asyncio.Event().wait()
        self._received = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.code = message["status"]
            return
        self._content += message.get("body", b"")
        if self._newest:
            # Moving the rest for every piece would take longer than receiving it.
            if len(self._content) > 2 * MAX_RESPONSE:
                del self._content[:-MAX_RESPONSE]
        elif len(self._content) > MAX_RESPONSE:
            self.complete.set()

    @property
    def content(self) -> bytes:
        part = slice(-MAX_RESPONSE, None) if self._newest else slice(MAX_RESPONSE)
        return bytes(self._content[part])


def _message(content: bytes) -> str:
    """Return the messages of a response with an error."""
    try:
        status = msgspec.json.decode(content, type=_Status)
    except UNREADABLE:
        return content.decode(errors="replace")
    failed = [one.message for one in status.items if one.code >= HTTPStatus.BAD_REQUEST]
    return "\n".join(failed) or status.message
