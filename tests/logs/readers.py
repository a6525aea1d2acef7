"""Somebody who follows logs over real sockets of a real console, as the page's script does."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.browser.console import PASSWORD, Console

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
#: Seconds between two tries, about as in the browser.
_AGAIN = 0.3
_GONE = (aiohttp.ClientError, ConnectionError, TimeoutError)


@asynccontextmanager
async def signed_in(console: Console) -> AsyncIterator[aiohttp.ClientSession]:
    """The administrator."""
    jar = aiohttp.CookieJar(unsafe=True)
    connector = aiohttp.TCPConnector(limit=0)
    about = {"headers": {"Origin": console.url}, "cookie_jar": jar, "connector": connector}
    async with aiohttp.ClientSession(console.url, **about) as session:
        async with session.get("/login") as response:
            found = _TOKEN.search(await response.text())
        assert found is not None
        form = {
            "csrfmiddlewaretoken": found[1],
            "username": "admin",
            "password": PASSWORD,
            "next": "",
        }
        async with session.post("/login", data=form, allow_redirects=False) as response:
            assert response.status == 302, await response.text()
        yield session


@dataclass
class Reader:
    """Of one log. `lines`: moment and text; `cuts`: how often its socket ended."""

    path: str
    lines: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    at: dict[str, Any] = field(default_factory=dict)
    cuts: int = 0

    async def follow(self, session: aiohttp.ClientSession) -> None:
        """For ever: it comes back where it was."""
        while True:
            with suppress(*_GONE):
                async with session.ws_connect(f"/ws{self.path}", max_msg_size=0) as socket:
                    await socket.send_json({"follow": "en", "at": self.at})
                    async for message in socket:
                        await self._hear(socket, json.loads(message.data))
            self.cuts += 1
            await asyncio.sleep(_AGAIN)

    async def _hear(self, socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
        # The only end after which a browser comes back.
        assert message.get("error", {}).get("code", 503) == 503, message
        self.lines += [(line[1], line[3]) for line in message.get("lines", ())]
        self.notes += [text for _, text in message.get("notes", ())]
        self.at |= message.get("at", {})
        if "n" in message:
            await socket.send_json({"ack": message["n"]})
