"""A browser that follows a log, with the reconnect behavior of the page's script, while the console
may be killed.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.browser.console import PASSWORD

#: Seconds until it reconnects.
_PAUSE = 0.1
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@asynccontextmanager
async def signed_in(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Return a session signed in as administrator."""
    cookies = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(url, cookie_jar=cookies, headers={"Origin": url}) as session:
        async with session.get("/login") as answer:
            text = await answer.text()
            found = _TOKEN.search(text)
            assert found is not None, f"{answer.status}: {text}"
        form = {
            "csrfmiddlewaretoken": found[1],
            "username": "admin",
            "password": PASSWORD,
            "next": "",
        }
        async with session.post("/login", data=form, allow_redirects=False) as answer:
            assert answer.status == 302, f"{answer.status}: {await answer.text()}"
        yield session


class Reader:
    """A reader of a log. `lines` contains the received texts, `over` the last message if the
    console closed the stream.
    """

    def __init__(self, path: str) -> None:
        self._path = f"/ws{path}"
        self._at: dict[str, Any] = {}
        self._came = asyncio.Event()
        self.lines: list[str] = []
        self.notes: list[str] = []
        self.over = ""

    async def read(self, session: aiohttp.ClientSession) -> None:
        """Read until cancelled or closed by the console."""
        while not self.over:
            try:
                # If both sides close while the server stops, the close message is lost.
                async with session.ws_connect(self._path, autoclose=False) as socket:
                    await self._listen(socket)
            except aiohttp.ClientError:
                # The console is down.
                pass
            await asyncio.sleep(_PAUSE)

    async def until(self, done: Callable[[Sequence[str]], object]) -> None:
        """Wait until `done` returns true for the last lines."""
        while not done(self.lines[-1000:]):
            assert not self.over, self.over
            self._came.clear()
            await self._came.wait()

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        await socket.send_json({"follow": "en", "at": self._at})
        error = ""
        async for message in socket:
            found = json.loads(message.data)
            self.lines += [text for _, _, _, text, *_ in found.get("lines", ())]
            self.notes += [text for _, text, _ in found.get("notes", ())]
            self._at |= found.get("at", {})
            refused = found.get("error", {"code": 0, "message": ""})
            # The last message of a recoverable error may be truncated, for example if the console
            # is killed while sending it.
            error = refused["message"] if refused["code"] < 500 else ""
            if "n" in found:
                await socket.send_json({"ack": found["n"]})
            self._came.set()
        if socket.close_code != aiohttp.WSCloseCode.TRY_AGAIN_LATER:
            self.over = error
        self._came.set()
