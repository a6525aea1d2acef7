"""Messages both ways between the console and kube-apiserver."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp

_MESSAGES = (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)


class Websocket:
    """One that is open. Whoever does not `receive` holds the other side back.

    `on_close` is awaited once, when it is closed from here.
    """

    def __init__(
        self,
        socket: "aiohttp.ClientWebSocketResponse[Any]",
        on_close: Callable[[], Awaitable[None]],
    ) -> None:
        self._socket = socket
        self._on_close: Callable[[], Awaitable[None]] | None = on_close

    @property
    def protocol(self) -> str | None:
        """The one that the other side chose of those that were offered."""
        return self._socket.protocol

    async def hear(self) -> str | bytes | None:
        """The next message; None when there will be none, however that came about."""
        message = await self._socket.receive()
        if message.type not in _MESSAGES:
            return None
        found: str | bytes = message.data
        return found

    async def receive(self) -> bytes | None:
        """The same, a text in UTF-8."""
        message = await self.hear()
        return message.encode() if isinstance(message, str) else message

    async def send(self, message: str | bytes) -> None:
        """Waits for the other side to keep up. Whether it is still there says `receive`."""
        with suppress(aiohttp.ClientError, ConnectionError):
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)

    async def ping(self) -> None:
        """A sign of life for whatever is between the two."""
        with suppress(aiohttp.ClientError, ConnectionError):
            await self._socket.ping()

    async def close(self) -> None:
        on_close, self._on_close = self._on_close, None
        try:
            await self._socket.close()
        finally:
            if on_close is not None:
                await on_close()
