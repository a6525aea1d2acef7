"""Limits on the time and number of connections and requests. Well-behaved clients are not affected."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from console.web.connections import (
    MAX_CONNECTIONS,
    MAX_PER_ADDRESS,
    MIN_PER_ADDRESS,
    RESERVED_FILES,
    ConnectionSlots,
    Limits,
)
from tests.server.conftest import Running, read_all, served

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n"
SOCKET = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    b"Origin: http://x\r\n\r\n"
)
#: Tests in this file start servers.
pytestmark = pytest.mark.programs
QUICK = {
    "HEAD_SECONDS": 0.4,
    "IDLE_SECONDS": 0.4,
    "BODY_SECONDS": 0.4,
    "RESPONSE_SECONDS": 0.4,
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("quick"), seconds=QUICK) as found:
        yield found


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", POST % 100 + b"\r\nabc"]
)
def test_slow_request_is_aborted(quick: Running, begun: bytes) -> None:
    """Sending single bytes does not extend the time limit."""
    with quick.connect() as connection:
        connection.sendall(begun)
        connection.settimeout(0.1)
        answer, began = b"", time.monotonic()
        while time.monotonic() - began < 8:
            try:
                piece = connection.recv(4096)
            except TimeoutError:
                connection.sendall(b"x" if begun else b"")
                continue
            except ConnectionError:
                break
            if not piece:
                break
            answer += piece
        assert time.monotonic() - began < 5
    assert answer == b"" or answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 "))


def test_idle_keep_alive_connection_is_closed_after_a_timeout(
    quick: Running,
) -> None:
    with quick.connect() as connection:
        for _ in range(2):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.settimeout(5)
        assert read_all(connection).count(b"HTTP/1.1") == 0


def test_response_that_does_not_start_in_time_is_replaced_by_503(quick: Running) -> None:
    answer, _sent = quick.raw(b"GET /never HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 503 ")
    # A response that has started continues.
    answer, _sent = quick.raw(b"GET /slow HTTP/1.0\r\n\r\n")
    assert answer.endswith(b"begun,done")


def test_anonymous_clients_have_a_small_body_limit(echo: Running) -> None:
    for size, status in ((10, b"200"), (60_000, b"200"), (1_000_000, b"413"), (4_000_000, b"413")):
        head = POST % size + b"X-Nobody: 1\r\n\r\n"
        answer, sent = echo.raw(head, (b"x" * 10_000 for _ in range(size // 10_000 or 1)))
        if size == 10:
            answer, sent = echo.raw(head, [b"x" * 10])
        assert answer.startswith(b"HTTP/1.1 " + status), (size, answer)
    answer, sent = echo.raw(POST % 4_000_000 + b"\r\n", (b"x" * 10_000 for _ in range(400)))
    assert answer.startswith(b"HTTP/1.1 200 ") and sent == 4_000_000


def test_idle_connections_of_one_address_do_not_block_others(tmp_path: Path) -> None:
    """There are more of them than the process may have open files."""
    number, files = 700, 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * number)), hard))
    with served(tmp_path, files=files) as server, ExitStack() as stack:
        for _ in range(number):
            try:
                held = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 10))
                held.sendall(b"GET / HTTP/1.1\r\n")
            except OSError:
                continue
        began = time.monotonic()
        for _ in range(3):
            answer, _sent = server.raw(GET)
            assert answer.startswith(b"HTTP/1.1 200 ")
        assert time.monotonic() - began < 5
        held_now = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        assert held_now < files
        # The soft limit was 128; the server raises it as far as possible.
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        assert f"Max open files            {files}" in limits


def test_closed_websocket_releases_its_connection_slot(tmp_path: Path) -> None:
    """A leaked slot would never count as idle, so it could never be reclaimed."""
    with served(tmp_path, files=RESERVED_FILES + MIN_PER_ADDRESS) as server, ExitStack() as stack:
        for _ in range(MIN_PER_ADDRESS):
            with server.connect() as connection:
                connection.sendall(SOCKET)
                assert connection.recv(4096).startswith(b"HTTP/1.1 101 ")
        held = [stack.enter_context(server.connect()) for _ in range(MIN_PER_ADDRESS + 4)]
        held[0].settimeout(5)  # sooner than the timeout of an incomplete request
        assert read_all(held[0]) == b""
        held[-1].sendall(GET)
        assert read_all(held[-1]).startswith(b"HTTP/1.1 200 ")


def test_connection_limits_stay_below_the_open_file_limit() -> None:
    assert Limits.of(1024) == (768, 192)
    assert Limits.of(65_536) == (MAX_CONNECTIONS, MAX_PER_ADDRESS)
    assert Limits.of(RESERVED_FILES) == (MIN_PER_ADDRESS, MIN_PER_ADDRESS)


class Wire:
    def __init__(self, *, idle: bool = True) -> None:
        self.idle, self.aborted = idle, False

    def abortConnection(self) -> None:
        self.aborted = True


def seats(most: int, of_one: int) -> ConnectionSlots:
    return ConnectionSlots(
        Limits(most, of_one),
        lambda wire: wire.idle,  # type: ignore[attr-defined]
        lambda address: address == "proxy",
    )


def test_oldest_idle_connection_of_the_address_is_closed() -> None:
    found = seats(10, 2)
    busy, idle, new, other = Wire(idle=False), Wire(), Wire(), Wire()
    assert found.acquire(busy, "a") and found.acquire(idle, "a") and found.acquire(other, "b")
    assert found.acquire(new, "a")
    assert (busy.aborted, idle.aborted, other.aborted) == (False, True, False)
    new.idle = False
    assert not found.acquire(Wire(), "a")
    found.release(busy)
    assert found.acquire(Wire(), "a")


def test_address_with_the_most_connections_gives_way() -> None:
    """Connections of a proxy come from many users, so they are limited only by the total."""
    found = seats(5, 4)
    many = [Wire() for _ in range(3)]
    assert all(found.acquire(wire, "a") for wire in many)
    assert found.acquire(Wire(), "b") and found.acquire(Wire(), "b")
    assert found.acquire(Wire(), "c")
    assert [wire.aborted for wire in many] == [True, False, False]
    found = seats(9, 2)
    assert all(found.acquire(Wire(idle=False), "proxy") for _ in range(9))
    assert not found.acquire(Wire(), "c")
