"""Servers with arbitrary responses: every call ends with an `ApiError`, and followers continue."""

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.kube import credentials, liststream, transport
from console.kube.clients import ConsoleClient, ReaderClient, UserClient
from console.kube.credentials import Credentials
from console.kube.errors import ApiError
from console.kube.gvr import CONFIG_MAPS, PODS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.listwatch import ListWatch
from console.kube.transport import Transport
from tests.controlplane.pki import Authority
from tests.kube import generic
from tests.kube.fakes import FakeClock
from tests.support.ports import LOOPBACK

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


def whole(body: bytes, *, code: int = 200, more: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n" % (code, len(body))
    return head + more + b"\r\n" + body


def status(code: object) -> bytes:
    return b'{"type":"ERROR","object":{"kind":"Status","code":%s}}\n' % str(code).encode()


STORED = b'{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"1"}}'
#: Responses without an end are followed by `ENDLESS` for as long as the client reads.
ENDLESS = b"x" * 65_536
BROKEN = (
    b"",
    b"\x16\x03\x01\x00 what is this",
    b"HTTP/1.1 999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
    *map(whole, (b"", b"<html>Log in here</html>", b'{"metadata": {"name": "a"', b"[]", b"1")),
    *map(whole, (b'"x"', b"{}", b'{"metadata":{}}', b"\xff\xfe", b"[" * 60_000)),
    whole(b'{"metadata":{"resourceVersion":"\xff"},"items":[]}'),
    whole(b'{"metadata":{"resourceVersion":"1"},"items":[1,"x",null,[]]}'),
    whole(b'{"metadata":{"resourceVersion":1},"items":{}}'),
    *(whole(status(code)) for code in ('"x"', "[]", "null", "-1", "1e999", "9" * 400)),
    whole(b'{"type":"ADDED","object":"x"}\n{"type":"ADDED","object":{"metadata":1}}\n'),
    whole(b'{"type":1,"object":{}}\n'),
    whole(b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"\xff"}}}\n'),
    whole(b"no", code=500),
    whole(b'{"details":{"retryAfterSeconds":%s}}' % (b"9" * 400), code=429),
    whole(b"no", code=503, more=b"Retry-After: Mon, 01 Jan 2020 00:00:00 +99999999999999\r\n"),
    whole(b"no", code=429, more=b"Retry-After: " + b"9" * 400 + b"\r\n"),
    whole(b"no", code=401),
    whole(b"no", code=302, more=b"Location: http://127.0.0.1:1/\r\n"),
    OK + b"\r\n" + ENDLESS,
    OK + b'\r\n{"kind":"List","items":[{"a":"' + ENDLESS,
)


class Server:
    """Send the next of `answers` to each request."""

    def __init__(self, answers: Iterator[bytes]) -> None:
        self.answers = answers
        self.asked = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            self.asked += 1
            found = next(self.answers)
            writer.write(found)
            while found.endswith(ENDLESS):
                writer.write(ENDLESS)
                await writer.drain()
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def kubeconfig(folder: Path, server: str, authority: Path | None = None) -> Path:
    """Return a kubeconfig without credentials for this server."""
    path = folder / "kubeconfig"
    more = {"certificate-authority": str(authority)} if authority else {}
    path.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": server, **more}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return path


@asynccontextmanager
async def answering(tmp_path: Path, answers: Iterator[bytes]) -> AsyncIterator[tuple[Any, Server]]:
    """Yield a transport to the server, and the server."""
    made = Server(answers)
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    path = kubeconfig(tmp_path, f"http://127.0.0.1:{port}")
    transport = Transport(Credentials("reader", str(path)))
    try:
        yield transport, made
    finally:
        await transport.close()
        server.close()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the size limits."""
    monkeypatch.setattr(transport, "MAX_ANSWER", 2**20)
    monkeypatch.setattr(liststream, "MOST", 2**20)
    monkeypatch.setattr(credentials, "RELOAD_INTERVAL", 0.0)


async def _read(stream: Any) -> None:
    async with stream as chunks:
        async for _chunk in chunks.iter_any():
            pass


CALLS: tuple[Callable[[Transport], Any], ...] = (
    lambda way: ConsoleClient(way).get(CONFIG_MAPS, namespace="shop", name="a"),
    lambda way: ConsoleClient(way).list_by_fields(PODS, "spec.nodeName=a"),
    lambda way: UserClient(way, Identity("jane")).create(CONFIG_MAPS, {}, namespace="shop"),
    lambda way: UserClient(way, Identity("jane")).evict(namespace="shop", name="a", uid="u"),
    lambda way: ReaderClient(way).ready(),
    lambda way: ListWatch(ReaderClient(way), PODS).latest(),
)


@pytest.mark.usefixtures("short")
async def test_every_call_succeeds_or_raises_an_api_error(tmp_path: Path) -> None:
    for call in CALLS:
        async with answering(tmp_path, cycle(BROKEN)) as (way, server):
            while server.asked < len(BROKEN):
                try:
                    async with asyncio.timeout(5):
                        await call(way)
                except ApiError as error:
                    assert error.retry_after is None or error.retry_after <= 300


@pytest.mark.usefixtures("short")
async def test_followers_continue_and_become_current(tmp_path: Path) -> None:
    """Applies to lists and watches alike."""
    good = whole(
        b'{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"shop",'
        b'"uid":"u","resourceVersion":"7"}}]}'
    )
    watch = OK + b"\r\n" + b'{"type":"MODIFIED","object":{"metadata":{"name":"a"'

    def answers() -> Iterator[bytes]:
        yield from BROKEN
        for one in BROKEN:
            # A list, so that the next response is that of a watch.
            yield good
            yield one
        while True:
            yield good
            yield watch

    async with answering(tmp_path, answers()) as (way, server):
        informer = Informer(PODS, generic.decode, clock=FakeClock())
        following = asyncio.create_task(informer.follow({"": ListWatch(ReaderClient(way), PODS)}))
        async with asyncio.timeout(30):
            while server.asked < 3 * len(BROKEN) + 4 and not following.done():
                await asyncio.sleep(0.01)
        assert not following.done()
        assert [key.name for key in informer.store.snapshot().entries] == ["a"]
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def test_connection_without_tls_close_notify_is_released(tmp_path: Path) -> None:
    """TLS closes when both sides have sent close_notify, which a hanging server never does."""
    authority = Authority(tmp_path)
    pair = authority.server("server", hosts=["localhost"], addresses=[LOOPBACK])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)

    def answer() -> socket.socket:
        taken = context.wrap_socket(listening.accept()[0], server_side=True)
        taken.recv(65_536)
        taken.sendall(whole(STORED))
        return taken

    async def ask() -> None:
        address = f"https://{LOOPBACK}:{listening.getsockname()[1]}"
        path = kubeconfig(tmp_path, address, authority.certificate)
        transport = Transport(Credentials("reader", str(path)))
        await ConsoleClient(transport).get(CONFIG_MAPS, namespace="shop", name="a")
        await transport.close()

    with (
        socket.create_server((LOOPBACK, 0)) as listening,
        ThreadPoolExecutor() as server,
        warnings.catch_warnings(record=True) as left,
    ):
        warnings.simplefilter("always", ResourceWarning)
        answered = server.submit(answer)
        asyncio.run(ask())
        gc.collect()
        answered.result().close()
    assert [str(one.message) for one in left] == []
