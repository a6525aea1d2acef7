"""A console in front of the embedded cluster, and browsers with terminals."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from console.live.limits import SocketCap
from console.routing import websocket_application
from console.terminals.consumer import TerminalConsumer
from tests.logs.conftest import _site, made, release, world
from tests.ui.support import FakeAccess

__all__ = ["_site", "made", "release", "world"]

TIMEOUT = 20.0


@pytest.fixture(autouse=True)
def _cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TerminalConsumer, "cap", SocketCap(20))


def typist(name: str = "admin") -> FakeAccess:
    """Return a user who may open terminals everywhere."""
    return FakeAccess(name, get_in=None)


@dataclass
class Browser:
    """The client side of a terminal, with the behavior of the page's script. `screen` contains all
    bytes received.
    """

    path: str
    access: Any = field(default_factory=typist)
    session: str = "session"
    alive: bool = True
    writes: bool = True
    answers: bool = True
    size: tuple[int, int] = (80, 24)
    screen: bytearray = field(default_factory=bytearray)
    came: int = 0
    begun: dict[str, Any] = field(default_factory=dict)
    taken: int = 0

    def connect_as(self) -> WebsocketCommunicator:
        async def alive() -> bool:
            return self.alive

        socket = WebsocketCommunicator(websocket_application, f"/ws{self.path}")
        access = self.access
        socket.scope |= {
            "account": access.identity.name,
            "rendered_for": lambda page: page or access.identity.name,
            "access_in": lambda _cluster: access,
            "session_alive": alive,
            "session": self.session,
            "writes": self.writes,
        }
        return socket

    async def begin(self, **more: Any) -> "Browser":
        self.socket = self.connect_as()
        connected, _ = await self.socket.connect(timeout=TIMEOUT)
        assert connected
        await self.say(begin="en", size=self.size, **more)
        return self

    async def come_back(self) -> "Browser":
        return await self.begin(id=self.begun["id"], at=self.came)

    async def say(self, **message: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(message))

    async def type(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        await self.socket.send_to(bytes_data=data)

    async def hear(self) -> dict[str, Any]:
        """Return the next message, or an empty one for bytes."""
        message = await self.socket.receive_output(timeout=TIMEOUT)
        if message["type"] == "websocket.close":
            return {"close": message["code"]}
        if message.get("text") is None:
            data = message["bytes"]
            self.screen += data
            self.came += len(data)
            if self.answers:
                await self.say(ack=self.came)
            return {}
        found: dict[str, Any] = json.loads(message["text"])
        if "terminal" in found:
            self.begun = found["terminal"]
            self.came = self.begun["at"]
        self.taken = found.get("taken", self.taken)
        return found

    async def connected(self) -> None:
        """Wait for the connection. Input sent earlier would be lost; the page's script buffers it."""
        while not self.begun:
            found = await self.hear()
            assert not {"error", "ended", "close"} & found.keys(), found

    async def until(self, text: str) -> None:
        """Read until the text is on the screen."""
        async with asyncio.timeout(TIMEOUT):
            while text.encode() not in self.screen:
                found = await self.hear()
                assert not {"error", "ended", "close"} & found.keys(), (found, bytes(self.screen))

    async def prompt(self) -> None:
        """Wait for the prompt of the shell."""
        async with asyncio.timeout(TIMEOUT):
            while not bytes(self.screen).endswith((b"# ", b"$ ")):
                found = await self.hear()
                assert not {"error", "ended", "close"} & found.keys(), (found, bytes(self.screen))

    async def run(self, line: str) -> str:
        """Run a command and return its output."""
        await self.prompt()
        at = len(self.screen)
        await self.type(f"{line}\n")
        async with asyncio.timeout(TIMEOUT):
            while b"\n" not in self.screen[at:]:
                await self.hear()
        await self.prompt()
        return bytes(self.screen[at:]).decode().partition("\n")[2].rpartition("\r\n")[0]

    async def last(self) -> dict[str, Any]:
        """Return the final message with the close code."""
        found: dict[str, Any] = {}
        while "close" not in (heard := await self.hear()):
            found |= heard
        return {**found, **heard}

    async def leave(self) -> None:
        await self.socket.disconnect(timeout=TIMEOUT)


@asynccontextmanager
async def typing(browser: Browser, **more: Any) -> AsyncIterator[Browser]:
    await browser.begin(**more)
    try:
        yield browser
    finally:
        await browser.leave()
