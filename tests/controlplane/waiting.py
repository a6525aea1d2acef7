"""Polling for conditions in other processes, with a deadline instead of a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["eventually", "pause"]

T = TypeVar("T")

_SHORTEST, _LONGEST = 0.02, 0.5


def pause(waited: float) -> float:
    """Return the seconds until the next check: a tenth of the time waited so far.

    A check is usually a request to another process. Frequent checks would keep the processors
    busy.
    """
    return min(max(_SHORTEST, waited / 10), _LONGEST)


def eventually(check: Callable[[], T], what: str, *, timeout: float = 20.0) -> T:
    """Return the first true result of `check`. Raise a TimeoutError that names `what` if there is
    none.
    """
    began = time.monotonic()
    while True:
        # Read the time before the check, so that a slow check gets one more try after the deadline.
        waited = time.monotonic() - began
        if answer := check():
            return answer
        if waited > timeout:
            raise TimeoutError(f"timed out after {timeout:g} s: {what}")
        time.sleep(pause(waited))
