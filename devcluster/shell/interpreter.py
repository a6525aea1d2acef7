"""Interpreter of shell scripts."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from devcluster.shell.expansion import Expansion
from devcluster.shell.files import Files, absolute
from devcluster.shell.parsing import ShellSyntaxError, parse
from devcluster.shell.pipes import (
    LIMIT,
    BufferWriter,
    BytesReader,
    LimitExceeded,
    LineReader,
    NullDevice,
    Pipe,
    Writer,
)
from devcluster.shell.processes import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    PATH,
    Process,
    ProgramError,
    Streams,
    open_reader,
    open_writer,
)
from devcluster.shell.syntax import (
    Chain,
    Command,
    For,
    Group,
    If,
    Loop,
    Pipeline,
    Redirection,
    Script,
    SimpleCommand,
)

#: Exit code for syntax errors.
SYNTAX = 2
_JOBS = 20
# Pause after this many commands, so that a script in a loop does not block the event loop.
_BURST, _PAUSE = 100, 0.01


class Exit(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class LoopControl(Exception):
    """`break`, or `continue` if `again` is set."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__(levels)
        self.levels, self.again = levels, again


class Invocation(NamedTuple):
    """A call of a builtin."""

    shell: "Shell"
    arguments: list[str]
    streams: Streams

    async def out(self, text: str) -> None:
        await self.streams.stdout.write(text.encode(errors="surrogateescape"))


Builtin = Callable[[Invocation], Awaitable[int]]


class Shell:
    """State of a shell. `arguments` are `$0`, `$1` and so on."""

    def __init__(
        self, process: Process, arguments: Sequence[str], builtins: Mapping[str, Builtin]
    ) -> None:
        self.process, self.builtins = process, builtins
        self.name, *self.positional = arguments
        self.folder = process.folder
        self.variables = dict(process.environment)
        self.exported = set(self.variables)
        self.options: set[str] = set()
        self.history: list[str] = []
        self.jobs: dict[int, asyncio.Task[int]] = {}
        self.status = self.last_job = 0
        self.streams = process.streams
        self._tested = self._commands = 0
        self._substituted = False

    # For expansions -----------------------------------------------------------------------------

    @property
    def files(self) -> Files:
        return self.process.files

    def value(self, name: str) -> str | None:
        """Return the value of a variable or special parameter, or None if it is not set."""
        special = {
            "?": str(self.status),
            "$": str(self.process.pid),
            "!": str(self.last_job or ""),
            "#": str(len(self.positional)),
            "-": "".join(sorted(self.options)),
            "0": self.name,
            "@": " ".join(self.positional),
            "*": " ".join(self.positional),
            "PWD": self.folder,
        }
        if name.isdecimal() and name != "0":
            place = int(name[:6]) - 1
            return self.positional[place] if place < len(self.positional) else None
        return special[name] if name in special else self.variables.get(name)

    def assign(self, name: str, value: str) -> None:
        held = sum(map(len, self.variables.values())) if len(value) > 1024 else len(self.variables)
        if held + len(value) > LIMIT or len(self.variables) > _BURST * _BURST:
            raise LimitExceeded
        self.variables[name] = value

    async def output_of(self, body: Script) -> str:
        captured = BufferWriter()
        inner = self.fork()
        inner.streams = replace(self.streams, stdout=captured)
        self.status = await inner.run(body)
        self._substituted = True
        return captured.data.decode(errors="surrogateescape")

    # Running ------------------------------------------------------------------------------------

    def fork(self) -> "Shell":
        """Return a copy of the shell whose changes don't affect this one."""
        process = self.process.child(self.process.arguments, pid=self.process.pid)
        made = Shell(process, (self.name, *self.positional), self.builtins)
        made.variables, made.exported = dict(self.variables), set(self.exported)
        made.folder, made.options = self.folder, set(self.options)
        made.status, made.last_job, made.streams = self.status, self.last_job, self.streams
        return made

    async def run(self, script: Script) -> int:
        """Run a script until its end or `exit`. Return the exit code."""
        try:
            return await self.script(script)
        except Exit as found:
            return found.code
        except LoopControl:
            return self.status

    async def run_text(self, text: str) -> int:
        try:
            return await self.run(parse(text))
        except ShellSyntaxError as problem:
            await self.report_error(str(problem))
            return SYNTAX

    async def script_of(self, text: str) -> int:
        """Parse and run text in the current shell. An `exit` in the text exits the shell."""
        try:
            script = parse(text)
        except ShellSyntaxError as problem:
            raise ProgramError(str(problem), SYNTAX) from problem
        return await self.script(script)

    async def script(self, script: Script) -> int:
        for chain in script.chains:
            if chain.background:
                await self._start_job(chain)
            else:
                self.status = await self._chain(chain)
        return self.status

    async def _chain(self, chain: Chain) -> int:
        last = len(chain.pipelines) - 1
        for index, (operator, pipeline) in enumerate(chain.pipelines):
            if operator and (self.status == 0) != (operator == "&&"):
                continue
            tested = index < last or pipeline.negated
            self._tested += tested
            try:
                self.status = await self._pipeline(pipeline)
            finally:
                self._tested -= tested
            if self.status and "e" in self.options and not tested and not self._tested:
                raise Exit(self.status)
        return self.status

    async def _start_job(self, chain: Chain) -> None:
        self.jobs = {pid: task for pid, task in self.jobs.items() if not task.done()}
        if len(self.jobs) >= _JOBS:
            raise ProgramError("fork: Resource temporarily unavailable")

        async def job(process: Process) -> int:
            inner = self.fork()
            inner.process = process
            inner.streams = Streams(
                LineReader(NullDevice()), self.streams.stdout, self.streams.stderr
            )
            return await inner.run(Script((Chain(chain.pipelines, False, chain.text),)))

        process = self.process.child((self.process.arguments[0], "-c", chain.text))
        task = asyncio.create_task(self.process.container.run(job, process))
        # The process gets its PID when the task starts.
        await asyncio.sleep(0)
        self.last_job = process.pid
        self.jobs[process.pid] = task
        if self.process.terminal and "i" in self.options:
            await self.write_error(f"[{len(self.jobs)}] {process.pid}\n")

    async def _pipeline(self, pipeline: Pipeline) -> int:
        if len(pipeline.commands) == 1:
            status = await self._command(pipeline.commands[0], self.streams)
        else:
            status = await self._connected(pipeline.commands)
        return int(status == 0) if pipeline.negated else status

    async def _connected(self, commands: Sequence[Command]) -> int:
        tasks: list[asyncio.Task[int]] = []
        before: Pipe | None = None
        for index, command in enumerate(commands):
            after = Pipe() if index < len(commands) - 1 else None
            streams = Streams(
                LineReader(before) if before else self.streams.stdin,
                after or self.streams.stdout,
                self.streams.stderr,
            )
            inner = self.fork()
            inner.streams = streams
            tasks.append(asyncio.create_task(inner._between(command, streams, before, after)))
            before = after
        try:
            return (await asyncio.gather(*tasks))[-1]
        finally:
            for task in tasks:
                task.cancel()

    async def _between(
        self, command: Command, streams: Streams, before: Pipe | None, after: Pipe | None
    ) -> int:
        """Run one command of a pipeline and close its pipes at the end."""
        try:
            return await self._command(command, streams)
        except Exit as found:
            return found.code
        except LoopControl:
            return 0
        except BrokenPipeError:
            return 128 + signal.SIGPIPE
        except (LimitExceeded, RecursionError):
            await self.report_error("out of memory")
            return 1
        finally:
            if before:
                before.close_reader()
            if after:
                after.close_writer()

    async def _command(self, command: Command, streams: Streams) -> int:
        self._commands += 1
        await asyncio.sleep(0 if self._commands % _BURST else _PAUSE)
        try:
            streams = await self._redirected(command.redirections, streams)
            if isinstance(command.what, SimpleCommand):
                return await self._simple(command.what, streams)
        except ProgramError as problem:
            await self.report_error(str(problem))
            return problem.code
        except BrokenPipeError:
            raise
        except OSError as error:
            await self.report_error(f"{error.filename}: {error.strerror}")
            return 1
        held, self.streams = self.streams, streams
        try:
            return await self._compound(command.what)
        finally:
            self.streams = held

    async def _compound(self, what: Group | If | Loop | For) -> int:
        match what:
            case Group(body, apart):
                return await self.fork().run(body) if apart else await self.script(body)
            case If(clauses, otherwise):
                for condition, body in clauses:
                    if await self._holds(condition):
                        return await self.script(body)
                return await self.script(otherwise) if otherwise else 0
            case Loop(condition, body, until):
                status = 0
                while await self._holds(condition) != until:
                    if (result := await self._turn(body)) is None:
                        break
                    status = result
                return status
            case For(name, words, body):
                values = self.positional
                if words is not None:
                    values = await Expansion(self).arguments(words)
                status = 0
                for value in list(values):
                    self.assign(name, value)
                    if (result := await self._turn(body)) is None:
                        break
                    status = result
                return status

    async def _holds(self, condition: Script) -> bool:
        self._tested += 1
        try:
            return await self.script(condition) == 0
        finally:
            self._tested -= 1

    async def _turn(self, body: Script) -> int | None:
        """Run one iteration of a loop. Return None after `break`."""
        try:
            return await self.script(body)
        except LoopControl as jump:
            if jump.levels > 1:
                raise LoopControl(jump.levels - 1, again=jump.again) from None
            return 0 if jump.again else None

    async def _simple(self, what: SimpleCommand, streams: Streams) -> int:
        self._substituted = False
        arguments = await Expansion(self).arguments(what.words)
        values = [(name, await Expansion(self).text(word)) for name, word in what.assignments]
        if "x" in self.options and arguments:
            await streams.stderr.write(f"+ {' '.join(arguments)}\n".encode())
        if not arguments:
            for name, value in values:
                self.assign(name, value)
            return self.status if self._substituted else 0
        builtin = self.builtins.get(arguments[0])
        if builtin is None:
            return await self.execute(arguments, streams, dict(values))
        for name, value in values:
            self.assign(name, value)
        return await builtin(Invocation(self, arguments[1:], streams))

    async def execute(
        self, arguments: Sequence[str], streams: Streams, extra: Mapping[str, str]
    ) -> int:
        """Run a program with additional environment variables."""
        container, name = self.process.container, arguments[0]
        path = extra.get("PATH", self.variables.get("PATH", PATH))
        try:
            place, program = container.find_program(name, path, self.folder)
        except PermissionError as error:
            await self.report_error(f"{name}: {error.strerror}")
            return NOT_EXECUTABLE
        except FileNotFoundError:
            bash = self.process.name == "bash"
            await self.report_error(f"{name}: {'command ' if bash else ''}not found")
            return NOT_FOUND
        environment = {key: self.variables[key] for key in self.exported if key in self.variables}
        environment |= {"PWD": self.folder, "_": place, **extra}
        child = self.process.child(
            arguments, streams=streams, environment=environment, folder=self.folder
        )
        return await container.run(program, child)

    async def _redirected(self, redirections: Sequence[Redirection], streams: Streams) -> Streams:
        terminal = self.process.terminal
        outputs: dict[int, Writer] = {1: streams.stdout, 2: streams.stderr}
        stdin = streams.stdin
        for one in redirections:
            target = await Expansion(self).text(one.target)
            if one.operator == "<":
                path = absolute(self.folder, target)
                stdin = LineReader(open_reader(self.files, path, terminal))
            elif one.operator == "<<<":
                stdin = LineReader(BytesReader(f"{target}\n".encode(errors="surrogateescape")))
            elif one.operator in (">&", "<&"):
                if target not in ("0", "1", "2", "-"):
                    raise ProgramError(f"{target}: Bad file descriptor")
                if one.number in outputs:
                    known = {"1": outputs[1], "2": outputs[2]}
                    outputs[one.number] = known.get(target, NullDevice())
            else:
                append = one.operator == ">>"
                path = absolute(self.folder, target)
                writer = open_writer(self.files, path, terminal, append=append)
                for number in (1, 2) if one.number == 12 else (one.number,):
                    outputs[number] = writer
        return Streams(stdin, outputs[1], outputs[2])

    async def write_error(self, text: str) -> None:
        await self.streams.stderr.write(text.encode(errors="surrogateescape"))

    async def report_error(self, text: str) -> None:
        await self.write_error(f"{self.name}: {text}\n")
