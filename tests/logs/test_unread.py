"""Clients that request logs and read nothing or disconnect immediately: bounded memory in a
production-like console, and unaffected other clients.
"""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import pytest

from bench.memory import read
from console.live.limits import MAX_SOCKETS
from console.streams.stream import STREAM_QUOTA
from devcluster.logs.runs import RATE_ANNOTATION
from tests.browser.console import Console, Embedded, running
from tests.controlplane.waiting import eventually
from tests.logs.conftest import NODE
from tests.logs.reader import Reader, signed_in
from tests.support.depth import fewer, number

pytestmark = pytest.mark.programs

LOG = "/clusters/host/projects/default/pods/pours/log"
#: All but one of an account's slots.
STUCK = MAX_SOCKETS - 1
#: Lines that another client reads meanwhile, as a clock.
LINES = number(5_000, 20_000)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    cluster = Embedded(tmp_path_factory.mktemp("cluster"))
    try:
        with running(cluster, tmp_path_factory.mktemp("console")) as console:
            about = {"name": "pours", "annotations": {RATE_ANNOTATION: "20000"}}
            spec = {"containers": [{"name": "app", "image": "example/app:1"}]}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
            for one in ({"apiVersion": "v1", "kind": "Node", **NODE}, pod):
                console.kubectl("create", "-f", "-", input=json.dumps(one))
            phase = ("get", "pod", "pours", "-o", "jsonpath={.status.phase}")
            eventually(lambda: console.kubectl(*phase) == "Running", "the pod runs")
            yield console
    finally:
        cluster.stop()


@asynccontextmanager
async def reading(session: aiohttp.ClientSession) -> AsyncIterator[Reader]:
    reader = Reader(f"{LOG}?tail=10")
    task = asyncio.create_task(reader.read(session))
    try:
        await read_on(reader, LINES)
        yield reader
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def read_on(reader: Reader, lines: int) -> None:
    end = len(reader.lines) + lines
    async with asyncio.timeout(60 + lines / 500):
        await reader.until(lambda _last: len(reader.lines) >= end)


def asked(console: Console, session: aiohttp.ClientSession, *heads: str) -> socket.socket:
    """Return a connection with a sent request whose response is not read."""
    where = urlsplit(console.url)
    cookies = "; ".join(f"{one.key}={one.value}" for one in session.cookie_jar)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((where.hostname, where.port))
    lines = (*heads, f"Host: {where.netloc}", f"Origin: {console.url}", f"Cookie: {cookies}")
    connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    return connection


def shaken(console: Console, session: aiohttp.ClientSession) -> socket.socket:
    """Return a connection that requested a websocket handshake."""
    return asked(
        console,
        session,
        f"GET /ws{LOG}?tail=10 HTTP/1.1",
        *("Upgrade: websocket", "Connection: Upgrade"),
        *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
    )


def followed(console: Console, session: aiohttp.ClientSession) -> socket.socket:
    connection = shaken(console, session)
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += connection.recv(1)
    assert answer.startswith(b"HTTP/1.1 101 "), answer
    first = b'{"follow":"en","at":{}}'
    # A text frame with a mask of zeros.
    connection.sendall(b"\x81" + bytes([0x80 | len(first)]) + bytes(4) + first)
    return connection


def downloaded(console: Console, session: aiohttp.ClientSession) -> socket.socket:
    return asked(console, session, f"GET {LOG}?format=text&tail=all HTTP/1.1")


@pytest.mark.parametrize("opened", fewer([followed, downloaded], followed))
async def test_clients_that_read_nothing_use_bounded_memory(
    console: Console, opened: Callable[[Console, aiohttp.ClientSession], socket.socket]
) -> None:
    pid = console.processes[-1].pid
    async with signed_in(console.url) as session, reading(session) as reader:
        before = read("VmRSS", pid)
        with ExitStack() as stack:
            stuck = [stack.enter_context(opened(console, session)) for _ in range(STUCK)]
            await read_on(reader, 4 * LINES)
            grown = read("VmRSS", pid) - before
            # Each connection received as much as fits its buffers.
            assert all(len(one.recv(4096, socket.MSG_PEEK)) > 1000 for one in stuck)
    assert grown < STUCK * STREAM_QUOTA, f"{grown / STUCK / 1024:.0f} KiB each"


async def test_clients_that_disconnect_immediately_release_their_slots(console: Console) -> None:
    """Before the response to the handshake or during its transfer."""
    async with signed_in(console.url) as session:
        for _ in range(2 * MAX_SOCKETS):
            gone = shaken(console, session)
            # Reset the connection without a close frame.
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
        readers = [Reader(f"{LOG}?tail=10") for _ in range(MAX_SOCKETS)]
        tasks = [asyncio.create_task(one.read(session)) for one in readers]
        try:
            async with asyncio.timeout(60):
                for one in readers:
                    await one.until(len)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
