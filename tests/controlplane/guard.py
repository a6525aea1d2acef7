"""Becomes another program that the kernel kills as soon as the process that started it is gone.

Run as `python guard.py PARENT PROGRAM ARGUMENT...`. It is a program of its own, and not a
`preexec_fn`, because code between fork and exec is unsafe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """The death signal survives the exec; elsewhere than on Linux there is none to ask for."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # In process namespaces of its own, a parent outside is 0.
        if os.getppid() not in (parent, 0):
            # The parent died before the request above, so no signal will come.
            return
    os.execv(command[0], command)  # noqa: S606 - to become the program is its purpose


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
