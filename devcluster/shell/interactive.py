"""Interactive shell that reads commands from a terminal or from standard input."""

import asyncio
import signal

from devcluster.shell.interpreter import SYNTAX, Exit, LoopControl, Shell
from devcluster.shell.parsing import IncompleteScript, ShellSyntaxError, parse
from devcluster.shell.pipes import LimitExceeded
from devcluster.shell.terminal import LineInterrupted, Terminal

#: Maximum number of commands in the history, and maximum length of a multi-line command.
_HISTORY, _LONGEST = 200, 64 * 1024


async def run_interactive(shell: Shell) -> int:
    """Read and run commands until `exit` or the end of the input. Return the exit code."""
    terminal = shell.process.terminal
    if terminal is None or shell.streams.stdin.source is not terminal:
        return await _follow(shell)
    return await _InteractiveShell(shell, terminal).run()


async def _follow(shell: Shell) -> int:
    """Run commands from standard input as soon as each command is complete."""
    text = ""
    try:
        line = b"\n"
        while line:
            line = await shell.streams.stdin.line()
            text += line.decode(errors="surrogateescape")
            # A long line is read in several pieces.
            if line and (not line.endswith(b"\n") or _goes_on(text)):
                continue
            script, text = parse(text), ""
            shell.status = await shell.script(script)
    except ShellSyntaxError as problem:
        await shell.report_error(str(problem))
        return SYNTAX
    except Exit as found:
        return found.code
    except LoopControl:
        pass
    return shell.status


class _InteractiveShell:
    """Read-eval loop with a prompt. Ctrl+C interrupts the running command or discards the input."""

    def __init__(self, shell: Shell, terminal: Terminal) -> None:
        self._shell, self._terminal = shell, terminal
        self._running: asyncio.Task[bool] | None = None

    async def run(self) -> int:
        shell, held = self._shell, self._terminal.on_signal
        shell.options.add("i")
        self._terminal.on_signal = self._on_signal
        try:
            while True:
                try:
                    text = await self._ask()
                except LineInterrupted:
                    shell.status = 128 + signal.SIGINT
                    await shell.write_error("\n")
                    continue
                if text is None:
                    await shell.write_error("exit\n" if shell.process.name == "bash" else "\n")
                    return shell.status
                if await self._answer(text):
                    return shell.status
        finally:
            self._terminal.on_signal = held
            for job in shell.jobs.values():
                job.cancel()

    def _on_signal(self, number: int) -> None:
        if self._running:
            self._running.cancel()
        elif number == signal.SIGINT:
            self._terminal.interrupt()

    async def _ask(self) -> str | None:
        """Read a complete command, possibly over several lines. Return None at the end of the
        input.
        """
        shell, terminal = self._shell, self._terminal
        text, prompt = "", self._prompt()
        while (line := await terminal.read_line(prompt, shell.history)) is not None:
            text += line
            if _goes_on(text):
                text, prompt = f"{text}\n", "> "
                continue
            if text.strip() and text not in shell.history[-1:]:
                shell.history = [*shell.history[1 - _HISTORY :], text]
            return text
        return text or None

    async def _answer(self, text: str) -> bool:
        """Run a command. Return True if the shell exits."""
        # The terminal may have been resized while the shell waited for input.
        if self._terminal.columns:
            size = {"COLUMNS": self._terminal.columns, "LINES": self._terminal.rows}
            self._shell.variables |= {name: str(value) for name, value in size.items()}
        self._running = asyncio.create_task(self._typed(text))
        try:
            await asyncio.wait({self._running})
            if not self._running.cancelled():
                return self._running.result()
        finally:
            self._running.cancel()
            self._running = None
        self._shell.status = 128 + signal.SIGINT
        await self._shell.write_error("\n")
        return False

    async def _typed(self, text: str) -> bool:
        shell = self._shell
        try:
            shell.status = await shell.script(parse(text))
        except ShellSyntaxError as problem:
            await shell.report_error(str(problem))
            shell.status = SYNTAX
        except (LimitExceeded, RecursionError):
            await shell.report_error("out of memory")
            shell.status = 1
        except Exit as found:
            shell.status = found.code
            return True
        except (LoopControl, BrokenPipeError):
            pass
        return False

    def _prompt(self) -> str:
        shell = self._shell
        user, own = shell.process.container.user, shell.variables.get("PS1", "")
        sign = "#" if user.uid == 0 else "$"
        if own and "\\" not in own:
            return own
        home, folder = shell.variables.get("HOME", ""), shell.folder
        if home not in ("", "/") and f"{folder}/".startswith(f"{home}/"):
            folder = f"~{folder[len(home) :]}"
        if shell.process.name == "bash":
            return f"{user.name}@{shell.process.container.hostname}:{folder}{sign} "
        return f"{folder} {sign} "


def _goes_on(text: str) -> bool:
    """Return True if the text is an incomplete command."""
    try:
        parse(text[: _LONGEST + 1])
    except IncompleteScript:
        return len(text) <= _LONGEST
    except ShellSyntaxError:
        return False
    return False
