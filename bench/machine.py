"""Where a result comes from."""

import os
import platform
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def commit() -> str:
    """The commit that was measured, with `+` if the files differ from it; "" outside of git."""
    described = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return described + ("+" if described and changed else "")


def machine() -> str:
    """Processors, memory, Python: what a reader needs to compare with another machine."""
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
