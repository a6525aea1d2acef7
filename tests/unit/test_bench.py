"""The benchmark can be started. It runs rarely, and no other test imports all of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.programs
def test_benchmark_starts_from_a_shell() -> None:
    """No test setup has configured Django there."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--help"],
        env={"PATH": os.environ["PATH"]},
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "--only" in done.stdout
