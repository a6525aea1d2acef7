"""kubectl in a pseudo-terminal."""

import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.contract.cluster import Kubectl

_SECONDS = 60


def environment(kubectl: Kubectl) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    return {"HOME": str(kubectl.home), "PATH": path, "KUBECONFIG": str(kubectl.kubeconfig)}


@contextmanager
def typing(kubectl: Kubectl, *arguments: str) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """Run kubectl in a pseudo-terminal. Yield the user's end of the terminal and the process."""
    ours, theirs = pty.openpty()
    command = [kubectl.program, *arguments]
    try:
        with subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(kubectl)
        ) as process:
            os.close(theirs)
            yield ours, process
            assert process.wait(_SECONDS) is not None
    finally:
        os.close(ours)


def until(terminal: int, text: str) -> str:
    found = b""
    while text.encode() not in found:
        found += os.read(terminal, 4096)
    return found.decode()
