"""When shared views are brought up to date, with the loop's own clock."""

import asyncio

from console.live.scheduler import Scheduler


class Screen:
    def __init__(self, name: str, order: list[str], *, busy: float = 0.0) -> None:
        self._name = name
        self._order = order
        self._busy = busy
        self.at: list[float] = []
        self.flushed = asyncio.Event()

    async def flush(self) -> None:
        self.at.append(asyncio.get_running_loop().time())
        self._order.append(self._name)
        await asyncio.sleep(self._busy)
        self.flushed.set()

    async def wait(self) -> None:
        async with asyncio.timeout(5):
            await self.flushed.wait()
        self.flushed.clear()


async def test_at_once_and_then_not_before_its_time() -> None:
    scheduler, shared_view = Scheduler(), Screen("a", [])
    scheduler.flush_seconds = 0.1
    # The first begins somewhere between this and the moment that it notes, which may be late.
    asked = asyncio.get_running_loop().time()
    scheduler.ask(shared_view)
    scheduler.ask(shared_view)
    await shared_view.wait()
    scheduler.ask(shared_view)
    scheduler.ask(shared_view)
    await shared_view.wait()
    _, second = shared_view.at
    assert second - asked >= 0.099


async def test_one_that_waits_does_not_keep_others() -> None:
    scheduler, order = Scheduler(), list[str]()
    scheduler.flush_seconds = 0.3
    early, late = Screen("early", order), Screen("late", order)
    scheduler.ask(late)
    await late.wait()
    scheduler.ask(late)
    scheduler.ask(early)
    await early.wait()
    assert order == ["late", "early"]
    await late.wait()
    assert order == ["late", "early", "late"]


async def test_one_after_the_other_in_the_order_they_asked() -> None:
    scheduler, order = Scheduler(), list[str]()
    shared_views = [Screen(name, order, busy=0.01) for name in "abcde"]
    for shared_view in shared_views:
        scheduler.ask(shared_view)
    for shared_view in shared_views:
        await shared_view.wait()
    assert order == list("abcde")
    starts = [shared_view.at[0] for shared_view in shared_views]
    # Each took 10 ms, and the loop was everybody's for as long again.
    assert min(b - a for a, b in zip(starts, starts[1:], strict=False)) >= 0.018


async def test_the_worker_ends_with_the_work() -> None:
    scheduler, shared_view = Scheduler(), Screen("a", [])
    scheduler.ask(shared_view)
    await shared_view.wait()
    async with asyncio.timeout(5):
        while scheduler._worker is not None:
            await asyncio.sleep(0)
    scheduler.ask(shared_view)
    await shared_view.wait()
