"""The port-forward protocols, tested byte by byte."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from devcluster.streams.spdy import DICTIONARY
from tests.devcluster.conftest import Api
from tests.devcluster.streams.conftest import PODS, V4, PodClient, StreamConnection

SPDY = "SPDY/3.1+portforward.k8s.io"
GET = "GET /some/where HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("protocols", [(V4,), ()])
async def test_port_forward_returns_the_response_of_the_port(
    pods: PodClient, two: str, protocols: tuple[str, ...]
) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "8080")], protocols) as door:
        assert door.websocket.protocol == (V4 if protocols else None)
        await door.send(0, GET)
        found = await door.end()
    # Each channel starts with the port number in little-endian order.
    assert found.channels[0].startswith(b"\x90\x1fHTTP/1.1 200 OK\r\n")
    assert b"<title>two</title>" in found.channels[0]
    assert b"GET /some/where" in found.channels[0]
    assert (found.channels[1], found.close) == (b"\x90\x1f", 1006)


async def test_port_forward_connects_to_several_ports(pods: PodClient, two: str) -> None:
    query = [("ports", "8080"), ("ports", "8080,81")]
    async with pods.open(f"{two}/portforward", query, (V4,)) as door:
        await door.send(2, GET)
        await door.send(0, GET)
        await door.send(7, "to nobody")
        found = await door.end()
    assert all(b"200 OK" in found.channels[channel] for channel in (0, 2))
    assert found.channels[4] == b"Q\0"
    assert found.channels[5].endswith(b"connect: connection refused")


async def test_a_closed_port_reports_connection_refused_on_the_error_channel(
    pods: PodClient, two: str
) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "81")], (V4,)) as door:
        found = await door.end()
    start = b"Q\0error forwarding port 81 to pod two, uid "
    assert found.channels[1].startswith(start)
    assert (found.channels[0], found.close) == (b"Q\0", 1006)


async def test_missing_and_invalid_ports_are_rejected(pods: PodClient, two: str) -> None:
    for query in (
        (),
        (("ports", ""),),
        (("ports", "0"),),
        (("ports", "70000"),),
        (("ports", "x"),),
    ):
        code, text = await pods.rejected(
            f"{two}/portforward", query, **{"Sec-WebSocket-Protocol": V4}
        )
        assert (code, "port" in text) == (400, True), text
    assert (await pods.rejected("nope/portforward", [("ports", "1")]))[0] == 404


async def test_port_forward_ends_when_the_client_disconnects(pods: PodClient, two: str) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "8080")], (V4,)) as door:
        assert await door.next()
    assert await asyncio.to_thread(Api(pods.cluster, pods.token).get, f"{PODS}/{two}")


# SPDY over a websocket --------------------------------------------------------------------------


@dataclass
class Spdy:
    """SPDY client, as implemented by kubectl."""

    door: StreamConnection
    _packing: "zlib._Compress" = field(default_factory=lambda: zlib.compressobj(zdict=DICTIONARY))
    _waiting: bytes = b""

    async def begin(self, stream: int, **headers: str) -> None:
        block = struct.pack(">I", len(headers))
        for text in (text for pair in headers.items() for text in pair):
            block += struct.pack(">I", len(text)) + text.encode()
        packed = self._packing.compress(block) + self._packing.flush(zlib.Z_SYNC_FLUSH)
        await self.control(1, struct.pack(">IIH", stream, 0, 0) + packed)

    async def control(self, kind: int, body: bytes) -> None:
        await self.door.websocket.send_bytes(struct.pack(">HHI", 0x8003, kind, len(body)) + body)

    async def data(self, stream: int, data: str) -> None:
        await self.door.websocket.send_bytes(struct.pack(">II", stream, len(data)) + data.encode())

    async def frames(self) -> AsyncIterator[tuple[int, int, bytes]]:
        """Yield control frames as (type, flags, body) and data frames as (0, stream with last flag,
        data).
        """
        while True:
            while len(self._waiting) < 8 or len(self._waiting) < 8 + self._size:
                message = await self.door.websocket.receive_bytes()
                self._waiting += message
            first = struct.unpack(">I", self._waiting[:4])[0]
            end = 8 + self._size
            body, flags = self._waiting[8:end], self._waiting[4]
            self._waiting = self._waiting[end:]
            yield (first & 0xFFFF, flags, body) if first >> 31 else (0, first | flags << 31, body)

    @property
    def _size(self) -> int:
        return int(struct.unpack(">I", self._waiting[4:8])[0] & 0xFFFFFF)


LAST = 1 << 31


async def test_one_tunnel_carries_several_connections(pods: PodClient, two: str) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "8080")], (SPDY,)) as door:
        spdy = Spdy(door)
        for number in range(3):
            same = {"port": "8080", "requestid": str(number)}
            await spdy.begin(4 * number + 1, streamtype="error", **same)
            await spdy.begin(4 * number + 3, streamtype="data", **same)
        await spdy.control(6, b"\0\0\0\1")
        for number in (2, 0, 1):
            await spdy.data(4 * number + 3, GET)
        found: dict[int, bytes] = {}
        ended: set[int] = set()
        pinged = 0
        async for kind, about, body in spdy.frames():
            if kind == 6:
                assert body == b"\0\0\0\1"
                pinged += 1
            elif kind == 0:
                stream = about & ~LAST
                found[stream] = found.get(stream, b"") + body
                ended |= {stream} if about & LAST else set()
            if len(ended) == 6:
                break
    assert pinged == 1
    assert all(found[4 * number + 3].startswith(b"HTTP/1.1 200 OK") for number in range(3))
    assert all(found[4 * number + 1] == b"" for number in range(3))


async def test_streams_to_closed_and_invalid_ports_are_reset(pods: PodClient, two: str) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "81")], (SPDY,)) as door:
        spdy = Spdy(door)
        await spdy.begin(1, streamtype="error", port="81", requestid="0")
        await spdy.begin(3, streamtype="data", port="81", requestid="0")
        await spdy.begin(5, streamtype="data", port="none", requestid="1")
        resets, text = set[int](), b""
        async for kind, about, body in spdy.frames():
            if kind == 3:
                resets.add(struct.unpack(">I", body[:4])[0])
            elif kind == 0 and about & ~LAST == 1:
                text += body
            if resets == {3, 5} and text:
                break
    assert text.endswith(b"connect: connection refused")


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">HHI", 0x8003, 1, 2) + b"xx",
        struct.pack(">HHI", 0x8003, 1, 14) + bytes(10) + b"junk",
        struct.pack(">II", 1, 0xFFFFFF),
    ],
)
async def test_invalid_spdy_frames_close_the_connection(
    pods: PodClient, two: str, data: bytes
) -> None:
    async with pods.open(f"{two}/portforward", [("ports", "8080")], (SPDY,)) as door:
        await door.websocket.send_bytes(data)
        assert (await door.end()).close is not None
