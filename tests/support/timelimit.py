"""Report the stacks of all threads and tasks when a test exceeds its time limit.

pytest-timeout sets the limit (`timeout` in pyproject.toml). It is far above the duration of any
test, because it exists to find hanging tests and not to measure speed.
"""

import asyncio
import faulthandler
import gc
import io
import os
import signal
import sys
import traceback
from threading import current_thread
from threading import enumerate as threads
from types import FrameType
from typing import Any

import pytest

#: Seconds until the process is killed if a test does not react to the signal, for example while it
#: waits in C code.
_DEAF = 60.0
_stderr = -1


def pytest_configure() -> None:
    global _stderr
    # Not the captured stderr of the test, which is lost when the process exits.
    _stderr = os.dup(sys.stderr.fileno())


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    def ring(_number: int, frame: FrameType | None) -> None:
        text = f"not ended within {settings.timeout:g} s\n{stacks(frame)}"
        pytest.fail(f"{item.nodeid}: {text}", pytrace=False)

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout)
    faulthandler.dump_traceback_later(settings.timeout + _DEAF, exit=True, file=_stderr)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()
    return True


def stacks(frame: FrameType | None) -> str:
    """Return the stacks of all threads, this thread's at `frame`, and of all tasks of any event
    loop.
    """
    out = io.StringIO()
    frames = sys._current_frames()
    for thread in threads():
        here = thread is current_thread()
        out.write(f"\n-- thread {thread.name}\n")
        traceback.print_stack(frame if here else frames.get(thread.ident or 0), file=out)
    for task in gc.get_objects():
        if isinstance(task, asyncio.Task) and not task.done():
            out.write("\n-- ")
            task.print_stack(file=out)
    return out.getvalue()
