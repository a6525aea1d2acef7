"""The benchmark can be started. It runs rarely, and no other test imports all of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench.result import Report, Result, updated


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


def test_storing_some_results_replaces_only_these() -> None:
    kept, old = (
        Result("sync_seconds", 10_000, 3.0, "s"),
        Result("wizard_p95_ms", 10_000, 80.0, "ms"),
    )
    whole = Report("abc", "2 x A", [old, kept])
    newer = replace(old, value=40.0)
    [first, second] = updated(whole, Report("def", "2 x B", [newer])).results
    assert (first, second) == (replace(newer, commit="def", machine="2 x B"), kept)
    added = Result("wizard_save_p95_ms", 10_000, 9.0, "ms")
    found = updated(whole, Report("abc", "2 x A", [added])).results
    assert found == [old, kept, replace(added, commit="abc")]
