"""Memory usage of a process in bytes."""

import ctypes
import gc
import sys
import time
from pathlib import Path
from typing import NamedTuple

#: Seconds between a garbage collection and the measurement.
SETTLE = 1.0


class Memory(NamedTuple):
    """`resting`: after a garbage collection. `released`: after free pages are also returned to the
    kernel. `peak`: the maximum so far. `clientgo/main.go` uses the same definitions.
    """

    resting: int
    released: int
    peak: int


def measure() -> Memory:
    """Measure this process. Linux only. Takes a second."""
    peak = read("VmHWM")
    gc.collect()
    time.sleep(SETTLE)
    resting = read("VmRSS")
    _trim()
    return Memory(resting, read("VmRSS"), peak)


def read(field: str, pid: int | str = "self") -> int:
    """Return `VmRSS` or `VmHWM` of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(field)


def _trim() -> None:
    """Return free memory to the kernel. Only glibc provides this call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
