"""Read a connection in larger chunks by waiting briefly for more data.

kube-apiserver sends every event of a watch separately. Hundreds of events per second would wake
this process as often and delay the rendering of pages.

- After a pause the first bytes are read immediately. Later bytes wait for at most `GAP` seconds
  or until `ENOUGH` bytes have arrived.
- The end of the connection is never delayed (socket(7), SO_RCVLOWAT: the kernel decides when to
  read).
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Protocol

import aiohttp

#: Maximum seconds between two reads.
GAP = 0.025
#: Bytes.
ENOUGH = 128 * 1024


class Chunks(Protocol):
    """A response body, as in `aiohttp.StreamReader`."""

    def iter_any(self) -> AsyncIterator[bytes]: ...


class ThrottledReader:
    """The `Chunks` of a long-running response."""

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
                # The next user of the connection must wake for a single byte again.
                self._wake()

    def _rest(self) -> None:
        if self._waking is None and self._want(ENOUGH):
            self._waking = asyncio.get_running_loop().call_later(GAP, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._want(1)

    def _want(self, least: int) -> bool:
        """Set the minimum number of bytes that wakes the reader. Return False if that is not
        possible.
        """
        if self._socket is None:
            return False
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, least)
            return True
        # The socket is closed, or the system does not support the option.
        self._socket = None
        return False


def _socket_of(response: aiohttp.ClientResponse) -> socket.socket | None:
    """Return the socket, or None if the response is complete and its connection was released."""
    transport = response.connection.transport if response.connection else None
    return transport.get_extra_info("socket") if transport else None
