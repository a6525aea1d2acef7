"""The cache compared with a model of the server under random faults.

Each case is a sequence of steps (see `tests.kube.model`), and nothing sleeps.
"""

import asyncio
import logging
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.kube import store as store_module
from tests.kube.checked_reflector import World
from tests.kube.server_steps import (
    Again,
    Bookmark,
    Compact,
    Deliver,
    Drop,
    Elsewhere,
    End,
    Fail,
    Lag,
    Put,
    Restore,
    Slow,
    Step,
    Wake,
)
from tests.support.depth import number

_NAMES = st.sampled_from("abc")
_CHANGES = st.one_of(
    st.builds(Put, _NAMES),
    st.builds(Put, _NAMES),
    st.builds(Drop, _NAMES),
    st.builds(Again, _NAMES),
    st.just(Elsewhere()),
    st.just(Compact()),
    st.builds(Lag, st.integers(0, 5)),
    st.builds(Slow, st.sampled_from([0.1, 5.0, 12.0, 70.0])),
    st.just(Wake()),
)
_RESTORES = st.builds(Restore, st.integers(1, 8))
_FAILURES = st.one_of(
    st.builds(Fail, st.sampled_from([-1, 0, 401, 403, 410, 500, 503, 504])),
    st.builds(Fail, st.just(429), st.sampled_from([None, 0.0, 1.0, 45.0])),
)
_COURSES = st.one_of(
    st.builds(Deliver, st.integers(1, 3)),
    st.just(Bookmark()),
    st.just(End()),
    _FAILURES,
)
_TAPES = st.lists(st.one_of(_CHANGES, _COURSES), max_size=60)
_RESTORED_TAPES = st.lists(st.one_of(_CHANGES, _COURSES, _RESTORES), max_size=60)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Disable logging, because thousands of cases would flood it."""
    caplog.set_level(logging.CRITICAL, "console.kube")


def _run(world: World) -> None:
    with patch.object(store_module, "_REMEMBERED", 4):
        asyncio.run(world.run())
    world.check_derived()


_thorough = settings(
    max_examples=number(200, 5_000),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@_thorough
@given(_TAPES, st.integers(0, 3))
def test_cache_converges_and_never_goes_backwards(steps: list[Step], seed: int) -> None:
    world = World(steps, seed)
    _run(world)
    world.check_converged()
    world.check_told()
    world.check_monotonic()
    world.check_requests()


@_thorough
@given(_RESTORED_TAPES, st.integers(0, 3))
def test_restored_server_is_followed(steps: list[Step], seed: int) -> None:
    world = World(steps, seed)
    _run(world)
    world.check_converged()
    world.check_told()
    world.check_monotonic()
    world.check_requests()
