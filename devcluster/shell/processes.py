"""Running containers and their processes. Each process is a coroutine."""

import asyncio
import errno
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from devcluster.shell.files import Binary, Device, Files, Folder, absolute, failure
from devcluster.shell.pipes import (
    RANDOM,
    BytesReader,
    EndlessReader,
    FileWriter,
    LimitExceeded,
    LineReader,
    NullDevice,
    Reader,
    Writer,
)
from devcluster.shell.terminal import Terminal

#: Maximum number of processes per container, and maximum depth of nested processes.
_MOST, _DEEPEST = 100, 25
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class ProgramError(Exception):
    """An error of a program. The message is written to stderr and `code` is the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class User:
    name: str = "root"
    uid: int = 0
    gid: int = 0
    home: str = "/root"


@dataclass(frozen=True, slots=True)
class Streams:
    """Standard streams of a process."""

    stdin: LineReader
    stdout: Writer
    stderr: Writer


@dataclass(slots=True)
class Process:
    """A process of a container."""

    container: "Container"
    arguments: tuple[str, ...]
    streams: Streams
    environment: dict[str, str]
    folder: str
    terminal: Terminal | None = None
    pid: int = 0
    depth: int = 0
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    signal: int = 0
    #: Root of the process tree, or None for the root itself.
    leader: "Process | None" = None
    task: "asyncio.Task[int] | None" = None

    @property
    def name(self) -> str:
        return self.arguments[0].rpartition("/")[2]

    @property
    def files(self) -> Files:
        return self.container.files

    def child(self, arguments: Sequence[str], **changes: object) -> "Process":
        """Return a copy with other arguments, one level deeper, that is not started yet."""
        made = replace(self, arguments=tuple(arguments), depth=self.depth + 1, task=None, signal=0)
        made.leader = self.leader or self
        made.started = datetime.now(UTC)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    async def write_output(self, text: str) -> None:
        await self.streams.stdout.write(text.encode(errors="surrogateescape"))

    async def report_error(self, text: str) -> None:
        line = f"{self.name}: {text}\n"
        await self.streams.stderr.write(line.encode(errors="surrogateescape"))

    def path(self, path: str) -> str:
        return absolute(self.folder, path)

    def reader(self, path: str) -> LineReader:
        """Return a reader of the file, or of standard input for `-`."""
        if path == "-":
            return self.streams.stdin
        return LineReader(open_reader(self.files, self.path(path), self.terminal))

    def kill(self, number: int) -> None:
        if self.task:
            self.signal = number
            self.task.cancel()


Program = Callable[[Process], Awaitable[int]]


def open_reader(files: Files, path: str, terminal: Terminal | None) -> Reader:
    found = files.node(path)
    if isinstance(found, Device):
        readers = {"zero": EndlessReader(), "random": RANDOM, "tty": terminal}
        return readers.get(found.name) or NullDevice()
    return BytesReader(files.read(path))


def open_writer(files: Files, path: str, terminal: Terminal | None, *, append: bool) -> Writer:
    found = files.find(path)
    if isinstance(found, Device):
        return terminal if found.name == "tty" and terminal else NullDevice()
    return FileWriter(files, path, append=append)


class Container:
    """A running container. `main` contains the arguments of its first process."""

    def __init__(
        self,
        programs: Mapping[str, Program],
        files: Files,
        environment: Mapping[str, str],
        *,
        hostname: str,
        main: Sequence[str],
        started: datetime,
        user: User | None = None,
        folder: str = "/",
    ) -> None:
        self.programs, self.files, self.environment = programs, files, dict(environment)
        self.hostname, self.user, self.folder = hostname, user or User(), folder
        self.main = tuple(main)
        #: Root folder of the target container, if this container shares its process namespace.
        self.target_root: Folder | None = None
        nobody = Streams(LineReader(NullDevice()), NullDevice(), NullDevice())
        first = Process(self, self.main, nobody, self.environment, folder, pid=1)
        first.started = started
        self.processes = {1: first}
        self._last = 1

    def hang_up(self, leader: Process) -> None:
        """Send SIGHUP to all processes that the process started."""
        for process in list(self.processes.values()):
            if process.leader is leader:
                process.kill(signal.SIGHUP)

    def find_program(self, name: str, path: str, folder: str = "/") -> tuple[str, Program]:
        """Return the path and the program. Raise FileNotFoundError or PermissionError."""
        places = [name] if "/" in name else [f"{place}/{name}" for place in path.split(":")]
        for place in (absolute(folder, p) for p in places):
            found = self.files.find(place)
            if isinstance(found, Binary) and found.name in self.programs:
                return place, self.programs[found.name]
            if "/" in name and found is not None:
                number = errno.EISDIR if isinstance(found, Folder) else errno.EACCES
                raise PermissionError(number, os.strerror(number), name)
        raise failure(errno.ENOENT, name)

    async def run(self, program: Program, process: Process) -> int:
        """Run the program. Return its exit code, or 128 plus the signal number if it was killed."""
        if len(self.processes) >= _MOST or process.depth > _DEEPEST:
            await process.report_error("fork: Resource temporarily unavailable")
            return 1
        self._last = max(self._last, *self.processes) + 1
        process.pid = self._last
        self.processes[process.pid] = process
        task = asyncio.create_task(_guarded(program, process))
        process.task = task
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            del self.processes[process.pid]
        if task.cancelled():
            return 128 + (process.signal or signal.SIGKILL)
        return task.result()


async def _guarded(program: Program, process: Process) -> int:
    try:
        return await _with_error_messages(program, process)
    except BrokenPipeError:
        return 128 + signal.SIGPIPE


async def _with_error_messages(program: Program, process: Process) -> int:
    try:
        return await program(process)
    except BrokenPipeError:
        raise
    except ProgramError as problem:
        await process.report_error(str(problem))
        return problem.code
    except (LimitExceeded, RecursionError):
        await process.report_error("out of memory")
        return 1
    except OSError as error:
        await process.report_error(f"{error.filename}: {error.strerror}")
        return 1
    except (ValueError, OverflowError) as error:
        await process.report_error(str(error))
        return 1
