"""Websockets between the console and kube-apiserver."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp

_MESSAGES = (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)


class Websocket:
    """An open websocket. Flow control stops the peer while messages are not received.

    `on_close` is awaited once, when it is closed from this side.
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
        """Return the subprotocol that the peer selected."""
        return self._socket.protocol

    async def receive_message(self) -> str | bytes | None:
        """Return the next message, or None if the websocket was closed or failed."""
        message = await self._socket.receive()
        if message.type not in _MESSAGES:
            return None
        found: str | bytes = message.data
        return found

    async def receive_bytes(self) -> bytes | None:
        """Like `receive_message`, but encode text messages as UTF-8."""
        message = await self.receive_message()
        return message.encode() if isinstance(message, str) else message

    async def send(self, message: str | bytes) -> None:
        """Send a message and wait for flow control. Errors are ignored; `receive_bytes` returns None
        after a disconnect.
        """
        with suppress(aiohttp.ClientError, ConnectionError):
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)

    async def ping(self) -> None:
        """Send a ping to keep proxies from closing an idle connection."""
        with suppress(aiohttp.ClientError, ConnectionError):
            await self._socket.ping()

    async def close(self) -> None:
        on_close, self._on_close = self._on_close, None
        try:
            await self._socket.close()
        finally:
            if on_close is not None:
                await on_close()
