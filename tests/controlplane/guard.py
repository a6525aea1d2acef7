"""Executes a program that the kernel kills when the parent process ends.

Run as `python guard.py PARENT PROGRAM ARGUMENT...`. It is a separate program instead of a
`preexec_fn`, because running code between fork and exec is unsafe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Request the parent death signal, which survives exec, and execute the command. Only Linux
    supports it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # In a new PID namespace, the parent's PID is 0.
        if os.getppid() not in (parent, 0):
            # The parent ended before the request above, so no signal would be sent.
            return
    os.execv(command[0], command)  # noqa: S606 - replacing this process is the purpose


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
