"""What goes both ways between a viewer and something in the cluster, over a websocket."""

import asyncio
from abc import abstractmethod
from typing import ClassVar

from console.kube.client import UserClient
from console.kube.websocket import Websocket
from console.streams.stream import Lasting

#: Seconds between two signs of life for whatever is on the way, which ends what seems idle.
PING = 30.0


class Conversation(Lasting):
    """Messages come to `_hear`, one after another: while that takes its time, the other side waits."""

    protocol: ClassVar[str]
    _socket: Websocket | None = None

    @abstractmethod
    async def _hear(self, message: bytes) -> None: ...

    async def _say_goodbye(self, socket: Websocket) -> None:
        """What is said before the console ends it, shortly. Nothing is handed on meanwhile."""

    async def say(self, message: bytes) -> None:
        """Waits for the other side to keep up; once there is none, nothing happens."""
        if self._socket is not None and not self._closing:
            await self._socket.send(message)

    async def _pour(self, client: UserClient, audit_id: str) -> None:
        order = self._order
        opened = client.connect(order.path, self.protocol, order.params, audit_id=audit_id)
        async with opened as socket:
            self._socket = socket
            self._begin()
            pinging = asyncio.create_task(self._ping(socket))
            try:
                while (message := await socket.receive()) is not None:
                    await self._hear(message)
            except asyncio.CancelledError:
                await self._say_goodbye(socket)
                raise
            finally:
                pinging.cancel()
                self._socket = None

    async def _ping(self, socket: Websocket) -> None:
        while True:
            await asyncio.sleep(PING)
            await socket.ping()
