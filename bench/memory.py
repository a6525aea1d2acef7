"""What a process takes of the machine's memory, in bytes."""

import ctypes
import gc
import sys
import time
from pathlib import Path
from typing import NamedTuple

#: Between a collection and reading the memory.
SETTLE = 1.0


class Memory(NamedTuple):
    """`resting`: after a garbage collection. `released`: after also giving freed pages back to the
    kernel. `peak`: the most there ever was until then. The same in `clientgo/main.go`."""

    resting: int
    released: int
    peak: int


def measure() -> Memory:
    """This process's, on Linux. Takes a second."""
    peak = read("VmHWM")
    gc.collect()
    time.sleep(SETTLE)
    resting = read("VmRSS")
    _trim()
    return Memory(resting, read("VmRSS"), peak)


def read(field: str, pid: int | str = "self") -> int:
    """`VmRSS` or `VmHWM` of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(field)


def _trim() -> None:
    """glibc keeps what was freed; other C libraries have no such call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
