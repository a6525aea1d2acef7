"""Return freed memory to the kernel.

glibc raises its mmap and trim thresholds whenever a large block is freed (mallopt(3), "dynamic
mmap threshold"), and decoding a list frees many. Afterwards megabytes stay at the top of a
thread's heap, where `malloc_trim` does not look. The amount differs between runs. With fixed
thresholds the process only keeps the memory it needs.
"""

import ctypes
import sys

#: Constants of malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: Bytes. Free memory at the end of a heap above the first value is returned. Blocks above the
#: second value are allocated with mmap. A batch of a list, which is allocated repeatedly, is
#: between the two.
_TRIM, _MMAP = 1024 * 1024, 4 * 1024 * 1024


def fix_malloc_thresholds() -> None:
    """Fix glibc's malloc thresholds for the whole process. Do nothing with other C libraries."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _TRIM)
        mallopt(_M_MMAP_THRESHOLD, _MMAP)
