"""Streams of processes. All streams are bounded: a fast writer waits for its reader."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Protocol

from devcluster.shell.files import Files

#: Maximum number of bytes that a program or variable holds in memory.
LIMIT = 256 * 1024
#: Capacity of a pipe in Linux.
_PIPE = 64 * 1024
CHUNK = 16 * 1024
_LONGEST_LINE = 16 * 1024


class LimitExceeded(Exception):
    """A program or variable exceeds `LIMIT`."""


class Reader(Protocol):
    async def read(self, most: int) -> bytes:
        """Return between one and `most` bytes, or empty bytes at the end."""
        ...


class Writer(Protocol):
    async def write(self, data: bytes) -> None:
        """Write the data. Raise BrokenPipeError if the reader has closed the stream."""
        ...


class NullDevice:
    """The device /dev/null."""

    async def read(self, most: int) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:
        await asyncio.sleep(0)


class EndlessReader:
    """The devices /dev/zero and /dev/urandom."""

    def __init__(self, make: Callable[[int], bytes] = bytes) -> None:
        self._make = make

    async def read(self, most: int) -> bytes:
        await asyncio.sleep(0)
        return self._make(min(most, CHUNK))


RANDOM = EndlessReader(os.urandom)


class BytesReader:
    """Reader of fixed bytes."""

    def __init__(self, data: bytes) -> None:
        self._left = data

    async def read(self, most: int) -> bytes:
        await asyncio.sleep(0)
        found, self._left = self._left[:most], self._left[most:]
        return found


class BufferWriter:
    """Writer that stores the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    async def write(self, data: bytes) -> None:
        if len(self.data) + len(data) > LIMIT:
            raise LimitExceeded
        self.data += data
        await asyncio.sleep(0)


class CallbackWriter:
    """Writer that passes the data to a callback."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send

    async def write(self, data: bytes) -> None:
        for start in range(0, len(data), CHUNK):
            await self._send(data[start : start + CHUNK])
            await asyncio.sleep(0)


class FileWriter:
    """Writer to a file. The file is truncated first unless `append` is set."""

    def __init__(self, files: Files, path: str, *, append: bool) -> None:
        self._files, self._path = files, path
        files.write(path, b"", append=append)

    async def write(self, data: bytes) -> None:
        self._files.write(self._path, data, append=True)
        await asyncio.sleep(0)


class Pipe:
    """A pipe with one writer and one reader. Both ends can be closed."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ended = self._deaf = False
        self._changed = asyncio.Event()

    async def read(self, most: int) -> bytes:
        while not self._data and not self._ended:
            await self._changed.wait()
        found = bytes(self._data[:most])
        del self._data[:most]
        self._tell()
        return found

    async def write(self, data: bytes) -> None:
        while data:
            if self._deaf:
                raise BrokenPipeError
            room = _PIPE - len(self._data)
            self._data += data[:room]
            data = data[room:]
            self._tell()
            if data:
                await self._changed.wait()
        await asyncio.sleep(0)

    def close_writer(self) -> None:
        """Close the write end."""
        self._ended = True
        self._tell()

    def close_reader(self) -> None:
        """Close the read end."""
        self._deaf = True
        self._data.clear()
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class LineReader:
    """Line reader. Programs that share it also share its read-ahead buffer."""

    def __init__(self, source: Reader) -> None:
        self.source = source
        self._ahead = b""

    async def read(self, most: int) -> bytes:
        if not self._ahead:
            return await self.source.read(most)
        found, self._ahead = self._ahead[:most], self._ahead[most:]
        return found

    async def line(self) -> bytes:
        """Return the next line including its newline. A very long line is returned in pieces."""
        parts: list[bytes] = []
        size = 0
        while size < _LONGEST_LINE:
            found = await self.read(CHUNK)
            head, newline, rest = found.partition(b"\n")
            parts.append(head + newline)
            size += len(head)
            if newline:
                self._ahead = rest + self._ahead
            if newline or not found:
                break
        return b"".join(parts)

    async def all(self) -> bytes:
        """Return all data until the end. Raise `LimitExceeded` if it exceeds the limit."""
        found = bytearray()
        while part := await self.read(CHUNK):
            found += part
            if len(found) > LIMIT:
                raise LimitExceeded
        return bytes(found)
