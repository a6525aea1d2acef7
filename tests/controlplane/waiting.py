"""Waiting for what another process does, with a deadline and never a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["eventually"]

T = TypeVar("T")

_POLL_SECONDS = 0.02


def eventually(check: Callable[[], T], what: str, *, timeout: float = 20.0) -> T:
    """The first true answer of `check`; TimeoutError names `what` did not come about."""
    deadline = time.monotonic() + timeout
    while True:
        # The deadline is read first, so that a slow check still gets one try after it began.
        late = time.monotonic() > deadline
        if answer := check():
            return answer
        if late:
            raise TimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(_POLL_SECONDS)
