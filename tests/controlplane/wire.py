"""Connections through the fault-injecting proxy, and the fault settings that they share."""

import asyncio
import re
import socket
import ssl
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

__all__ = ["Connection", "Faults", "RecordedRequest", "Script", "ScriptedResponse"]

_CHUNK = 64 * 1024
# Closing a socket with a linger time of zero sends RST instead of FIN.
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass
class RecordedRequest:
    """A request that the proxy received. `at` is the value of `time.monotonic()`."""

    method: str
    path: str
    query: Mapping[str, str]
    at: float = field(default_factory=time.monotonic)
    #: Status code of the response; 0 until it arrives.
    status: int = 0

    @property
    def verb(self) -> str:
        """`watch`, `list`, `probe` (a list with limit 1), or `get` for non-resource requests."""
        if self.query.get("watch"):
            return "watch"
        if not self.path.startswith(("/api/", "/apis/")):
            return "get"
        return "probe" if self.query.get("limit") == "1" else "list"

    @property
    def resource(self) -> str:
        """The last segment of the path, such as `pods`."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class ScriptedResponse:
    """A response sent by the proxy instead of the server."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def raw(self) -> bytes:
        """Return the encoded response. The connection stays open after it."""
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(self.body)),
            **self.headers,
        }
        lines = [f"HTTP/1.1 {self.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


#: Returns a response for a request, or None to forward the request.
Script = Callable[[RecordedRequest], ScriptedResponse | None]


@dataclass
class Faults:
    """Active faults. They can be set by any thread and apply to all connections."""

    script: Script | None = None
    #: Response bytes after which a connection is reset, counted from when this was set.
    cut_after: int | None = None
    #: Incremented with each change of `cut_after`.
    cuts: int = 0
    #: Maximum number of bytes per write.
    piece: int | None = None
    #: Delay of responses in seconds, which merges several writes into one.
    hold: float = 0.0
    #: Accept connections but forward no data.
    swallow: bool = False
    seen: list[RecordedRequest] = field(default_factory=list)


class ConnectionCut(ConnectionError):
    """The proxy reset the connection."""


class Connection:
    """Forwards requests and responses until one side disconnects or the proxy resets the
    connection.

    It supports HTTP/1.1 without pipelining: a request starts after the previous response is
    complete.
    """

    def __init__(
        self, wire: Faults, client: socket.socket, tls: ssl.SSLContext, upstream: "Upstream"
    ) -> None:
        self._wire = wire
        self._client = client
        self._tls = tls
        self._upstream = upstream
        self._asked: RecordedRequest | None = None
        #: The newest request of the connection.
        self.last: RecordedRequest | None = None
        self._cuts, self._left = wire.cuts, wire.cut_after
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        #: Half-open: data from both sides is discarded permanently.
        self.dead = wire.swallow

    async def run(self) -> None:
        """Serve the connection. It raises no errors except cancellation."""
        try:
            if self.dead:
                await self._swallow()
            else:
                await self._requests(await self._shake_hands())
        except (OSError, EOFError, asyncio.LimitOverrunError):
            # One side disconnected. The finally block closes the other side.
            pass
        finally:
            if self._task is not None:
                self._task.cancel()
            if self._writer is not None:
                self._writer.close()

    def reset(self) -> None:
        """Send RST to the client immediately."""
        with suppress(OSError):
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        if self._writer is not None:
            self._writer.transport.abort()
        else:
            # The task that reads the socket detects the shutdown and closes it.
            with suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)

    async def _swallow(self) -> None:
        loop = asyncio.get_running_loop()
        with self._client:
            while await loop.sock_recv(self._client, _CHUNK):
                pass

    async def _shake_hands(self) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(_CHUNK)
        transport, protocol = await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(reader), self._client, ssl=self._tls
        )
        self._writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        return reader

    async def _requests(self, client: asyncio.StreamReader) -> None:
        server: asyncio.StreamWriter | None = None
        try:
            while True:
                head = await client.readuntil(b"\r\n\r\n")
                request = head + await client.readexactly(_length(head))
                seen = self.last = _parse(head)
                self._wire.seen.append(seen)
                if self.dead:
                    continue
                script = self._wire.script
                answer = script(seen) if script is not None else None
                if answer is not None:
                    seen.status = answer.status
                    await self._deliver(answer.raw())
                    continue
                if server is None:
                    reader, server = await self._upstream.connect()
                    self._task = asyncio.create_task(self._answers(reader))
                self._asked = seen
                server.write(request)
                await server.drain()
        finally:
            if server is not None:
                # The client disconnected, so the response has no recipient.
                server.transport.abort()

    async def _answers(self, server: asyncio.StreamReader) -> None:
        try:
            while data := await server.read(_CHUNK):
                if self._asked is not None and data.startswith(b"HTTP/1.1 "):
                    self._asked.status, self._asked = int(data[9:12]), None
                if not self.dead:
                    await self._deliver(data)
                if self._wire.hold:
                    await asyncio.sleep(self._wire.hold)
        except OSError:
            # Includes `ConnectionCut`, after which the client is already disconnected.
            pass
        if not self.dead and self._writer is not None:
            self._writer.close()

    async def _deliver(self, data: bytes) -> None:
        assert self._writer is not None
        if self._cuts != self._wire.cuts:
            self._cuts, self._left = self._wire.cuts, self._wire.cut_after
        cut = self._left is not None and len(data) >= self._left
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        piece = self._wire.piece or len(data) or 1
        for at in range(0, len(data), piece):
            self._writer.write(data[at : at + piece])
            await self._writer.drain()
            if piece < len(data):
                await asyncio.sleep(0)
        if cut:
            self.reset()
            raise ConnectionCut


@dataclass(frozen=True)
class Upstream:
    """Address of kube-apiserver."""

    host: str
    port: int
    tls: ssl.SSLContext

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.host, self.port, ssl=self.tls)


def _length(head: bytes) -> int:
    """Return the length of the request body."""
    found = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else 0


def _parse(head: bytes) -> RecordedRequest:
    method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
    address = urlsplit(target)
    return RecordedRequest(
        method, address.path, dict(parse_qsl(address.query, keep_blank_values=True))
    )
