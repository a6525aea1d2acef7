"""The timing of shared view updates on the event loop's clock."""

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


async def test_first_update_is_immediate_and_the_next_is_delayed() -> None:
    scheduler, shared_view = Scheduler(), Screen("a", [])
    scheduler.flush_seconds = 0.1
    # The first one starts between this time and the time it records, which may be late.
    asked = asyncio.get_running_loop().time()
    scheduler.schedule(shared_view)
    scheduler.schedule(shared_view)
    await shared_view.wait()
    scheduler.schedule(shared_view)
    scheduler.schedule(shared_view)
    await shared_view.wait()
    _, second = shared_view.at
    assert second - asked >= 0.099


async def test_waiting_view_does_not_delay_others() -> None:
    scheduler, order = Scheduler(), list[str]()
    scheduler.flush_seconds = 0.3
    early, late = Screen("early", order), Screen("late", order)
    scheduler.schedule(late)
    await late.wait()
    scheduler.schedule(late)
    scheduler.schedule(early)
    await early.wait()
    assert order == ["late", "early"]
    await late.wait()
    assert order == ["late", "early", "late"]


async def test_views_are_updated_one_at_a_time_in_request_order() -> None:
    scheduler, order = Scheduler(), list[str]()
    shared_views = [Screen(name, order, busy=0.01) for name in "abcde"]
    for shared_view in shared_views:
        scheduler.schedule(shared_view)
    for shared_view in shared_views:
        await shared_view.wait()
    assert order == list("abcde")
    starts = [shared_view.at[0] for shared_view in shared_views]
    # Each update took 10 ms, and the event loop was free for the same time afterwards.
    assert min(b - a for a, b in zip(starts, starts[1:], strict=False)) >= 0.018


async def test_worker_stops_when_there_is_no_work() -> None:
    scheduler, shared_view = Scheduler(), Screen("a", [])
    scheduler.schedule(shared_view)
    await shared_view.wait()
    async with asyncio.timeout(5):
        while scheduler._worker is not None:
            await asyncio.sleep(0)
    scheduler.schedule(shared_view)
    await shared_view.wait()
