import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


def start(
    port: int,
    temp: Path,
    *,
    deaf: bool = False,
    files: int = 0,
    seconds: Mapping[str, float] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start the server.

    With `deaf`, SIGINT is ignored from the start, as for a background job of a shell. `files`
    limits the number of open files. `seconds` overrides `tests.server.echo.SECONDS`.
    """

    def prepare() -> None:
        if deaf:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 128), files))

    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.server.echo", str(port)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            "PATH": "/usr/bin",
            "TMPDIR": str(temp),
            **{name: str(value) for name, value in (seconds or {}).items()},
        },
        preexec_fn=prepare if deaf or files else None,  # noqa: PLW1509
    )


@dataclass
class Running:
    port: int
    process: "subprocess.Popen[bytes]"
    temp: Path

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(10)
        return connection

    def raw(self, head: bytes, body: Iterable[bytes] = ()) -> tuple[bytes, int]:
        """Send until the server stops reading. Return the response and the number of body bytes
        sent.
        """
        sent = 0
        with self.connect() as connection:
            connection.sendall(head)
            try:
                for piece in body:
                    connection.sendall(piece)
                    sent += len(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(connection), sent

    def resident(self) -> int:
        """Return the resident memory in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionResetError:
        pass
    return answer


@contextmanager
def served(
    temp: Path, *, files: int = 0, seconds: Mapping[str, float] | None = None
) -> Iterator[Running]:
    port = free_port()
    process = start(port, temp, files=files, seconds=seconds)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n", process.communicate(timeout=20)
        yield Running(port, process, temp)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server shared by the tests of a file, which must leave it running."""
    with served(tmp_path_factory.mktemp("echo")) as found:
        yield found


@pytest.fixture
def own_echo(tmp_path: Path) -> Iterator[Running]:
    """A server for a test that stops it or measures its memory or open files."""
    with served(tmp_path) as found:
        yield found
