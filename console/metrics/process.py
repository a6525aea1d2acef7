"""What the operating system knows of this process. Empty where there is no /proc."""

import os
import time
from pathlib import Path

_STARTED = time.time()
_STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Memory that is in RAM; 0 if nobody can tell."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def cpu_seconds() -> float:
    return time.process_time()


def started_at() -> float:
    """Seconds since 1970, about: when this module was imported."""
    return _STARTED
