"""Holds a folder of the cgroups as long as its owner lives, and removes it with all that is in it then.

Run as `python cgroups.py NAME`, with a pipe from the owner as its input: that ends also when the owner is
killed, and then the kernel ends what runs in there. It says `made` when the folder is there.
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
    """In every controller, or in the one tree that they share (v2)."""
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
        # Empty at first, and then nothing may run in it.
        (ROOT / "cpuset" / name / file).write_text((ROOT / "cpuset" / file).read_text())


def remove(name: str) -> bool:
    """True if nothing is left. What a process is in cannot be removed."""
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
