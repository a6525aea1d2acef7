"""One program of the control plane as a child process that cannot outlive the tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.controlplane.waiting import eventually

__all__ = ["GO", "Component", "ComponentError", "environment"]

_GUARD = Path(__file__).with_name("guard.py")
_LOG_TAIL_LINES = 20
_READY_SECONDS = 60.0

# The kernel's death signal comes when the *thread* that forked ends, not the process. A test may
# start a control plane from a short-lived thread, so one thread that lives as long as the process
# starts every child.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="controlplane-spawner")


#: How much memory Go's programs use before they collect what is unused, and on how many processors.
GO = ("GOGC", "GOMAXPROCS")


def environment(home: Path) -> dict[str, str]:
    """What its programs know of the caller's."""
    found = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    return found | {name: os.environ[name] for name in GO if name in os.environ}


class ComponentError(Exception):
    """A program of the control plane ended or did not become ready; holds the end of its log."""


class Component:
    """Starts, breaks and ends one program. It signals nothing but the process it started.

    A `spawner` of one's own has one thread, and the program is in its namespaces.
    """

    def __init__(
        self, name: str, program: Path, folder: Path, spawner: ThreadPoolExecutor = _spawner
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._program = program
        self._folder = folder
        self._spawner = spawner
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self, arguments: Sequence[str]) -> None:
        """Starts it with nothing of the caller's environment, which may name another cluster, but for
        `GO`."""
        if self.pid is not None:
            raise ComponentError(f"{self.name} runs already")
        command = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid())]
        self._process = self._spawner.submit(
            self._spawn, [*command, str(self._program), *arguments]
        ).result()

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                env=environment(self._folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A Ctrl-C in the terminal is for the tests, which end the control plane in order.
                start_new_session=True,
            )

    def check(self) -> None:
        """Raises ComponentError if the program has ended by itself."""
        if self._process is not None and (code := self._process.poll()) is not None:
            raise self.failure(f"ended with code {code}")

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """ComponentError if the program ends before, or if it takes too long."""

        def check() -> bool:
            self.check()
            return is_so()

        try:
            eventually(check, what, timeout=_READY_SECONDS)
        except TimeoutError as error:
            raise self.failure(f"did not {what} in {_READY_SECONDS:g} s") from error

    def failure(self, what: str) -> ComponentError:
        """An error with the end of the log, since the log's folder will be gone by then."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        tail = "\n".join(lines[-_LOG_TAIL_LINES:])
        return ComponentError(f"{self.name} {what}; the end of its log:\n{tail}")

    def kill(self) -> None:
        """SIGKILL, which also ends a frozen process; does nothing if it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """SIGSTOP: it keeps its connections and answers nothing."""
        pid = self._signal(signal.SIGSTOP)
        # The first of its threads that runs again stops the others: until then they work.
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        """SIGCONT: it goes on where it was."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> int:
        """Returns the process id."""
        if self._process is None or self.pid is None:
            raise ComponentError(f"{self.name} does not run")
        self._process.send_signal(number)
        return self._process.pid
