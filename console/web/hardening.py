"""Outermost ASGI application, which corrects requests and responses that Daphne passes on
unchecked.

Daphne accepts a `Daphne-Root-Path` header from any client, which would change every path and
every link. Forwarded headers are only accepted from trusted proxies.

Responses to HEAD have no content (RFC 9110, section 9.3.2). Django leaves this to the server,
but Daphne drops only the first body message: a client or proxy would read the rest as the
response to its next request.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

from console.audit.client_address import is_trusted

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]

_FORWARDED = (b"x-forwarded-", b"forwarded", b"x-real-ip", b"x-client-ip")


def harden(application: Application) -> Application:
    """Wrap an ASGI application: empty `root_path`, forwarded headers only from `TRUSTED_PROXIES`,
    and no response content for HEAD.
    """

    async def hardened(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            client = scope.get("client")
            scope = {**scope, "root_path": ""}
            if not (client and is_trusted(str(client[0]), settings.TRUSTED_PROXIES)):
                headers = scope["headers"]
                scope["headers"] = [h for h in headers if not h[0].lower().startswith(_FORWARDED)]
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
