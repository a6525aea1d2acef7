"""Clients that follow a log."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from channels.testing import WebsocketCommunicator

from console.routing import websocket_application
from tests.logs.conftest import World
from tests.ui.support import FakeAccess

TIMEOUT = 20.0
Line = tuple[str, str]


@dataclass
class Browser:
    """The client side of a log, with the behavior of the page's script. `lines` contains timestamp
    and text of the received lines.
    """

    path: str
    access: FakeAccess | None = field(default_factory=lambda: FakeAccess("admin", get_in=None))
    alive: bool = True
    answers: bool = True
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    at: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        async def alive() -> bool:
            return self.alive

        self.socket = WebsocketCommunicator(websocket_application, f"/ws{self.path}")
        access = self.access
        self.socket.scope |= {
            "account": access.identity.name if access else None,
            "access_in": (lambda _cluster: access) if access else None,
            "session_alive": alive,
        }

    async def follow(self, at: dict[str, Any] | None = None) -> "Browser":
        connected, _ = await self.socket.connect(timeout=TIMEOUT)
        assert connected
        await self.socket.send_to(text_data=json.dumps({"follow": "en", "at": at or {}}))
        return self

    async def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=TIMEOUT))
        self.sources = message.get("sources", self.sources)
        self.lines += [(line[1], line[3]) for line in message.get("lines", ())]
        self.notes += [text for _, text, _ended in message.get("notes", ())]
        self.at |= message.get("at", {})
        if self.answers and "n" in message:
            await self.socket.send_to(text_data=json.dumps({"ack": message["n"]}))
        return message

    async def until(self, count: int) -> None:
        while len(self.lines) < count:
            found = await self.hear()
            assert "error" not in found, found

    async def error(self) -> tuple[int, int]:
        """Return the error code and the close code."""
        while "error" not in (found := await self.hear()):
            pass
        message = await self.socket.receive_output(timeout=TIMEOUT)
        return found["error"]["code"], message["code"]

    async def leave(self) -> None:
        await self.socket.disconnect(timeout=TIMEOUT)


@asynccontextmanager
async def following(browser: Browser, at: dict[str, Any] | None = None) -> AsyncIterator[Browser]:
    await browser.follow(at)
    try:
        yield browser
    finally:
        await browser.leave()


def written(world: World, name: str, query: str = "") -> list[Line]:
    """Return all lines in the cluster."""
    path = f"/api/v1/namespaces/default/pods/{name}/log?timestamps=true{query}"
    with world.api.open("GET", path) as response:
        lines = response.read().decode().splitlines()
    return [(line[:30], line[31:]) for line in lines]
