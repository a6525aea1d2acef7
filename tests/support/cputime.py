"""Measure the CPU time of a block, which barely depends on other programs that run at the same
time.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["at_most"]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the block uses more than `seconds` of this thread's CPU time.

    Use it for input whose cost must be proportional to its length. `seconds` is many times the
    expected time, so only a different order of growth fails. Garbage collection is disabled
    because it would also scan the objects of earlier tests.
    """
    gc.disable()
    try:
        began = time.thread_time()
        yield
        took = time.thread_time() - began
    finally:
        gc.enable()
    assert took < seconds, f"{took:.2f} s of CPU time"
