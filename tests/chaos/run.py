"""Run one schedule and check the result."""

import gc
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.convergence import converge, judge
from tests.chaos.driver import Driver
from tests.chaos.history import History, Violation
from tests.chaos.observer import Observer
from tests.chaos.schedule import Schedule
from tests.chaos.targets import TARGETS
from tests.chaos.world import World
from tests.chaos.writers import Writers

__all__ = ["Outcome", "run"]

_WRITERS = 2
_FOLDER = Path(__file__).parents[2] / "build" / "chaos"


@dataclass(frozen=True)
class Outcome:
    """The result of a schedule. `seconds` is the time to converge. `problem` is empty on success;
    otherwise `history` is the path of the event log.
    """

    schedule: Schedule
    seconds: float
    writes: int
    lists: int
    problem: str = ""
    history: Path | None = None

    def __str__(self) -> str:
        line = (
            f"seed {self.schedule.seed}: {self.schedule}: {self.seconds:.1f} s, "
            f"{self.writes} writes, {self.lists} lists"
        )
        if not self.problem:
            return line
        command = f'make chaos ARGS="--seed {self.schedule.seed}"'
        return f"{line}\n  FAILED: {self.problem}\n  again: {command}\n  history: {self.history}"


def run(world: World, schedule: Schedule) -> Outcome:
    """Run the faults during writes, and check that the cache was correct the whole time."""
    history = History()
    mark, began = len(world.proxy.seen), time.monotonic()
    seconds, problem = 0.0, ""
    try:
        with Observer(world, history) as observer:
            try:
                _break(world, observer, history, schedule)
                seconds = converge(world, observer, history)
                requests = world.proxy.seen[mark:]
                judge(world, observer, history, requests, time.monotonic() - began)
            finally:
                world.heal()
        gc.collect()
        if observer.errors:
            raise Violation(f"errors were logged:\n{observer.errors[0]}")
    except (Violation, TimeoutError) as error:
        problem = str(error)
    requests = world.proxy.seen[mark:]
    for one in requests:
        history.note(
            "request",
            at=round(one.at - began, 2),
            verb=one.verb,
            path=one.path,
            query=dict(one.query),
            status=one.status,
        )
    lists = sum(one.verb == "list" for one in requests)
    outcome = Outcome(schedule, seconds, len(history.all("write")), lists, problem)
    return outcome if not problem else _kept(outcome, history)


def _break(world: World, observer: Observer, history: History, schedule: Schedule) -> None:
    with ExitStack() as connections:
        writers = [connections.enter_context(world.writer_connection()) for _ in range(_WRITERS)]
        with Writers(writers, TARGETS, history, schedule.seed):
            Driver(world, observer, history).run(schedule)


def _kept(outcome: Outcome, history: History) -> Outcome:
    path = _FOLDER / f"seed-{outcome.schedule.seed}.jsonl"
    history.save(path)
    return Outcome(**{**outcome.__dict__, "history": path})
