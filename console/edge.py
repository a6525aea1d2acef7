"""The outermost ASGI application: sees to it that requests and answers are what HTTP says they are.

It forgets what a client has no right to say about the way it came: Daphne believes a `Daphne-Root-Path`
header from anybody, which would move every path and every link; and a forwarded header is worth what the
proxy is worth that sent it.

An answer to HEAD has no content (RFC 9110, section 9.3.2). Django leaves that to the server, and Daphne
keeps back only the first part of what Django sends: a client, or a proxy, would take the rest for the
answer to its next request.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from django.conf import settings

from console.audit.source import is_trusted

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]

_FORWARDED = (b"x-forwarded-", b"forwarded", b"x-real-ip", b"x-client-ip")


def harden(application: Application) -> Application:
    """`application`, with `root_path` empty, proxies' headers only from `TRUSTED_PROXIES`, and no content
    for HEAD."""

    async def hardened(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            client = scope.get("client")
            scope = {**scope, "root_path": ""}
            if not (client and is_trusted(str(client[0]), settings.TRUSTED_PROXIES)):
                scope["headers"] = _without_forwarded(scope["headers"])
        if scope["type"] == "http" and scope["method"].upper() == "HEAD":
            send = _without_content(send)
        await application(scope, receive, send)

    return hardened


def _without_content(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({**message, "body": b""})

    return sent


def _without_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [header for header in headers if not header[0].lower().startswith(_FORWARDED)]
