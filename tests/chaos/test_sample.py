"""A sample of the schedules of `make chaos` that together cover every fault."""

import pytest

from tests.chaos.run import run
from tests.chaos.schedule import Fault, schedule
from tests.chaos.world import World

SEEDS = (94, 195, 356, 393)


def test_the_sample_covers_every_fault() -> None:
    assert frozenset().union(*(schedule(seed).faults for seed in SEEDS)) == frozenset(Fault)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cache_is_correct_after_a_random_schedule(world: World, seed: int) -> None:
    outcome = run(world, schedule(seed))
    assert not outcome.problem, str(outcome)
