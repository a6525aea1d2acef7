"""A test client whose requests for the gateway's paths reach the gateway, which runs before Django."""

import asyncio
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.test.client import AsyncClientHandler

from console.gateway import authentication
from console.gateway.application import GatewayApplication
from console.gateway.paths import is_gateway_path


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("not a request for the gateway")


class GatewayHandler(AsyncClientHandler):
    """Handler of Django's client. Other requests go to Django."""

    async def __call__(self, scope: dict[str, Any]) -> Any:
        raw_path = scope["path"].encode()
        if not is_gateway_path(raw_path):
            return await super().__call__(scope)
        body = scope.pop("_body_file").read() if "_body_file" in scope else b""
        received = [{"type": "http.request", "body": body}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if received:
                return received.pop()
            # The client stays connected.
            ended: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
            return await ended

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        # Tests move the clock and revoke tokens, so no result may be reused.
        authentication.forget_tokens()
        whole = {**scope, "raw_path": raw_path, "query_string": _bytes(scope["query_string"])}
        await GatewayApplication(_nothing)(whole, receive, send)
        start, *rest = sent
        response: Any = HttpResponse(b"".join(one.get("body", b"") for one in rest))
        response.status_code = start["status"]
        for name, value in start["headers"]:
            response[name.decode()] = value.decode()
        response.asgi_request = ASGIRequest(scope, BytesIO())
        return response


def _bytes(query: str | bytes) -> bytes:
    """Return a query, which Django's client has as a text."""
    return query.encode() if isinstance(query, str) else query
