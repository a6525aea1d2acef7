"""Event for a single waiting task."""

import asyncio


class SingleWaiterEvent:
    """A lightweight `asyncio.Event` for one waiter. It needs a tenth of the memory, and each open
    log has several. Use it on one event loop only.
    """

    __slots__ = ("_came", "_waiting")

    def __init__(self) -> None:
        self._came = False
        self._waiting: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._came = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait(self) -> None:
        """Wait until it is set, and clear it."""
        if not self._came:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        self._came = False
