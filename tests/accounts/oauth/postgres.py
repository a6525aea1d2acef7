"""A temporary PostgreSQL server on the loopback interface that can be stopped and started."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

#: PostgreSQL refuses to run as root. Debian's packages create this user.
ACCOUNT = "postgres"


def missing() -> str:
    """Return why PostgreSQL is not available, or ""."""
    if not (shutil.which("initdb") and shutil.which("postgres")):
        return "PostgreSQL (initdb, postgres) is missing"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(ACCOUNT)
        except KeyError:
            return f"there is no user {ACCOUNT}, and PostgreSQL does not run as root"
    return ""


class PostgreSQL:
    """PostgreSQL server. `url` is a value for `DATABASE_URL`."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"postgres://{ACCOUNT}@127.0.0.1:{self.port}/postgres"
        self._folder = Path(tempfile.mkdtemp(prefix="quarterdeck-postgres-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []}
            shutil.chown(self._folder, ACCOUNT, ACCOUNT)

    def __enter__(self) -> Self:
        command = ["initdb", "-D", str(self._data), "-A", "trust", "-U", ACCOUNT, "-N"]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._as)
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def start(self) -> None:
        options = ("-h", "127.0.0.1", "-p", str(self.port), "-k", "", "-c", "fsync=off")
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["postgres", "-D", str(self._data), *options],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._as,
            )
        eventually(self._answers, "PostgreSQL listens")

    def stop(self) -> None:
        if self._process is not None:
            # SIGINT is a fast shutdown, without waiting for clients.
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=20)
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
