"""Port-forward: connections to pod ports, tunneled through a websocket.

With `v4.channel.k8s.io`, the first byte of a message is its channel: the port with index i uses
channel 2i for data and 2i + 1 for errors. With SPDY over websockets, as used by kubectl, the
number of connections is not fixed. Each connection has a data stream and an error stream.
"""

import asyncio
from contextlib import AsyncExitStack

from aiohttp import web

from devcluster.objects import Obj, meta
from devcluster.streams.pages import connect
from devcluster.streams.spdy import Frame, FrameReader, FrameType, FrameWriter, SpdyError
from devcluster.streams.targets import KubeletError, port_number
from devcluster.streams.websockets import next_message

V4, SPDY = "v4.channel.k8s.io", "SPDY/3.1+portforward.k8s.io"
_CHUNK = 32 * 1024
_MOST_PORTS, _MOST_STREAMS = 50, 200


def ports_of(request: web.Request) -> list[int]:
    """Return the requested ports. Raise a 400 error if no port is specified or a port is invalid."""
    texts = request.query.getall("ports", [])
    if not texts:
        raise KubeletError(400, 'query parameter "port" is required')
    found = []
    for text in ",".join(texts).split(","):
        if not (number := port_number(text)):
            raise KubeletError(400, f'unable to parse "{text}" as a port')
        found.append(number)
    if len(found) > _MOST_PORTS:
        raise KubeletError(400, "too many ports")
    return found


def connection_refused(pod: Obj, port: int) -> bytes:
    """Return the error message of a kubelet if no container listens on the port."""
    about = meta(pod)
    return (
        f"error forwarding port {port} to pod {about['name']}, uid {about['uid']}: failed to execute "
        f"portforward in network namespace: failed to connect to localhost:{port}: dial tcp4 "
        f"127.0.0.1:{port}: connect: connection refused"
    ).encode()


async def forward_channels(websocket: web.WebSocketResponse, pod: Obj, ports: list[int]) -> None:
    """Forward the ports until all connections are closed or the client disconnects."""
    async with AsyncExitStack() as stack:
        writers: dict[int, asyncio.StreamWriter] = {}
        relays: list[asyncio.Task[None]] = []
        for place, port in enumerate(ports):
            number = port.to_bytes(2, "little")
            await websocket.send_bytes(bytes([2 * place]) + number)
            await websocket.send_bytes(bytes([2 * place + 1]) + number)
        for place, port in enumerate(ports):
            try:
                reader, writer = await stack.enter_async_context(connect(pod, port))
            except ConnectionRefusedError:
                await websocket.send_bytes(bytes([2 * place + 1]) + connection_refused(pod, port))
                continue
            writers[2 * place] = writer
            relays.append(asyncio.create_task(_relay(reader, websocket, 2 * place)))
        receiving = asyncio.create_task(_receive(websocket, writers))
        ended = asyncio.create_task(_all(relays))
        try:
            await asyncio.wait({receiving, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (receiving, ended, *relays):
                task.cancel()


async def _all(relays: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*relays)


async def _relay(
    reader: asyncio.StreamReader, websocket: web.WebSocketResponse, channel: int
) -> None:
    while data := await reader.read(_CHUNK):
        await websocket.send_bytes(bytes([channel]) + data)


async def _receive(
    websocket: web.WebSocketResponse, writers: dict[int, asyncio.StreamWriter]
) -> None:
    while (message := await next_message(websocket)) is not None:
        writer = writers.get(message[0]) if message else None
        if writer and not writer.is_closing():
            writer.write(message[1:])
            await writer.drain()


class SpdyTunnel:
    """SPDY over a websocket, with any number of connections."""

    def __init__(self, websocket: web.WebSocketResponse, pod: Obj) -> None:
        self._websocket, self._pod = websocket, pod
        self._spdy = FrameWriter()
        # Headers by stream, and the writer of each connection by data stream.
        self._streams: dict[int, dict[str, str]] = {}
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        reader = FrameReader()
        try:
            while (message := await next_message(self._websocket)) is not None:
                for frame in reader.feed(message):
                    await self._handle(frame)
        except SpdyError:
            return
        finally:
            for task in self._tasks:
                task.cancel()

    async def _handle(self, frame: Frame) -> None:
        match frame.kind:
            case FrameType.STREAM:
                await self._begin(frame)
            case FrameType.DATA:
                writer = self._writers.get(frame.stream)
                if writer and not writer.is_closing():
                    writer.write(frame.data)
                    if frame.last:
                        writer.write_eof()
                    await writer.drain()
            case FrameType.RESET:
                self._streams.pop(frame.stream, None)
                writer = self._writers.pop(frame.stream, None)
                if writer:
                    writer.close()
            case FrameType.PING:
                await self._send(self._spdy.ping(frame.data))

    async def _begin(self, frame: Frame) -> None:
        port = port_number(frame.headers.get("port", ""))
        kind = frame.headers.get("streamtype", "")
        valid = port and kind in ("data", "error")
        if not valid or len(self._streams) >= _MOST_STREAMS:
            await self._send(self._spdy.reset(frame.stream))
            return
        self._streams[frame.stream] = frame.headers
        await self._send(self._spdy.reply(frame.stream))
        same = frame.headers.get("requestid")
        halves = {
            headers["streamtype"]: stream
            for stream, headers in self._streams.items()
            if headers.get("requestid") == same
        }
        if len(halves) == 2:
            ready = asyncio.Event()
            task = asyncio.create_task(self._forward(halves, port, ready))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # The following frames contain data for this connection.
            await ready.wait()

    async def _forward(self, halves: dict[str, int], port: int, ready: asyncio.Event) -> None:
        data, errors = halves["data"], halves["error"]
        try:
            async with connect(self._pod, port) as (reader, writer):
                self._writers[data] = writer
                ready.set()
                while part := await reader.read(_CHUNK):
                    await self._send(self._spdy.data(data, part))
            await self._send(self._spdy.data(data, b"", last=True))
            await self._send(self._spdy.data(errors, b"", last=True))
        except ConnectionRefusedError:
            await self._send(
                self._spdy.data(errors, connection_refused(self._pod, port), last=True)
            )
            await self._send(self._spdy.reset(data))
        finally:
            ready.set()
            self._writers.pop(data, None)
            for stream in halves.values():
                self._streams.pop(stream, None)

    async def _send(self, data: bytes) -> None:
        await self._websocket.send_bytes(data)
