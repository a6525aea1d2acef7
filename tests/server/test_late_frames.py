"""Frames sent to a disconnected client. Runs in a separate process because Daphne installs a
Twisted reactor.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.programs

SEND = """
from console.web.server import Websocket

socket = Websocket()
socket.state = Websocket.{state}
socket.serverSend("late")
"""


@pytest.mark.parametrize("state", ["STATE_CLOSED", "STATE_CLOSING", "STATE_CONNECTING"])
def test_frames_after_a_disconnect_are_dropped(state: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEND.format(state=state)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
