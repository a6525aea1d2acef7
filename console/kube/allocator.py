"""Memory that was freed goes back to the kernel.

glibc raises its thresholds whenever a large block is freed, and a list passes through many of them: from
then on megabytes stay at the top of a thread's heap, where `malloc_trim` does not look either
(mallopt(3), "dynamic mmap threshold"). Which ones, and so how much, differs from run to run. With
thresholds that stand still the process keeps what it needs.
"""

import ctypes
import sys

#: Of malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: Bytes. What is free at the end of a heap beyond the first goes back; blocks larger than the second are
#: the kernel's from the start. A batch of a list, which comes again and again, is between the two.
_TRIM, _MMAP = 1024 * 1024, 4 * 1024 * 1024


def give_back_what_is_freed() -> None:
    """For the whole process, from now on. Other C libraries than glibc have no such call."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _TRIM)
        mallopt(_M_MMAP_THRESHOLD, _MMAP)
