"""Reading a connection in gulps: what comes within a moment of each other is taken together.

kube-apiserver sends every event of a watch by itself. Hundreds in a second would wake this process as
often, each time for one object and each time in the way of the page that is being made.

Promises:
- After a silence the first bytes are read at once; what follows waits for `GAP` at most, or until
  `ENOUGH` of it is there.
- The end of the connection is never held back (socket(7), SO_RCVLOWAT: the kernel says when to read).
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Protocol

import aiohttp

#: Seconds between two gulps at most.
GAP = 0.025
#: Bytes.
ENOUGH = 128 * 1024


class Chunks(Protocol):
    """The body of an answer, as `aiohttp.StreamReader` gives it."""

    def iter_any(self) -> AsyncIterator[bytes]: ...


class ThrottledReader:
    """`Chunks` of an answer that goes on for long."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self._socket = _socket_of(response)
        self._waking: asyncio.TimerHandle | None = None

    async def iter_any(self) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in self._content.iter_any():
                yield chunk
                self._rest()
        finally:
            if self._waking is not None:
                self._waking.cancel()
                # Whoever has the connection next waits for a single byte again.
                self._wake()

    def _rest(self) -> None:
        if self._waking is None and self._want(ENOUGH):
            self._waking = asyncio.get_running_loop().call_later(GAP, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._want(1)

    def _want(self, least: int) -> bool:
        """Whether the kernel will wait for as many bytes."""
        if self._socket is None:
            return False
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, least)
            return True
        # It is closed, or this system knows no such thing.
        self._socket = None
        return False


def _socket_of(response: aiohttp.ClientResponse) -> socket.socket | None:
    """None if the answer is here already, and its connection with somebody else."""
    transport = response.connection.transport if response.connection else None
    return transport.get_extra_info("socket") if transport else None
