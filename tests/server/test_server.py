"""Limits of the server, tested with real sockets."""

import asyncio
import json
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from console.web.server import MAX_BODY
from tests.server.conftest import Running, read_all, start
from tests.support.ports import free_port

#: Tests in this file start servers.
pytestmark = pytest.mark.programs
MIB = 1024 * 1024
PIECE = b"x" * 65536


def chunked(total: int) -> Iterator[bytes]:
    for _ in range(total // len(PIECE)):
        yield b"10000\r\n" + PIECE + b"\r\n"
    yield b"0\r\n\r\n"


def body(answer: bytes) -> dict[str, object]:
    """Return the JSON of a response sent in one chunk."""
    return dict(json.loads(answer.partition(b"{")[1] + answer.partition(b"{")[2].split(b"\r\n")[0]))


#: The handshake of a websocket, with characters that some parsers treat as a line ending.
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"X: a%bX-Other: b\r\n\r\n"
)
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


def test_oversized_chunked_body_is_refused_while_it_arrives(own_echo: Running) -> None:
    before = own_echo.resident()
    answer, sent = own_echo.raw(CHUNKED, chunked(200 * MIB))
    assert answer.startswith(b"HTTP/1.1 413 ")
    # The server reads about 10 MiB; the rest is in the kernel's socket buffers.
    assert sent < 30 * MIB
    assert list(own_echo.temp.iterdir()) == []
    assert own_echo.resident() - before < 20 * MIB


def test_oversized_content_length_is_refused_before_the_body(echo: Running) -> None:
    answer, _ = echo.raw(
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1)
    )
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_refused_client_that_keeps_sending_is_disconnected(echo: Running) -> None:
    with echo.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 413 ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                connection.sendall(b"x")


@pytest.mark.parametrize("over", [0, 1])
def test_body_limit_is_exact(echo: Running, over: int) -> None:
    pieces = (
        [b"10000\r\n" + PIECE + b"\r\n"] * (MAX_BODY // len(PIECE))
        + [b"1\r\nx\r\n"] * over
        + [b"0\r\n\r\n"]
    )
    # In one write, so the end arrives together with the excess bytes.
    answer, _ = echo.raw(CHUNKED, [b"".join(pieces)])
    if over:
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert answer.count(b"HTTP/1.1") == 1
    else:
        assert body(answer)["size"] == MAX_BODY


def test_keep_alive_works_after_a_request_with_a_body(echo: Running) -> None:
    request = b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    with echo.connect() as connection:
        connection.sendall(request % 1 + request % 2 + b"GET /3 HTTP/1.0\r\n\r\n")
        answer = read_all(connection)
    assert answer.count(b" 200 OK\r\n") == 3
    assert answer.count(b'"size": 3') == 2


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: 1\r\n" % n for n in range(101)) + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\x0bb\r\nConnection: close\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ],
    ids=["many", "long", "path", "both-lengths", "two-lengths", "control", "negative"],
)
def test_malformed_request_heads_are_refused(echo: Running, head: bytes) -> None:
    answer, _ = echo.raw(head)
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_handshake_header_with_embedded_line_break_is_refused(echo: Running) -> None:
    """Characters that Python treats as line breaks, and HTTP doesn't."""
    for control in (b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\x85", b"\r", b"\n"):
        answer, _ = echo.raw(UPGRADE % control)
        assert answer.startswith(b"HTTP/1.1 400 "), control


def test_client_cannot_set_the_root_path_or_its_address(echo: Running) -> None:
    answer, _ = echo.raw(
        b"GET /scope HTTP/1.1\r\nHost: x\r\nDaphne-Root-Path: /oauth\r\nX-Forwarded-For: 1.2.3.4\r\n"
        b"X-Forwarded-Proto: https\r\nForwarded: for=1.2.3.4\r\nConnection: close\r\n\r\n"
    )
    seen = body(answer)
    assert (seen["path"], seen["root_path"]) == ("/scope", "")
    assert seen["headers"] == ["connection", "host"]


def test_responses_do_not_reveal_the_server_software(echo: Running) -> None:
    good, _ = echo.raw(b"GET / HTTP/1.0\r\n\r\n")
    bad, _ = echo.raw(b"GET /\xff HTTP/1.0\r\n\r\n")
    refused, _ = echo.raw(b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")
    half, _ = echo.raw(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
    for answer in (good, bad, refused, half):
        assert answer.startswith(b"HTTP/1.")
        assert b"server:" not in answer.lower()
        assert b"daphne" not in answer.lower()
        assert b"autobahn" not in answer.lower()


async def test_message_above_64_kib_closes_the_websocket_with_1009(echo: Running) -> None:
    url = f"http://127.0.0.1:{echo.port}/ws"
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url, headers={"Daphne-Root-Path": "/oauth"}) as ws:
            await ws.send_str("a" * 65536)
            assert await ws.receive_json() == [65536, ""]
            await ws.send_str("a" * 65537)
            message = await ws.receive()
            assert message.type is aiohttp.WSMsgType.CLOSE
            assert ws.close_code == 1009
        async with session.ws_connect(url) as ws:
            for _ in range(3):
                await ws.send_frame(b"a" * 30_000, aiohttp.WSMsgType.TEXT)
                assert await ws.receive_json() == [30_000, ""]


async def test_oversized_frame_is_not_buffered(own_echo: Running) -> None:
    before = own_echo.resident()
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{own_echo.port}/ws"
        async with session.ws_connect(url) as ws:
            # The server closes the connection during the transfer, so the client may get a
            # connection error.
            with suppress(ConnectionError):
                await ws.send_str("a" * (30 * MIB))
            await ws.receive()
            assert ws.close_code in (1009, 1006)
    assert own_echo.resident() - before < 10 * MIB


async def test_outgoing_messages_may_be_larger(echo: Running) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://127.0.0.1:{echo.port}/ws") as ws,
    ):
        await ws.send_str("big")
        assert len(await ws.receive_str()) == 200_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_sigterm_closes_websockets_with_1001_and_finishes_requests(
    own_echo: Running, number: signal.Signals
) -> None:
    url = f"http://127.0.0.1:{own_echo.port}/ws"
    with own_echo.connect() as slow, own_echo.connect() as unfinished:
        unfinished.sendall(b"GET /half HTTP/1.1\r\n")
        slow.sendall(b"GET /slow HTTP/1.0\r\n\r\n")
        answer = b""
        while b"begun" not in answer:
            answer += slow.recv(1024)
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as ws:
            own_echo.process.send_signal(number)
            message = await ws.receive()
            assert (message.type, ws.close_code) == (aiohttp.WSMsgType.CLOSE, 1001)
        _, errors = await asyncio.to_thread(own_echo.process.communicate, timeout=20)
        answer += read_all(slow)
    assert own_echo.process.returncode == 0
    assert errors == b""
    assert answer.endswith(b"begun,done")


def test_sigint_stops_a_server_that_inherited_it_as_ignored(tmp_path: Path) -> None:
    process = start(free_port(), tmp_path, deaf=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_port_in_use_is_reported_in_one_line_with_exit_code_1(echo: Running) -> None:
    second = start(echo.port, echo.temp)
    out, errors = second.communicate(timeout=20)
    assert second.returncode == 1
    assert out == b""
    assert errors == f"Cannot listen on 127.0.0.1:{echo.port}: Address already in use\n".encode()


@pytest.mark.parametrize("code", [1000, 1008, 1011, 4001])
async def test_application_may_close_with_any_code(echo: Running, code: int) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://127.0.0.1:{echo.port}/ws") as ws,
    ):
        await ws.send_str(f"close {code}")
        await ws.receive()
        assert ws.close_code == code
