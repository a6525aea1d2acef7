"""When screens are brought up to date, with the loop's own clock."""

import asyncio

from console.live.pacer import Pacer


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
    pacer, screen = Pacer(), Screen("a", [])
    pacer.flush_seconds = 0.1
    pacer.ask(screen)
    pacer.ask(screen)
    await screen.wait()
    pacer.ask(screen)
    pacer.ask(screen)
    await screen.wait()
    first, second = screen.at
    assert second - first >= 0.099


async def test_one_that_waits_does_not_keep_others() -> None:
    pacer, order = Pacer(), list[str]()
    pacer.flush_seconds = 0.3
    early, late = Screen("early", order), Screen("late", order)
    pacer.ask(late)
    await late.wait()
    pacer.ask(late)
    pacer.ask(early)
    await early.wait()
    assert order == ["late", "early"]
    await late.wait()
    assert order == ["late", "early", "late"]


async def test_one_after_the_other_in_the_order_they_asked() -> None:
    pacer, order = Pacer(), list[str]()
    screens = [Screen(name, order, busy=0.01) for name in "abcde"]
    for screen in screens:
        pacer.ask(screen)
    for screen in screens:
        await screen.wait()
    assert order == list("abcde")
    starts = [screen.at[0] for screen in screens]
    # Each took 10 ms, and the loop was everybody's for as long again.
    assert min(b - a for a, b in zip(starts, starts[1:], strict=False)) >= 0.018


async def test_the_worker_ends_with_the_work() -> None:
    pacer, screen = Pacer(), Screen("a", [])
    pacer.ask(screen)
    await screen.wait()
    async with asyncio.timeout(5):
        while pacer._worker is not None:
            await asyncio.sleep(0)
    pacer.ask(screen)
    await screen.wait()
