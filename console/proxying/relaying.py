"""Relay a websocket between a browser and the program behind an open port, through kube-apiserver.

A slow receiver slows down the sender. Toward the browser, the server's flow control does this
(`console.live.flow`). Toward the program, at most `MAX_WAITING_BYTES` bytes are buffered.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from console.kube.clients import UserClient
from console.kube.websocket import Websocket
from console.live.flow import Flow

#: Maximum bytes that are buffered for a slow program. A browser that sends more is disconnected.
MAX_WAITING_BYTES = 1024 * 1024
#: Close codes of RFC 6455: normal closure, policy violation.
NORMAL, POLICY = 1000, 1008


class WebsocketRelay:
    """Relays messages in both directions. `run` returns the close code for the browser, 0 if it
    disconnected.
    """

    def __init__(self, receive: Any, send: Any, flow: Flow) -> None:
        self._receive, self._send, self._flow = receive, send, flow
        self._waiting: deque[str | bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()

    async def run(
        self,
        client: UserClient,
        path: str,
        protocols: Sequence[str],
        headers: Sequence[tuple[str, str]],
        audit_id: str,
    ) -> int:
        """Relay until one side closes. Raise `ApiError` if the program refuses the websocket; the
        browser's websocket isn't accepted then.
        """
        opened = client.relay(path, protocols, headers, audit_id=audit_id)
        async with opened as program:
            await self._send({"type": "websocket.accept", "subprotocol": program.protocol})
            reading = asyncio.create_task(self._read())
            tasks = {
                reading,
                asyncio.create_task(self._pass_on(program)),
                asyncio.create_task(self._hand_back(program)),
            }
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        if reading.cancelled():
            return NORMAL
        return POLICY if reading.result() else 0

    async def _read(self) -> bool:
        """Buffer messages of the browser. Return True if the buffer overflows, False on disconnect."""
        while (message := await self._receive())["type"] == "websocket.receive":
            text = message.get("text")
            data: str | bytes = text if text is not None else message.get("bytes") or b""
            self._waiting.append(data)
            self._size += len(data)
            self._news.set()
            if self._size > MAX_WAITING_BYTES:
                return True
        return False

    async def _pass_on(self, program: Websocket) -> None:
        while True:
            while self._waiting:
                message = self._waiting.popleft()
                await program.send(message)
                self._size -= len(message)
            self._news.clear()
            await self._news.wait()

    async def _hand_back(self, program: Websocket) -> None:
        while (message := await program.receive_message()) is not None:
            kind = "text" if isinstance(message, str) else "bytes"
            await self._send({"type": "websocket.send", kind: message})
            await self._flow.wait_clear()
