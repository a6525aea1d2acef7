"""The depth of a test run.

`make test` is the gate: it covers everything that a change can break, once and
deterministically. `make test-deep` runs everything, with a random seed that is printed in the
header of the run. `TEST_SEED` repeats a run, and `TEST_TIMES` multiplies the number of random
examples.

Tests and parameters that only the deep run covers are marked with `pytest.mark.deep`. Numbers
and choices depend on `DEEP`.
"""

import os
import zlib
from collections.abc import Iterable, Sequence
from random import SystemRandom
from typing import TypeVar

import pytest

__all__ = ["DEEP", "SEED", "choice", "fewer", "number", "some"]

T = TypeVar("T")

DEEP = os.environ.get("TEST_DEPTH") == "deep"
#: The random seed. Workers inherit it from the process that started them.
SEED = int(os.environ.setdefault("TEST_SEED", str(SystemRandom().randrange(10**6) if DEEP else 1)))
_TIMES = int(os.environ.get("TEST_TIMES", "1"))


def number(gate: int, deep: int) -> int:
    """Return the number of random examples for this depth."""
    return deep * _TIMES if DEEP else gate


def choice(name: str, among: Sequence[T]) -> T:
    """Return an element of `among` that depends only on `name`, not on the other names."""
    return among[zlib.crc32(name.encode()) % len(among)]


def some(name: str, among: Iterable[T], gate: int) -> list[T]:
    """Return all of `among` in the deep run. In the gate, return `gate` of them, chosen by a hash
    of `name` and the element.
    """
    found = list(among)
    chosen = sorted(found, key=lambda one: zlib.crc32(f"{name} {one}".encode()))
    return found if DEEP else chosen[:gate]


def fewer(values: Sequence[object], *gate: object) -> list[object]:
    """Return parameters of which the gate runs only those in `gate`."""
    return [one if one in gate else pytest.param(one, marks=pytest.mark.deep) for one in values]
