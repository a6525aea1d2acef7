"""A program of the control plane as a child process that ends with the tests."""

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

# The kernel sends the parent death signal when the *thread* that forked ends, not the process. A
# test may start a control plane from a short-lived thread. Therefore one thread that lives as long
# as the process starts all children.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="controlplane-spawner")


#: Variables that limit the memory (garbage collection) and processors of Go programs.
GO = ("GOGC", "GOMAXPROCS")


def environment(home: Path) -> dict[str, str]:
    """Return the environment of the program: HOME, PATH and the Go limits."""
    found = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    return found | {name: os.environ[name] for name in GO if name in os.environ}


class ComponentError(Exception):
    """A program terminated or did not become ready. The message contains the end of its log."""


class Component:
    """Start, stop and break one program. Only the started process is signaled.

    A custom `spawner` has one thread; the program runs in the namespaces of that thread.
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
        """Process ID, or None if the program is not running."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self, arguments: Sequence[str]) -> None:
        """Start the program. Except for `GO`, it does not inherit the environment, which may name
        another cluster.
        """
        if self.pid is not None:
            raise ComponentError(f"{self.name} is already running")
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
                # Ctrl+C in the terminal must only reach the tests, which stop the control plane in
                # order.
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise ComponentError if the program has terminated unexpectedly."""
        if self._process is not None and (code := self._process.poll()) is not None:
            raise self.failure(f"terminated with exit code {code}")

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for a condition. Raise ComponentError on timeout or if the program terminates."""

        def check() -> bool:
            self.check()
            return is_so()

        try:
            eventually(check, what, timeout=_READY_SECONDS)
        except TimeoutError as error:
            raise self.failure(f"did not {what} within {_READY_SECONDS:g} s") from error

    def failure(self, what: str) -> ComponentError:
        """Return an error that contains the end of the log, because the log file is removed later."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        tail = "\n".join(lines[-_LOG_TAIL_LINES:])
        return ComponentError(f"{self.name} {what}; end of its log:\n{tail}")

    def kill(self) -> None:
        """Kill the program with SIGKILL, even if it is frozen. Do nothing if it is not running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stop the program with SIGSTOP. Connections stay open but get no response."""
        pid = self._signal(signal.SIGSTOP)
        # The threads continue until the first of them handles the signal, so wait for the stop.
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        """Resume the program with SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> int:
        """Send the signal and return the process ID."""
        if self._process is None or self.pid is None:
            raise ComponentError(f"{self.name} is not running")
        self._process.send_signal(number)
        return self._process.pid
