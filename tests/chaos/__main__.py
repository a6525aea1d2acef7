"""python -m tests.chaos [--schedules N] [--seed N]

Run schedules with consecutive seeds starting at `--seed` (`CHAOS_SEED`, default 1): 200 by
default (`CHAOS_SCHEDULES`), or one if only a seed is given. The exit code is 1 if the cache was
wrong in any schedule.
"""

import argparse
import logging
import os
import sys
from math import ceil

from tests.chaos.run import Outcome, run
from tests.chaos.schedule import schedule
from tests.chaos.world import World
from tests.controlplane.build import BuildError

_SCHEDULES = 200


def main() -> int:
    """Print one line per schedule and a summary."""
    arguments = _arguments()
    seeds = range(arguments.seed, arguments.seed + arguments.schedules)
    logging.getLogger("console.kube").setLevel(logging.ERROR)
    outcomes = []
    try:
        with World(_say) as world:
            for seed in seeds:
                outcomes.append(run(world, schedule(seed)))
                _say(f"{outcomes[-1]}\n")
    except BuildError as error:
        _say(f"{error}\n")
        return 1
    _say(_summary(outcomes))
    return 1 if any(outcome.problem for outcome in outcomes) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    seed, number = os.environ.get("CHAOS_SEED"), os.environ.get("CHAOS_SCHEDULES")
    parser.add_argument("--seed", type=int, default=int(seed) if seed else None)
    parser.add_argument("--schedules", type=int, default=int(number) if number else None)
    arguments = parser.parse_args()
    if arguments.schedules is None:
        arguments.schedules = _SCHEDULES if arguments.seed is None else 1
    arguments.seed = 1 if arguments.seed is None else arguments.seed
    return arguments


def _summary(outcomes: list[Outcome]) -> str:
    failed = [str(outcome.schedule.seed) for outcome in outcomes if outcome.problem]
    times = sorted(outcome.seconds for outcome in outcomes if not outcome.problem)
    text = f"{len(outcomes)} schedules, {len(failed)} failed"
    if failed:
        text += f" (seeds {', '.join(failed)})"
    if times:
        text += (
            f"; equal after p95 {times[ceil(len(times) * 0.95) - 1]:.1f} s, max {times[-1]:.1f} s"
        )
    return f"{text}\n"


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
