"""Behavior shared by all streaming websockets."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import pytest
from channels.exceptions import StopConsumer

from console.live.limits import SocketCap
from console.streams.socket import StreamSocket

VIEWER = {"account": "ann", "session_alive": object(), "access_in": object()}
OPENS = ({"type": "websocket.connect"}, {"type": "websocket.receive", "text": "x"})
ENDS = {"type": "websocket.disconnect", "code": 1006}


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


async def send(_message: dict[str, Any]) -> None: ...


@pytest.mark.usefixtures("without_collector")
async def test_closed_websocket_is_freed_without_garbage_collection() -> None:
    """The garbage collector may run only after a thousand other websockets."""
    began, sockets = asyncio.Event(), []

    class Socket(StreamSocket):
        cap = SocketCap(1)
        per_second: ClassVar[float] = 50.0
        full = "Too many"
        bad_requests = ()

        def hear(self, text: str, data: bytes) -> None:
            sockets.append(weakref.ref(self))
            self.begin("en", self._work())

        async def _work(self) -> None:
            began.set()
            await asyncio.Event().wait()

    came: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    running = asyncio.create_task(Socket()(dict(VIEWER), came.get, send))
    for message in OPENS:
        await came.put(message)
    await began.wait()
    await came.put(ENDS)
    with suppress(StopConsumer):
        await running
    del running
    [ended] = sockets
    assert ended() is None


async def test_connection_slot_is_released_before_the_work_of_a_websocket_ends() -> None:
    """The work may end late, for example while the audit trail waits for the database."""
    began, ends, free = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Socket(StreamSocket):
        cap = SocketCap(1)
        per_second: ClassVar[float] = 50.0
        full = "Too many"
        bad_requests = ()

        def hear(self, text: str, data: bytes) -> None:
            self.begin("en", self._work())

        async def _work(self) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ends.set()
                await free.wait()

    came: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    running = asyncio.create_task(Socket()(dict(VIEWER), came.get, send))
    for message in OPENS:
        await came.put(message)
    await began.wait()
    assert Socket.cap.open("ann") == 1
    await came.put(ENDS)
    await ends.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert Socket.cap.open("ann") == 0
    free.set()
