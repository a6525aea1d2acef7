"""Waiting for what another process does, with a deadline and never a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["eventually", "pause"]

T = TypeVar("T")

_SHORTEST, _LONGEST = 0.02, 0.5


def pause(waited: float) -> float:
    """Seconds until the next look: a tenth of what has been waited. To look asks another process most of
    the time, and tests that wait would keep the processors busy."""
    return min(max(_SHORTEST, waited / 10), _LONGEST)


def eventually(check: Callable[[], T], what: str, *, timeout: float = 20.0) -> T:
    """The first true answer of `check`; TimeoutError names `what` did not come about."""
    began = time.monotonic()
    while True:
        # The time is read first, so that a slow check still gets one try after it began.
        waited = time.monotonic() - began
        if answer := check():
            return answer
        if waited > timeout:
            raise TimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(pause(waited))
