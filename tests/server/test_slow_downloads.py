"""Streamed responses to clients that do not read."""

import socket
from contextlib import suppress

import pytest

from tests.server.conftest import Running
from tests.server.waiting import until

MIB = 1024 * 1024

pytestmark = pytest.mark.programs

SIZE = 64 * MIB


def asks(path: str) -> bytes:
    return b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode()


def read_to_end(connection: socket.socket) -> tuple[int, bytes]:
    """Return the number of bytes received and the last of them."""
    size, last = 0, b""
    while piece := connection.recv(MIB):
        size, last = size + len(piece), (last + piece)[-10:]
    return size, last


def sent(echo: Running) -> int:
    answer, _ = echo.raw(asks("/sent"))
    # In one chunk, preceded by its size.
    return int(answer.split(b"\r\n")[-4])


def test_response_is_generated_only_as_fast_as_it_is_read(own_echo: Running) -> None:
    before = own_echo.resident()
    with own_echo.connect() as stuck:
        stuck.sendall(asks("/long"))
        until(lambda: 0 < sent(own_echo) == sent(own_echo), "it waits")
        # The kernel buffers some megabytes.
        assert sent(own_echo) < SIZE / 4
        assert own_echo.resident() - before < 4 * MIB
        size, last = read_to_end(stuck)
    assert last.endswith(b"\r\n0\r\n\r\n") and size > SIZE
    assert sent(own_echo) == SIZE


def test_disconnected_client_stops_its_response(echo: Running) -> None:
    with echo.connect() as gone:
        gone.sendall(asks("/long"))
        until(lambda: 0 < sent(echo) == sent(echo), "it waits")
    before = sent(echo)
    with echo.connect() as reader:
        reader.sendall(asks("/long"))
        assert read_to_end(reader)[0] > SIZE
    assert sent(echo) - before < SIZE + 4 * MIB


def test_aborted_response_is_not_terminated_as_complete(echo: Running) -> None:
    with echo.connect() as client:
        client.sendall(asks("/broken"))
        with suppress(ConnectionResetError):
            assert not read_to_end(client)[1].endswith(b"\r\n0\r\n\r\n")
