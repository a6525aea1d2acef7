"""Websockets that subscribe to lists like browsers, and their messages."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self
from urllib.parse import quote

import aiohttp
import msgspec

from bench.webconsole import WebConsole

#: Maximum sockets per account.
PER_ACCOUNT = 20

_TABLE = re.compile(r'<table[^>]*data-etag="([^"]*)"')
_TABLE_URL = re.compile(r'<table[^>]*data-url="([^"]*)"')
_ROW = re.compile(r'<tr[^>]*data-key="([^"]+)"')
#: A restart count as set by `bench.restarts`.
_NUMBER = re.compile(r">\s*(1\d\d[,.\u202f\u00a0 ]?\d{3})\s*<")


@dataclass(slots=True)
class Socket:
    """`messages`: time (`time.monotonic()`) and text of each message. `lost`: True if the console
    closed it.
    """

    app: str
    connection: aiohttp.ClientWebSocketResponse
    messages: list[tuple[float, str]] = field(default_factory=list)
    pings: int = 0
    lost: bool = False

    async def listen(self, texts: dict[str, str]) -> None:
        """Receive messages until the connection closes.

        `texts` interns equal messages. Messages are not parsed here, so that none is delayed by
        another.
        """
        with suppress(ConnectionError):
            async for message in self.connection:
                if message.type is aiohttp.WSMsgType.PING:
                    self.pings += 1
                    await self.connection.pong(message.data)
                elif message.type is aiohttp.WSMsgType.TEXT:
                    now = time.monotonic()
                    text: str = message.data
                    self.messages.append((now, texts.setdefault(text, text)))
        self.lost = True

    def forget(self) -> None:
        """Discard all messages received so far."""
        self.messages.clear()
        self.pings = 0

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for _, text in self.messages)

    @property
    def refreshes(self) -> int:
        return sum(text.startswith("{") and "refresh" in text for _, text in self.messages)

    def arrived(self) -> dict[str, list[tuple[int, float]]]:
        """Return the restart counts per row, with the times at which they were shown."""
        found: dict[str, list[tuple[int, float]]] = {}
        for when, text in self.messages:
            for key, number in _shown(text):
                found.setdefault(key, []).append((number, when))
        return found


@lru_cache(maxsize=100_000)
def _shown(text: str) -> tuple[tuple[str, int], ...]:
    """Return the rows of a message with their restart counts."""
    parts = _ROW.split(text)
    rows = zip(parts[1::2], parts[2::2], strict=True)
    found = ((key, _NUMBER.search(row)) for key, row in rows)
    return tuple((key, int(re.sub(r"\D", "", match.group(1)))) for key, match in found if match)


@asynccontextmanager
async def opened(
    console: WebConsole, account: str, apps: Iterable[str], texts: dict[str, str]
) -> AsyncIterator[list[Socket]]:
    """Open one socket per app, subscribed to the list of its pods."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(await console.signed_in(account))
        listening = await stack.enter_async_context(_Listening())
        subscriptions: dict[str, str] = {}
        sockets: list[Socket] = []
        for app in apps:
            if app not in subscriptions:
                subscriptions[app] = await _subscription(session, app)
            connection = await session.ws_connect("/ws/live", autoping=False)
            sockets.append(socket := Socket(app, connection))
            listening.start(socket.listen(texts))
            await connection.send_str(subscriptions[app])
        yield sockets


class _Listening:
    """Context manager that cancels its tasks on exit."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, listen: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(listen))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _subscription(session: aiohttp.ClientSession, app: str) -> str:
    """Return the subscribe message that a browser would send for the page. Raise OSError if it has
    no table.
    """
    url = f"/clusters/host/pods?label={quote(f'app.kubernetes.io/name={app}')}&sort=name"
    async with session.get(url) as response:
        text = await response.text()
    etag, own = _TABLE.search(text), _TABLE_URL.search(text)
    if etag is None or own is None:
        raise OSError(f"{url} answered {response.status} without a table")
    message = {"subscribe": own.group(1).replace("&amp;", "&"), "etag": etag.group(1), "lang": "en"}
    return msgspec.json.encode(message).decode()
