"""A Chromium that can hang or crash without affecting the rest of the test run.

Chromium sometimes never confirms that a context was closed, and Playwright would wait forever.
The browser is then killed, and the next context opens in a new browser. The result of the
current test still counts. Contexts of other fixtures in the killed browser are lost, and their
tests fail.
"""

import logging
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import iglob
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Playwright

from tests.controlplane.plugin import report_skipped

#: The headless shell renders the same pages without invisible windows, with half the CPU usage.
PROGRAM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: Seconds. Closing usually takes one second.
PATIENCE = 60.0
_log = logging.getLogger(__name__)


def need_chromium(what: str) -> None:
    """Skip `what` if Chromium is missing. With `REQUIRE_BROWSER` set, fail instead."""
    if Path(PROGRAM).exists():
        return
    why = f"{PROGRAM} is missing"
    if os.environ.get("REQUIRE_BROWSER", "0") not in ("", "0"):
        pytest.fail(f"REQUIRE_BROWSER is set, but {why}", pytrace=False)
    report_skipped(what, why)
    pytest.skip(why)


class Chromium:
    """A replacement for Playwright's `Browser` whose `close()` always returns."""

    def __init__(self, playwright: Playwright, patience: float = PATIENCE) -> None:
        self._playwright = playwright
        self._patience = patience
        self._browser = self._launched()

    def new_context(self, **options: Any) -> BrowserContext:
        if not self._browser.is_connected():
            self._browser = self._launched()
        context = self._browser.new_context(**options)
        close = context.close
        context.close = lambda *, reason=None: self._closed(lambda: close(reason=reason))  # type: ignore[method-assign]
        return context

    def close(self) -> None:
        self._closed(self._browser.close)

    def _launched(self) -> Browser:
        return self._playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)

    def _closed(self, close: Callable[[], None]) -> None:
        with _killing_after(self._patience) as killed:
            try:
                close()
            except Error:
                if not killed:
                    raise
                _log.warning("Chromium did not close within %s s and was killed", self._patience)


@contextmanager
def _killing_after(seconds: float) -> Iterator[list[int]]:
    """Kill the browsers of this process after a timeout. Yield the list of killed process IDs."""
    killed: list[int] = []
    timer = Timer(seconds, _kill_browsers, [killed])
    timer.start()
    try:
        yield killed
    finally:
        timer.cancel()


def _kill_browsers(killed: list[int]) -> None:
    for driver in _children(os.getpid()):
        for browser in _children(driver):
            # Either process may have exited in the meantime.
            with suppress(OSError):
                if b"chromium" in Path(f"/proc/{browser}/cmdline").read_bytes():
                    killed.append(browser)
                    os.kill(browser, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in iglob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError):
            found += map(int, Path(thread).read_text().split())
    return found
