"""Freed memory is returned to the kernel, even in cases where glibc would keep it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.programs

#: Frees a block of 16 MiB, after which glibc keeps up to twice as much, then 12 MiB of small blocks
#: of another thread, and prints the bytes still resident.
_PROGRAM = """
import sys
from threading import Thread
from bench.memory import read
from console.kube.runtime import fix_malloc_thresholds

if sys.argv[1] == "yes":
    fix_malloc_thresholds()
before = 0

def work():
    global before
    bytearray(16 << 20)
    before = read("VmRSS")
    small = [b"x" * 4000 + bytes([at % 256]) for at in range(3000)]
    del small
    print(read("VmRSS") - before)

thread = Thread(target=work)
thread.start()
thread.join()
"""


def _left(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_freed_memory_is_returned_to_the_kernel() -> None:
    assert _left("no") > 8 << 20
    assert _left("yes") < 3 << 20
