"""Open websockets with the session of a browser."""

from typing import Any

from channels.testing import WebsocketCommunicator

from accounts.signin.asgi import SessionAuthMiddleware
from tests.accounts.conftest import ORIGIN, Browser

Headers = list[tuple[bytes, bytes]]


class Inner:
    """Application that accepts the connection and stores the scope."""

    scope: dict[str, Any] | None = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope = scope
        await receive()
        await send({"type": "websocket.accept"})
        await receive()


async def connect(headers: Headers, path: str = "/ws/live") -> tuple[bool, dict[str, Any]]:
    inner = Inner()
    communicator = WebsocketCommunicator(SessionAuthMiddleware(inner), path, headers=headers)
    accepted, _ = await communicator.connect()
    if accepted:
        await communicator.disconnect()
    return accepted, inner.scope or {}


def from_ours(browser: Browser | None = None) -> Headers:
    headers = [(b"origin", ORIGIN.encode())]
    if browser is not None and browser.key:
        headers.append((b"cookie", f"other=1; __Host-quarterdeck={browser.key}".encode()))
    return headers
