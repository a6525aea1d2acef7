"""Run programs in a container without a shell, and read their output in pieces."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from django.utils.translation import gettext as _

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import AuditEntry
from console.kube.gvr import PODS, Key
from console.streams.stream import SingleWaiterEvent, StreamEnded, StreamRequest
from console.terminals.command import CommandResult, ExecSession
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import EXEC
from console.ui.core.permissions import Refused
from console.ui.core.requests import UserSession
from console.ui.core.text import escape_invisible

#: Seconds for a program that only reports.
REPORT_SECONDS = 15.0
#: Seconds for which the output of a program that is no longer needed is discarded.
DRAIN_SECONDS = 10.0
#: Maximum bytes of error messages that are kept, and characters that are shown.
_MAX_ERRORS, _MAX_SHOWN = 4096, 300


class FileError(Refused):
    """A file operation that the container refused. The message gives the reason."""

    page_code: ClassVar[int] = 409


class MissingProgram(FileError):
    """The container doesn't have the program."""

    def __init__(self, program: str) -> None:
        super().__init__(_("This container has no %(program)s.") % {"program": program})


@dataclass(frozen=True, slots=True)
class ContainerPlace:
    """A container, and the user who works with its files. `recorded`: the audit event."""

    cluster: Cluster
    account: str
    presence: UserSession
    recorded: Recorded
    key: Key
    container: str

    def order(self, command: Sequence[str], *, stdin: bool = False) -> StreamRequest:
        key = self.key
        params = [
            *([("container", self.container)] if self.container else []),
            *(("command", word) for word in command),
            # A program that reads a file from stdin has no output, and `tee` would repeat its input.
            ("stdin" if stdin else "stdout", "true"),
            ("stderr", "true"),
        ]
        return StreamRequest(
            cluster=self.cluster,
            account=self.account,
            presence=self.presence,
            rights=EXEC,
            gvr=PODS,
            key=key,
            recorded=replace(self.recorded, namespace=key.namespace, name=key.name),
            path=PODS.path(key.namespace, key.name, "exec"),
            params=params,
        )


class ProgramRun(ExecSession):
    """A running program: `open`, `read` until the end, `close`. A slow reader slows down the
    program.

    A program that is closed before its end would wait forever to write its output, because exec
    can't stop it. The rest of the output is therefore discarded for `DRAIN_SECONDS`.
    """

    def __init__(
        self,
        place: ContainerPlace,
        command: Sequence[str],
        on_over: Callable[[StreamEnded], None] | None = None,
        *,
        stdin: bool = False,
    ) -> None:
        order = place.order(command, stdin=stdin)
        super().__init__(order, self._keep, on_over, on_error=self._keep_error, ours=False)
        self._command, self._stdin = command, stdin
        self._draining = False
        self._kept, self._errors = b"", b""
        self._room = SingleWaiterEvent()

    async def read(self) -> bytes:
        """Return the next piece of output, or b"" at the end.

        Raise `StreamEnded`, or `ApiError` if the connection was lost.
        """
        while True:
            if self._over is not None:
                raise self._over
            if self._kept:
                found, self._kept = self._kept, b""
                self._room.set()
                return found
            if self._error is not None:
                raise self._error
            if self._task is None or self._task.done():
                return b""
            await self._news.wait()

    @property
    def error_text(self) -> str:
        """The program's error messages, escaped and shortened."""
        text = " ".join(self._errors.decode(errors="replace").split())
        return escape_invisible(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…")

    def check(self) -> None:
        """Raise `FileError` if the program failed or doesn't exist. Call it after the end."""
        ending = self.ending or CommandResult(None)
        if ending.missing:
            raise MissingProgram(self._command[0])
        if ending.code != 0:
            raise FileError(self.failure_text)

    @property
    def failure_text(self) -> str:
        ending = self.ending or CommandResult(None)
        if self.error_text:
            words = {"message": self.error_text}
            return _("The container reported an error: %(message)s") % words
        if ending.code is None:
            words = {"program": self._command[0], "message": escape_invisible(ending.message)}
            return _("The container could not start %(program)s: %(message)s") % words
        words = {"program": self._command[0], "code": str(ending.code)}
        return _("%(program)s failed with exit code %(code)s.") % words

    def close_soon(self) -> None:
        # The end of stdin ends the programs that read it.
        if self._draining or self._stdin or self._over is not None or not self._pouring:
            super().close_soon()
            return
        self._draining = True
        self._room.set()
        asyncio.get_running_loop().call_later(DRAIN_SECONDS, super().close_soon)

    async def _keep(self, data: bytes) -> None:
        while self._kept and not self._draining:
            await self._room.wait()
        self._kept = b"" if self._draining else data
        self._news.set()

    async def _keep_error(self, data: bytes) -> None:
        self._errors += data[: _MAX_ERRORS - len(self._errors)]

    def _record_outcome(self, recording: AuditEntry) -> None:
        super()._record_outcome(recording)
        recording.message = f"{' '.join(self._command)}; {recording.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """Output of a program that ended. `cut`: it had more output than was read."""

    run: ProgramRun
    output: bytes
    cut: bool


async def run_program(
    place: ContainerPlace, command: Sequence[str], *, most: int = 64 * 1024
) -> Report:
    """Run a program until it ends, or until it wrote `most` bytes.

    Raise `FileError` after `REPORT_SECONDS`, and the exceptions of `ProgramRun`.
    """
    run, output, cut = ProgramRun(place, command), bytearray(), False
    try:
        async with asyncio.timeout(REPORT_SECONDS):
            await run.open()
            while not cut and (piece := await run.read()):
                output += piece
                cut = len(output) > most
    except TimeoutError as error:
        words = {"program": command[0]}
        raise FileError(_("%(program)s took too long in the container.") % words) from error
    finally:
        await run.close()
    return Report(run, bytes(output[:most]), cut)
