"""Helpers that run shell scripts and interactive shells in a simulated container."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

from devcluster.shell.files import Binary, Device, File, Files, Folder, Volume
from devcluster.shell.pipes import BufferWriter, BytesReader, LineReader
from devcluster.shell.processes import PATH, Container, Process, Streams
from devcluster.shell.shells import PROGRAMS
from devcluster.shell.terminal import Terminal

_SECONDS = 20.0


def sample_container() -> Container:
    """Return a container with all programs. `/etc/settings` is a read-only volume."""
    files = Files()
    for name in PROGRAMS:
        files.put(f"/bin/{name}", Binary(name))
    for name in ("tmp", "root"):
        files.put(f"/{name}", Folder())
    for name in ("null", "zero", "tty"):
        files.put(f"/dev/{name}", Device(name))
    files.put("/etc/hosts", File(b"127.0.0.1\tlocalhost\n10.0.0.7\tweb-1\n"))
    files.put("/etc/settings", Volume(read=lambda: {"tier": b"prod\n", "more/region": b"eu\n"}))
    environment = {"PATH": PATH, "HOME": "/root", "A": "x y"}
    return Container(
        PROGRAMS,
        files,
        environment,
        hostname="web-1",
        main=["/app", "--serve"],
        started=datetime.now(UTC),
    )


async def run(container: Container, script: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run `sh -c` and return the exit code, stdout and stderr."""
    return await run_words(container, "sh", "-c", script, stdin=stdin)


async def run_words(container: Container, *words: str, stdin: bytes = b"") -> tuple[int, str, str]:
    out, err = BufferWriter(), BufferWriter()
    streams = Streams(LineReader(BytesReader(stdin)), out, err)
    process = Process(container, words, streams, dict(container.environment), "/")
    async with asyncio.timeout(_SECONDS):
        code = await container.run(PROGRAMS[words[0]], process)
    return code, out.data.decode(errors="replace"), err.data.decode(errors="replace")


@dataclass
class Screen:
    """A user at a terminal. `keys` types text; `shows` waits for text on the screen."""

    container: Container
    text: str = ""
    terminal: Terminal = field(init=False)
    _grown: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[int] | None" = None

    def __post_init__(self) -> None:
        self.terminal = Terminal(self._draw)

    async def _draw(self, data: bytes) -> None:
        self.text += data.decode()
        self._grown.set()

    def start(self, *words: str) -> None:
        terminal = self.terminal
        streams = Streams(LineReader(terminal), terminal, terminal)
        environment = dict(self.container.environment)
        process = Process(self.container, words, streams, environment, "/", terminal)
        terminal.on_signal = process.kill
        self._task = asyncio.create_task(self.container.run(PROGRAMS[words[0]], process))

    async def keys(self, text: str) -> None:
        await self.terminal.process_input(text.encode())

    async def shows(self, text: str) -> str:
        """Wait for the text. Return the screen content up to and including it; later content is
        kept.
        """
        async with asyncio.timeout(_SECONDS):
            while text not in self.text:
                self._grown.clear()
                await self._grown.wait()
        end = self.text.index(text) + len(text)
        found, self.text = self.text[:end], self.text[end:]
        return found

    async def ends(self) -> int:
        assert self._task is not None
        async with asyncio.timeout(_SECONDS):
            return await self._task
