"""Describe the commit and the machine of a result."""

import os
import platform
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def commit() -> str:
    """Return the commit, with `+` if files differ from it, or "" outside a git repository."""
    described = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return described + ("+" if described and changed else "")


def machine() -> str:
    """Return the CPU, memory and Python version, which readers need to compare results."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    python = platform.python_version()
    return f"{os.cpu_count()} x {_processor()}, {gigabytes:.0f} GiB, Python {python}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  fixed arguments
            ["git", *arguments],  # noqa: S607  wherever it is
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip()
