"""What is sent to a client that has gone. In a process of its own, as Daphne brings a reactor."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.programs

SEND = """
from console.server import Socket

socket = Socket()
socket.state = Socket.{state}
socket.serverSend("late")
"""


@pytest.mark.parametrize("state", ["STATE_CLOSED", "STATE_CLOSING", "STATE_CONNECTING"])
def test_what_comes_too_late_for_a_socket_is_dropped(state: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEND.format(state=state)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
