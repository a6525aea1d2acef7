"""How deep a run looks.

`make test` is the gate: everything that a change can break, once, the same in every run. `make test-deep`
is all of it, with chance that is printed at the head of the run; `TEST_SEED` gives it again, and with
`TEST_TIMES` there is so many times as much of what there could be any number of.

What only the deep run does is marked: a test or a parameter with `pytest.mark.deep`, a number or a choice
by `DEEP`.
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
#: Where chance begins. Workers have that of the process that started them.
SEED = int(os.environ.setdefault("TEST_SEED", str(SystemRandom().randrange(10**6) if DEEP else 1)))
_TIMES = int(os.environ.get("TEST_TIMES", "1"))


def number(gate: int, deep: int) -> int:
    """How many of something that there could be any number of."""
    return deep * _TIMES if DEEP else gate


def choice(name: str, among: Sequence[T]) -> T:
    """One of `among` that depends on `name` alone, and not on what other names there are."""
    return among[zlib.crc32(name.encode()) % len(among)]


def some(name: str, among: Iterable[T], gate: int) -> list[T]:
    """All in the deep run; in the gate as many as `gate`, by `name` and each one's own."""
    found = list(among)
    chosen = sorted(found, key=lambda one: zlib.crc32(f"{name} {one}".encode()))
    return found if DEEP else chosen[:gate]


def fewer(values: Sequence[object], *gate: object) -> list[object]:
    """Parameters, of which the gate tries only those of `gate`."""
    return [one if one in gate else pytest.param(one, marks=pytest.mark.deep) for one in values]
