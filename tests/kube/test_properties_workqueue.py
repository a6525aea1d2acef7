"""The work queue behaves like a simple reference implementation for any sequence of calls."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.workqueue import WorkQueue
from tests.kube.fakes import FakeClock

_ITEMS = st.sampled_from("abcd")
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _ITEMS),
        st.tuples(st.just("take"), st.none()),
        st.tuples(st.just("done"), st.integers(0, 3)),
        st.tuples(st.just("later"), st.tuples(_ITEMS, st.integers(0, 5))),
        st.tuples(st.just("pass"), st.integers(1, 4)),
    ),
    max_size=80,
)


class HandClock(FakeClock):
    """A clock that the test advances."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((self.elapsed + seconds, future))
        await future

    async def advance(self, seconds: float) -> None:
        self.elapsed += seconds
        due = [future for at, future in self._waiting if at <= self.elapsed]
        self._waiting = [one for one in self._waiting if one[0] > self.elapsed]
        for future in due:
            if not future.done():
                future.set_result(None)
        await settle()


async def settle() -> None:
    """Let all runnable tasks continue."""
    for _ in range(5):
        await asyncio.sleep(0)


class Simple:
    """A reference implementation without regard to cost."""

    def __init__(self) -> None:
        self.now = 0
        self.queue: list[str] = []
        self.working: list[str] = []
        self.again: set[str] = set()
        self.later: dict[str, tuple[int, int]] = {}
        self._adds = 0

    def add(self, item: str) -> None:
        if item in self.working:
            self.again.add(item)
        elif item not in self.queue:
            self.queue.append(item)

    def take(self) -> str:
        self.working.append(self.queue.pop(0))
        return self.working[-1]

    def done(self, item: str) -> None:
        self.working.remove(item)
        if item in self.again:
            self.again.discard(item)
            self.queue.append(item)

    def add_after(self, item: str, seconds: int) -> None:
        self._adds += 1
        due = self.now + seconds
        if seconds == 0:
            self.add(item)
        elif item not in self.later or due < self.later[item][0]:
            self.later[item] = (due, self._adds)

    def advance(self, seconds: int) -> None:
        self.now += seconds
        for item, (due, _) in sorted(self.later.items(), key=lambda one: one[1]):
            if due <= self.now:
                del self.later[item]
                self.add(item)


async def _play(steps: list[tuple[str, Any]]) -> None:
    clock, simple = HandClock(), Simple()
    queue: WorkQueue[str] = WorkQueue(clock=clock)
    for what, value in steps:
        match what:
            case "add":
                queue.add(value)
                simple.add(value)
            case "take" if simple.queue:
                assert await queue.get() == simple.take()
            case "done" if simple.working:
                item = simple.working[value % len(simple.working)]
                queue.done(item)
                simple.done(item)
            case "later":
                queue.add_after(*value)
                simple.add_after(*value)
                await settle()
            case "pass":
                await clock.advance(value)
                simple.advance(value)
        assert len(queue) == len(simple.queue)
    await _end(queue, simple)


async def _end(queue: WorkQueue[str], simple: Simple) -> None:
    """After the shutdown, the queue returns the queued items and accepts no others."""
    queue.shut_down()
    queue.add("new")
    queue.add_after("new", 1)
    while simple.queue or simple.working:
        await settle()
        if simple.queue:
            assert await queue.get() == simple.take()
        if simple.working:
            item = simple.working[0]
            queue.done(item)
            simple.done(item)
    assert await queue.get() is None
    await settle()
    assert len(asyncio.all_tasks()) == 1


@given(_STEPS)
def test_queue_is_fair_deduplicating_and_never_concurrent_per_item(
    steps: list[tuple[str, Any]],
) -> None:
    asyncio.run(_play(steps))


async def test_backoff_doubles_per_item_and_adds_the_item_once() -> None:
    clock = HandClock()
    queue: WorkQueue[str] = WorkQueue(clock=clock)
    delays = [queue.add_rate_limited("bad") for _ in range(5)]
    assert all(0.005 * 2**n <= delay <= 0.01 * 2**n for n, delay in enumerate(delays))
    assert queue.add_rate_limited("good") <= 0.01
    await settle()
    await clock.advance(0.01)
    taken = [await queue.get() for _ in range(len(queue))]
    assert sorted(map(str, taken)) == ["bad", "good"]
    for item in ("bad", "good"):
        queue.done(item)
    await clock.advance(10)
    assert len(queue) == 0
    queue.shut_down()
    await settle()
