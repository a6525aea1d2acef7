"""What a test that has not ended within its time limit leaves behind: where each thread and task was.

pytest-timeout sets the limit (`timeout` in pyproject.toml). It is far above what a test needs, for it is
no measure of speed: it ends what hangs, and says where.
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

#: Seconds until a test that not even the signal reaches, such as one that waits in C, ends its process.
_DEAF = 60.0
_stderr = -1


def pytest_configure() -> None:
    global _stderr
    # Not what a test's output is captured into, for that is lost with the process.
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
    """Where every thread is, this one at `frame`, and every task of any event loop."""
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
