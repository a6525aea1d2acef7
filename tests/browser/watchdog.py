"""Ends a Chromium that does not let go of its pages: Playwright would wait for ever, and the run with it.

The test whose pages they were then fails, and is tried once more.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

#: Seconds; a second is what it takes.
PATIENCE = 60.0


@contextmanager
def closing(seconds: float = PATIENCE) -> Iterator[None]:
    """Around what waits for the browser. Only browsers that Playwright started for this process end."""
    timer = Timer(seconds, _end_browsers)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end_browsers() -> None:
    for driver in _children(os.getpid()):
        for browser in _children(driver):
            # Either may have ended by now.
            with suppress(OSError):
                if b"chromium" in Path(f"/proc/{browser}/cmdline").read_bytes():
                    os.kill(browser, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return found
