"""Tests without the mark `programs` cannot start programs, which `make quick` relies on."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest


def _spawn() -> None:
    os.posix_spawn(sys.executable, [sys.executable, "-V"], {})


@pytest.mark.parametrize("start", [lambda: subprocess.run([sys.executable, "-V"]), _spawn])
def test_unmarked_test_cannot_start_a_program(start: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="is not marked `programs`"):
        start()


def test_unmarked_test_cannot_start_a_program_from_another_thread() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(pytest.fail.Exception):
        pool.submit(_spawn).result()


@pytest.mark.programs
def test_marked_test_can_start_a_program() -> None:
    done = subprocess.run([sys.executable, "-V"], check=True, capture_output=True)
    assert done.stdout.startswith(b"Python")
