"""The queue's promises, after client-go's own tests of it."""

import asyncio

import pytest

from console.kube.workqueue import WorkQueue
from tests.kube.fakes import FakeClock


@pytest.fixture
async def queue() -> WorkQueue[str]:
    return WorkQueue(clock=FakeClock())


async def it_gives_an_item_once_however_often_it_was_added(queue: WorkQueue[str]) -> None:
    for item in "aababb":
        queue.add(item)
    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert len(queue) == 0


async def it_never_gives_out_what_is_being_worked_on(queue: WorkQueue[str]) -> None:
    queue.add("a")
    assert await queue.get() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert len(queue) == 0


async def it_wakes_who_waits(queue: WorkQueue[str]) -> None:
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await waiting == "a"


async def it_doubles_an_items_own_delay_until_forgotten(queue: WorkQueue[str]) -> None:
    delays = []
    for _ in range(6):
        delays.append(queue.add_rate_limited("a"))
        assert await queue.get() == "a"
        queue.done("a")
    assert delays[0] <= 0.01
    assert delays[-1] >= 0.16
    assert queue.add_rate_limited("b") <= 0.01
    queue.forget("a")
    assert queue.add_rate_limited("a") <= 0.01


async def it_drains_and_then_ends(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.shut_down()
    queue.add("b")
    assert await queue.get() == "a"
    assert await queue.get() is None


async def it_ends_those_who_wait(queue: WorkQueue[str]) -> None:
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.shut_down()
    assert await asyncio.gather(*waiting) == [None, None, None]
