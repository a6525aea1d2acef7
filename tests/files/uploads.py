"""The client side of an upload, with the behavior of the page's script."""

import json
from typing import Any

from channels.testing import WebsocketCommunicator

from console.routing import websocket_application

SOON = 20.0


class Uploader:
    """An upload to the folder of this page, for a user with this access."""

    def __init__(self, path: str, access: Any, *, writes: bool = True) -> None:
        async def alive() -> bool:
            return True

        self.socket = WebsocketCommunicator(websocket_application, f"/ws{path}")
        self.socket.scope |= {
            "account": access.identity.name,
            "rendered_for": lambda page: page or access.identity.name,
            "access_in": lambda _cluster: access,
            "session_alive": alive,
            "session": "session",
            "writes": writes,
        }
        self.taken = 0

    async def begin(self, **first: Any) -> "Uploader":
        connected, _ = await self.socket.connect(timeout=SOON)
        assert connected
        await self.socket.send_to(text_data=json.dumps({"upload": "en", **first}))
        return self

    async def send(self, data: bytes) -> None:
        """Send a piece, and wait until the container has accepted it."""
        await self.socket.send_to(bytes_data=data)
        before = self.taken
        while self.taken < before + len(data):
            found = await self.hear()
            assert "taken" in found, found

    async def hear(self) -> dict[str, Any]:
        message = await self.socket.receive_output(timeout=SOON)
        if message["type"] == "websocket.close":
            return {"close": message["code"]}
        found: dict[str, Any] = json.loads(message["text"])
        self.taken = found.get("taken", self.taken)
        return found

    async def last(self) -> dict[str, Any]:
        """Return the final message with the close code."""
        found: dict[str, Any] = {}
        while "close" not in (heard := await self.hear()):
            found |= heard
        return {**found, **heard}


async def upload(path: str, access: Any, name: str, data: bytes, **more: Any) -> dict[str, Any]:
    """Upload a file and return the final message with the close code."""
    uploader = await Uploader(path, access).begin(name=name, size=len(data), **more)
    for at in range(0, len(data), 60 * 1024):
        await uploader.send(data[at : at + 60 * 1024])
    return await uploader.last()
