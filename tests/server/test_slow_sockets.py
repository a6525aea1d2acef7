"""Websocket clients that do not read, against the real server."""

import json
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.request import urlopen

import aiohttp
import pytest

from console.live.flow import BUFFER, MAX_BUFFER
from tests.server.conftest import ROOT, Running
from tests.server.waiting import until
from tests.support.ports import free_port

pytestmark = pytest.mark.programs

MIB = 1024 * 1024
#: Bytes that may be buffered per client here: more than the frames of one flush, which contain all
#: rows.
MOST = 2 * MIB


class Pods:
    """A server with live websockets whose pods the test changes."""

    def __init__(self, port: int, drain_seconds: float) -> None:
        self.port = port
        self.process = subprocess.Popen(
            [
                sys.executable,
                *("-W", "error"),
                # ldap3 uses names that pyasn1 has deprecated.
                *("-W", "ignore:tagMap is deprecated:DeprecationWarning"),
                *("-W", "ignore:typeMap is deprecated:DeprecationWarning"),
                "-m",
                "tests.server.pods",
                str(port),
                str(drain_seconds),
            ],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin", "DJANGO_SETTINGS_MODULE": "console.settings"},
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n", self.process.communicate()[1].decode()
        self._restarts = 0

    def change_all(self) -> int:
        """Change the restart count of all pods and return it."""
        self._restarts += 1
        assert self.process.stdin is not None
        self.process.stdin.write(b"%d\n" % self._restarts)
        self.process.stdin.flush()
        return self._restarts

    def get(self, path: str) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as response:  # noqa: S310
            return dict(json.load(response))

    def subscription(self) -> str:
        found = self.get("/")
        return json.dumps({"subscribe": found["url"], "etag": found["etag"], "lang": "en"})

    def stop(self) -> None:
        self.process.terminate()
        _, errors = self.process.communicate(timeout=20)
        told = [line for line in errors.splitlines() if b"open files (before:" not in line]
        assert (self.process.returncode, told) == (0, [])


@pytest.fixture
def pods(request: pytest.FixtureRequest) -> Iterator[Pods]:
    found = Pods(free_port(), getattr(request, "param", 60.0))
    yield found
    found.stop()


class Client:
    """An open websocket that reads only on request. `window` is the size of the kernel's receive
    buffer in bytes.
    """

    def __init__(self, port: int, name: str, *, window: int = 4096) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", port))
        self.stream = self.socket.makefile("rb", buffering=0)
        self.socket.sendall(
            b"GET /ws/live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\nX-Name: %s\r\n\r\n"
            % (b64encode(bytes(16)), name.encode())
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.stream.read(1)
        assert head.startswith(b"HTTP/1.1 101 "), head

    def say(self, text: str) -> None:
        payload = text.encode()
        assert len(payload) < 126
        self.socket.sendall(b"\x81" + bytes([0x80 | len(payload)]) + bytes(4) + payload)

    def read(self, size: int) -> bytes:
        """Read `size` bytes, or fewer at the end of the stream."""
        found = b""
        while len(found) < size and (piece := self.stream.read(size - len(found))):
            found += piece
        return found

    def texts(self) -> Iterator[str]:
        """Yield the text messages from now on."""
        while head := self.read(2):
            size = head[1] & 127
            if size >= 126:
                size = int.from_bytes(self.read(2 if size == 126 else 8), "big")
            payload = self.read(size)
            if head[0] & 15 == 1:
                yield payload.decode()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.socket.close()


def following(pods: Pods, count: int) -> None:
    until(lambda: pods.get("/state")["following"] == count, f"{count} sockets follow")


async def test_buffers_of_slow_clients_are_bounded_and_others_continue(
    pods: Pods,
) -> None:
    subscription = pods.subscription()
    url, headers = f"http://127.0.0.1:{pods.port}/ws/live", {"X-Name": "reader"}
    with ExitStack() as stack:
        stuck = [stack.enter_context(Client(pods.port, f"stuck-{n}")) for n in range(5)]
        for client in stuck:
            client.say(subscription)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, headers=headers, max_msg_size=0) as reader,
        ):
            await reader.send_str(subscription)
            following(pods, 6)
            received = 0
            while received < 4 * MOST:
                restarts = pods.change_all()
                frame = ""
                while f">{restarts}<" not in frame:
                    frame = await reader.receive_str(timeout=20)
                    received += len(frame)
            state = pods.get("/state")
            assert BUFFER < state["waiting"] < MOST
            assert (state["following"], state["refreshes"]) == (1, 0)
        # One of them continues to read: it gets the message in transit, then a single refresh
        # message.
        texts = stuck[0].texts()
        assert next(text for text in texts if text.startswith("{")) == '{"refresh":true}'
        assert pods.get("/state")["refreshes"] == 1
        stuck[0].say(pods.subscription())
        assert 'id="freshness"' in next(texts)
        following(pods, 1)
        restarts = pods.change_all()
        assert any(f">{restarts}<" in text for text in texts)


@pytest.mark.parametrize("pods", [1.0], indirect=True)
def test_client_that_stops_reading_is_disconnected(pods: Pods) -> None:
    with Client(pods.port, "stuck") as stuck:
        stuck.say(pods.subscription())
        following(pods, 1)

        def cut_off() -> bool:
            pods.change_all()
            return bool(pods.get("/state")["sockets"] == 0)

        until(cut_off, "the socket is closed")
        assert pods.get("/state")["slow_closed"] == 1
        with pytest.raises(ConnectionResetError):
            list(stuck.texts())


def test_application_that_keeps_sending_loses_its_slow_client(own_echo: Running) -> None:
    before = own_echo.resident()
    with Client(own_echo.port, "stuck") as stuck:
        stuck.say("pour")
        until(lambda: (own_echo.temp / "poured").exists(), "all was sent")
        assert own_echo.resident() - before < MAX_BUFFER + 6 * MIB
        with pytest.raises(ConnectionResetError):
            list(stuck.texts())


def test_reading_client_receives_everything(echo: Running) -> None:
    with Client(echo.port, "reader", window=MIB) as reader:
        reader.say("pour")
        texts = reader.texts()
        assert sum(len(next(texts)) for _ in range(64)) == 16 * MIB


def test_blocked_websocket_can_be_closed(echo: Running) -> None:
    """Buffered data is sent before the close frame."""
    with Client(echo.port, "slow") as slow:
        slow.say("big")
        slow.say("close 4001")
        for _second in range(2):
            echo.raw(b"GET /slow HTTP/1.0\r\n\r\n")
        assert len(slow.read(10 + 200_000)) == 10 + 200_000
        assert slow.read(4) == b"\x88\x02" + (4001).to_bytes(2, "big")
        slow.socket.shutdown(socket.SHUT_WR)
        assert slow.read(1) == b""
