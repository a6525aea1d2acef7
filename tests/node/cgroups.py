"""Create a cgroup directory, keep it while its owner lives, and then remove it with all its
processes.

Run as `python cgroups.py NAME` with a pipe from the owner as input. The pipe also closes when
the owner is killed; the kernel then kills the processes of the box. Prints `made` when the
directory exists.
"""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_SECONDS = 60.0
_POLL_SECONDS = 0.02


def make(name: str) -> None:
    """Create the directory in every controller, or in the unified hierarchy (v2)."""
    shared = ROOT / "cgroup.controllers"
    if shared.exists():
        enabled = " ".join(f"+{controller}" for controller in shared.read_text().split())
        (ROOT / "cgroup.subtree_control").write_text(enabled)
        (ROOT / name).mkdir()
        return
    for controller in ROOT.iterdir():
        if (controller / "cgroup.procs").exists():
            (controller / name).mkdir()
    for file in ("cpuset.cpus", "cpuset.mems"):
        # The files are empty at first, and then no process can run in the cgroup.
        (ROOT / "cpuset" / name / file).write_text((ROOT / "cpuset" / file).read_text())


def remove(name: str) -> bool:
    """Remove the directories. Return True if none is left. A cgroup that contains a process cannot
    be removed.
    """
    for top in (ROOT / name, *ROOT.glob(f"*/{name}")):
        for folder, _folders, _files in os.walk(top, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)
    return not (ROOT / name).exists() and not any(ROOT.glob(f"*/{name}"))


def main(name: str) -> None:
    try:
        make(name)
        sys.stdout.write("made\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        deadline = time.monotonic() + _SECONDS
        while not remove(name) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
