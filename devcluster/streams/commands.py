"""Command execution in containers and its websocket protocol.

The first byte of a message is its channel: 0 is stdin, 1 stdout, 2 stderr, 3 the final Status, 4
the terminal size. In version 5 of the protocol, channel 255 closes a channel.
"""

import asyncio
import hashlib
import signal
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from aiohttp import web

from devcluster.objects import Obj, encode, meta
from devcluster.shell.pipes import CallbackWriter, LineReader, NullDevice, Pipe, Writer
from devcluster.shell.processes import PATH, Container, Process, Streams
from devcluster.shell.terminal import Terminal
from devcluster.store import Change, Collection
from devcluster.streams.targets import KubeletError, TargetContainer, running_container
from devcluster.streams.websockets import next_message

V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
#: Maximum duration of a connection. It equals the idle timeout of kubelets.
LONGEST_SECONDS = 4 * 3600.0
_WIDEST = 0xFFFF
KILLED = 128 + signal.SIGKILL
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The streams requested by the client."""

    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool

    @classmethod
    def from_request(cls, request: web.Request) -> "StreamOptions":
        """Parse the query parameters. Raise a 400 error if no stream is requested."""

        def asked(name: str) -> bool:
            return name in request.query and request.query[name].lower() not in ("false", "0")

        tty = asked("tty")
        found = cls(asked("stdin"), asked("stdout"), asked("stderr") and not tty, tty)
        if not (found.stdin or found.stdout or found.stderr):
            raise KubeletError(400, "you must specify at least 1 of stdin, stdout, stderr")
        return found


class CommandConnection:
    """Client connection of a command."""

    def __init__(
        self, websocket: web.WebSocketResponse, protocol: str, wanted: StreamOptions
    ) -> None:
        self._websocket, self._closes, self._wanted = websocket, protocol == V5, wanted
        self._stdin = Pipe()
        self.terminal = Terminal(self._output) if wanted.tty else None
        self.stdin_ended = asyncio.Event()

    def streams(self) -> Streams:
        if self.terminal:
            return Streams(LineReader(self.terminal), self.terminal, self.terminal)

        def output(channel: int, there: bool) -> Writer:
            return CallbackWriter(lambda data: self._send(channel, data)) if there else NullDevice()

        stdin = LineReader(self._stdin if self._wanted.stdin else NullDevice())
        stdout = output(STDOUT, self._wanted.stdout)
        return Streams(stdin, stdout, output(STDERR, self._wanted.stderr))

    async def send_open(self) -> None:
        """Send an empty message on the first output channel to report that the connection is open."""
        wanted = self._wanted
        await self._send(STDOUT if wanted.stdout else STDERR if wanted.stderr else STATUS, b"")

    async def receive(self) -> None:
        """Process messages of the client until it disconnects."""
        while (message := await next_message(self._websocket)) is not None:
            channel, data = message[:1], message[1:]
            if channel == bytes([STDIN]) and self._wanted.stdin:
                await self._type(data)
            elif channel == bytes([RESIZE]) and self.terminal:
                self._resize(self.terminal, data)
            elif message == bytes([CLOSE, STDIN]) and self._closes:
                self._stdin.close_writer()
                self.stdin_ended.set()
        self._stdin.close_writer()

    async def finish(self, status: Obj) -> None:
        await self._send(STATUS, encode(status))
        await self._websocket.close()

    async def _type(self, data: bytes) -> None:
        if self.terminal:
            await self.terminal.process_input(data)
        elif data:
            await self._stdin.write(data)

    @staticmethod
    def _resize(terminal: Terminal, data: bytes) -> None:
        try:
            size = msgspec.json.decode(data, type=dict[str, int])
        except msgspec.MsgspecError:
            return
        columns, rows = size.get("Width", 0), size.get("Height", 0)
        if 0 < columns <= _WIDEST and 0 < rows <= _WIDEST:
            terminal.resize(columns, rows)

    async def _output(self, data: bytes) -> None:
        if self._wanted.stdout:
            await self._send(STDOUT, data)

    async def _send(self, channel: int, data: bytes) -> None:
        try:
            await self._websocket.send_bytes(bytes([channel]) + data)
        except ConnectionError as error:
            raise BrokenPipeError from error


def success() -> Obj:
    return {"metadata": {}, "status": "Success"}


def exit_status(code: int, command: Sequence[str], protocol: str) -> Obj:
    if code == 0:
        return success()
    said = f"error executing command [{' '.join(command)}], exit code {code}"
    if protocol == V5:
        said = f"command terminated with exit code {code}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: {said}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def start_failure_status(target: TargetContainer, command: str, error: OSError) -> Obj:
    """Return the Status of a container runtime for a program that cannot be started."""
    found = "/" in command or not isinstance(error, FileNotFoundError)
    why = "executable file not found in $PATH"
    if found:
        about = "stat" if isinstance(error, FileNotFoundError) else "fork/exec"
        why = f"{about} {command}: {(error.strerror or '').lower()}"
    number = hashlib.sha256(f"{target.id}/{command}".encode()).hexdigest()
    text = (
        "error executing command in container: failed to exec in container: failed to start exec "
        f'"{number}": OCI runtime exec failed: exec failed: unable to start container process: '
        f'exec: "{command}": {why}: unknown'
    )
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {text}",
        "reason": "InternalError",
        "details": {"causes": [{"message": text}]},
        "code": 500,
    }


async def run_command(
    connection: CommandConnection,
    container: Container,
    target: TargetContainer,
    command: Sequence[str],
) -> int | Obj:
    """Return the exit code, or a Status if the command could not be started."""
    name = command[0] if command else ""
    try:
        path = container.environment.get("PATH", PATH)
        _, program = container.find_program(name, path, container.folder)
    except OSError as error:
        return start_failure_status(target, name, error)
    environment, terminal = dict(container.environment), connection.terminal
    if terminal:
        environment["TERM"] = "xterm"
    process = Process(
        container, tuple(command), connection.streams(), environment, container.folder, terminal
    )
    if terminal:
        terminal.on_signal = process.kill
    try:
        return await container.run(program, process)
    finally:
        container.hang_up(process)


@contextmanager
def container_stop_event(pods: Collection, target: TargetContainer) -> Iterator[asyncio.Event]:
    """Yield an event that is set when the container stops or its pod is deleted."""
    stopped = asyncio.Event()

    def changed(change: Change) -> None:
        if change.new.key != target.key:
            return
        pod = change.new.load()
        now = running_container(pod, target.name)
        same = meta(pod).get("uid") == meta(target.pod)["uid"]
        if change.kind == "DELETED" or not same or not now or now.id != target.id:
            stopped.set()

    pods.listeners.add(changed)
    try:
        yield stopped
    finally:
        pods.listeners.discard(changed)


async def wait_for_result(
    work: Coroutine[None, None, T], stopped: asyncio.Event, connection: CommandConnection
) -> T | int | None:
    """Return the result of the coroutine, `KILLED` if the container stops first, or None if the
    client disconnects first.
    """
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stopped.wait())
    receiving = asyncio.create_task(connection.receive())
    tasks = {working, stopping, receiving}
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks - {working} if working.done() else tasks:
            task.cancel()
    if working.done():
        return working.result()
    return KILLED if stopping.done() else None
