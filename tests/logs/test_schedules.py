"""Random schedules of a crashing container, its kubelet and its pod status: each line arrives once
or is reported as possibly missing, even across reconnects of the browser.

`test_on_a_node` tests the same with a real kubelet, whose timing can't be controlled. The event
loop here uses simulated time, so a minute takes milliseconds.
"""

import asyncio
import selectors
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from console.kube.errors import BadRequest
from console.kube.gvr import Key
from console.logs import following, runs
from console.logs.access import ContainerLog, LogViewer
from console.logs.following import NEW_POD_RUNS, FollowedLines, Follower, FollowNote, LogPosition
from console.logs.query import LogQuery
from tests.support.depth import SEED, number

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
#: Seconds after which everything has been reported and read.
ENOUGH = 90.0
#: The end of a run that doesn't end.
NEVER = 1e9


class _Clock(selectors.SelectSelector):
    """A selector that advances the clock instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        self.now += 0 if ready else timeout or 0
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Clock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


@dataclass(frozen=True)
class Run:
    """A container run. `lines` contains the times of its lines and their numbers across all runs."""

    begin: float
    end: float
    lines: Sequence[tuple[float, int]]


@dataclass(frozen=True)
class State:
    """A container state from a point in time. `phase` is the status value, "" before the first run."""

    at: float
    phase: str = ""
    number: int = 0

    def status(self) -> dict[str, Any]:
        before = ended(self.number - 1) if self.number else {}
        found = {"name": "a", "restartCount": self.number, "lastState": before}
        match self.phase:
            case "running":
                return {**found, "state": {"running": {}}, "containerID": f"c://{self.number}"}
            case "terminated":
                return {**found, "state": ended(self.number), "containerID": f"c://{self.number}"}
            case "waiting":
                return {**found, "state": {"waiting": {}}, "lastState": ended(self.number)}
        return {**found, "state": {"waiting": {}}}


def ended(number: int) -> dict[str, Any]:
    return {"terminated": {"containerID": f"c://{number}", "exitCode": 3}}


class Container:
    """A container with its history of runs.

    `known` is the kubelet's view, which is late and incomplete. `told` is the pod status, which
    is later still. With `calm`, delays are near zero. The class also replaces the cluster's pods
    and the hub for the follower.
    """

    def __init__(self, rng: Random, *, calm: bool) -> None:
        self.rng, self.calm = rng, calm
        self.runs = [*self._runs(rng.randint(2, 6), rng.randint(1, 5))]
        self.known = [*self._later(self._states(), 0 if calm else rng.choice([0, 0.05, 0.3, 1]))]
        self.told = [*self._later(self.known, 0.01 if calm else rng.choice([0.01, 0.3, 1, 3]))]
        # Log files kept besides that of the last run.
        self._keeps = 1 if calm else rng.choice([0, 1, 1, 1, 2])
        self.store = self

    def _runs(self, many: int, each: int) -> Iterator[Run]:
        begin, numbers = self.rng.uniform(0, 1), count()
        for left in reversed(range(many)):
            takes = 1.5 if self.calm else self.rng.choice([0.001, 0.01, 0.3, 1.5])
            moments = sorted(begin + self.rng.uniform(0, takes) for _ in range(each))
            end = begin + takes if left else NEVER
            yield Run(begin, end, [*zip(moments, numbers, strict=False)])
            begin = end + (2 if self.calm else self.rng.choice([0.002, 0.05, 0.5, 2]))

    def _states(self) -> Iterator[State]:
        yield State(0)
        for at, run in enumerate(self.runs):
            yield State(run.begin, "running", at)
            if run.end < NEVER:
                yield State(run.end, "terminated", at)
                yield State(run.end + 0.001, "waiting", at)

    def _later(self, states: Iterable[State], lag: float) -> Iterator[State]:
        """Delay the states by up to `lag`. Of states that become visible at the same time, only the
        last remains.
        """
        beat, last = 0.001 if self.calm else self.rng.choice([0.001, 0.2, 1]), 0.0
        found = []
        for state in states:
            at = state.at + self.rng.uniform(0, lag) if state.phase else 0
            last = max(last, at - at % beat + beat if at else 0)
            found.append(State(last, state.phase, state.number))
        yield from (one for one, then in pairwise(found) if then.at > one.at)
        yield found[-1]

    def now(self, states: Sequence[State]) -> State:
        time = asyncio.get_running_loop().time()
        return [one for one in states if one.at <= time][-1]

    def changes(self, within: float) -> bool:
        """Return True if a run starts or ends within `within` seconds from now."""
        now = asyncio.get_running_loop().time()
        return any(abs(at - now) < within for run in self.runs for at in (run.begin, run.end))

    def log(self, *, previous: bool) -> tuple[Run, bool]:
        """Return the log's run and whether its file exists."""
        state = self.now(self.known)
        at = state.number - (previous and state.phase != "waiting")
        if not state.phase or at < 0:
            raise BadRequest(400, "waiting to start")
        begun = sum(run.begin <= asyncio.get_running_loop().time() for run in self.runs)
        return self.runs[at], at + 1 + self._keeps >= begun

    # Replaces the cluster's pods.

    def informer(self, _gvr: object) -> "Container":
        return self

    def get(self, _key: Key) -> Any:
        pod = {"status": {"containerStatuses": [self.now(self.told).status()]}}
        return SimpleNamespace(original=lambda: pod)

    # Replaces the hub.

    def subscribe(self, _informer: object, slot: Any) -> Callable[[], None]:
        loop = asyncio.get_running_loop()
        # The loop may call back slightly early.
        moments = [one.at + 0.0001 for one in self.told if one.at > loop.time()]
        calls = [loop.call_at(moment, slot.overflow) for moment in moments]

        def end() -> None:
            for call in calls:
                call.cancel()

        return end


class Stream:
    """A log as returned by a kubelet. It ends up to five seconds after its container."""

    def __init__(self, container: Container, params: Iterable[tuple[str, str]]) -> None:
        self._container, self._params = container, dict(params)
        self._over = asyncio.Event()

    @property
    def closing(self) -> bool:
        return self._over.is_set()

    async def open(self) -> None:
        await self._takes(0.01, *(() if self._container.calm else (0.01, 0.2, 0.8)))
        since = self._params.get("sinceTime", "")[:19]
        run, there = self._container.log(previous="previous" in self._params)
        late = self._container.rng.uniform(0, 5)
        self._end = run.end + late if there and "follow" in self._params else 0
        self._lines = [one for one in run.lines if there and stamp(one[0])[:19] >= since]
        self._told = b"" if there else b"unable to retrieve container logs"
        await self._takes(0.01)

    async def _takes(self, *seconds: float) -> None:
        await asyncio.sleep(self._container.rng.uniform(0.001, self._container.rng.choice(seconds)))

    def close_soon(self) -> None:
        self._over.set()

    async def close(self) -> None:
        self._over.set()

    async def read(self) -> bytes:
        time = asyncio.get_running_loop().time
        while not self._over.is_set():
            now = [one for one in self._lines if one[0] <= time()]
            if now or self._told:
                self._lines = self._lines[len(now) :]
                text, self._told = self._told, b""
                await asyncio.sleep(0)
                return text or "".join(f"{stamp(at)} {line}\n" for at, line in now).encode()
            if time() >= self._end:
                return b""
            next_at = self._lines[0][0] if self._lines else self._end
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_at):
                    await self._over.wait()
        return b""


def stamp(at: float) -> str:
    return f"{BEGIN + timedelta(seconds=int(at)):%Y-%m-%dT%H:%M:%S}.{at % 1 * 1e9:09.0f}Z"


def follower(container: Container, query: LogQuery, at: LogPosition | None = None) -> Follower:
    viewer = SimpleNamespace(
        cluster=SimpleNamespace(runtime=container), order=lambda _wanted, params: params
    )
    return Follower(
        cast("LogViewer", viewer), ContainerLog(Key("default", "p"), "a", "p"), query, at
    )


class Browser:
    """The lines received from a log. `first` is the run reported by the pod status when the first
    log with lines was opened.
    """

    def __init__(self, container: Container, query: LogQuery) -> None:
        self._container, self._query = container, query
        self._at: LogPosition | None = None
        self.first = 0
        self.lines: list[int] = []
        self.notes: list[str] = []

    async def read(self, rng: Random) -> None:
        """Read from a random time on, with some disconnects unless `calm`."""
        await asyncio.sleep(
            rng.uniform(0, rng.choice([0.5, 2, self._container.runs[-1].begin + 1]))
        )
        # If a run ends while its log is opened, it is unknown whether the log belongs to the
        # reported run or to a later one, so possibly missing lines are reported.
        while self._container.calm and self._container.changes(within=0.1):
            await asyncio.sleep(0.1)
        for _ in range(0 if self._container.calm else rng.choice([0, 0, 1, 2])):
            await self._follow(rng.uniform(0.01, 4))
            await asyncio.sleep(rng.choice([0.01, 1, 5]))
        await self._follow(ENOUGH)

    async def _follow(self, seconds: float) -> None:
        if self._at is None:
            self.first = self._container.now(self._container.told).number
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await follower(self._container, self._query, self._at).run(self._take)

    async def _take(self, event: FollowedLines | FollowNote) -> None:
        if isinstance(event, FollowedLines):
            self.lines += [int(line.text) for line, _level in event.lines]
            self._at = event.position
        else:
            self.notes.append(event.text)


@pytest.mark.parametrize("seed", range(number(300, 5000)))
@pytest.mark.parametrize("calm", [False, True])
def test_each_line_arrives_once_or_is_reported_as_missing(
    seed: int, calm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the pod status is on time, missing lines are reported only if a line is missing."""
    rng = Random(f"{SEED} {seed}")  # noqa: S311
    container = Container(rng, calm=calm)
    query = LogQuery(container="a", tail=rng.choice([None, 500, 500]))
    browser = Browser(container, query)
    monkeypatch.setattr(following, "ResponseStream", lambda order, _over: Stream(container, order))
    monkeypatch.setattr(runs, "get_hub", lambda: container)
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(browser.read(rng))
    assert browser.lines == sorted({*browser.lines})
    whole = query.tail is None and browser.first < NEW_POD_RUNS
    due = [line for run in container.runs[0 if whole else browser.first :] for _, line in run.lines]
    assert browser.lines[-1:] == due[-1:]
    all_came, missing = {*due} <= {*browser.lines}, browser.notes.count(str(following.LOST))
    assert bool(missing) != all_came if calm else missing or all_came
    assert missing <= 2 * len(container.runs)


async def test_reader_waits_for_a_log_that_is_being_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the half-open log would be closed and its first lines lost."""
    found = follower(Container(Random(SEED), calm=True), LogQuery(container="a"))  # noqa: S311
    begun, may = asyncio.Event(), asyncio.Event()
    stream = SimpleNamespace(close_soon=lambda: None)
    first, second = (
        following._OpenRun(cast("Any", stream), runs.ContainerRun(str(one), one), None, 0.0)
        for one in (1, 2)
    )

    async def opened(_last: runs.ContainerRun) -> following._OpenRun:
        begun.set()
        await may.wait()
        found._ahead.append(second)
        return second

    monkeypatch.setattr(found, "_open", opened)
    monkeypatch.setattr(found._runs, "last", lambda: second.run)
    monkeypatch.setattr(found._runs, "changed", partial(asyncio.sleep, 0))
    looking = asyncio.create_task(found._look_ahead(first))
    await begun.wait()
    more = asyncio.create_task(found._more(looking))
    await asyncio.sleep(0)
    assert not more.done()
    may.set()
    assert await more
    looking.cancel()
