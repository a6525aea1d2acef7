"""What a piece of work costs in CPU time, which another program beside it does not change much."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["at_most"]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fails if this thread worked for longer. For input that must not cost more than its length is worth;
    `seconds` is many times what it takes, so that only another order of growth fails. The
    garbage collector waits: it would look through all that the tests before have left."""
    gc.disable()
    try:
        began = time.thread_time()
        yield
        took = time.thread_time() - began
    finally:
        gc.enable()
    assert took < seconds, f"{took:.2f} s of CPU time"
