"""What sockets of streams share, whatever they show."""

import asyncio
from typing import Any, ClassVar

from console.live.limits import SocketCap
from console.streams.socket import StreamSocket


async def test_a_place_is_free_again_when_the_server_does_not_wait_for_the_end() -> None:
    """What a socket runs may end late, as when the audit trail waits for the database."""
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

    async def send(_message: dict[str, Any]) -> None: ...

    viewer = {"account": "ann", "session_alive": object(), "access_in": object()}
    running = asyncio.create_task(Socket()(viewer, came.get, send))
    for message in ({"type": "websocket.connect"}, {"type": "websocket.receive", "text": "x"}):
        await came.put(message)
    await began.wait()
    assert Socket.cap.open("ann") == 1
    await came.put({"type": "websocket.disconnect", "code": 1006})
    await ends.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert Socket.cap.open("ann") == 0
    free.set()
