"""The guard of `make quick`: whoever is not marked starts no program."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest


def _spawn() -> None:
    os.posix_spawn(sys.executable, [sys.executable, "-V"], {})


@pytest.mark.parametrize("start", [lambda: subprocess.run([sys.executable, "-V"]), _spawn])
def test_a_program_is_refused(start: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="is not marked `programs`"):
        start()


def test_also_from_another_thread() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(pytest.fail.Exception):
        pool.submit(_spawn).result()


@pytest.mark.programs
def test_who_is_marked_may() -> None:
    done = subprocess.run([sys.executable, "-V"], check=True, capture_output=True)
    assert done.stdout.startswith(b"Python")
