"""Guarantees of the work queue, based on client-go's tests."""

import asyncio

import pytest

from console.kube.workqueue import WorkQueue
from tests.kube.fakes import FakeClock


@pytest.fixture
async def queue() -> WorkQueue[str]:
    return WorkQueue(clock=FakeClock())


async def test_item_is_returned_once_however_often_it_was_added(queue: WorkQueue[str]) -> None:
    for item in "aababb":
        queue.add(item)
    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert len(queue) == 0


async def test_item_being_processed_is_not_returned(queue: WorkQueue[str]) -> None:
    queue.add("a")
    assert await queue.get() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_waiting_consumer_is_woken(queue: WorkQueue[str]) -> None:
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await waiting == "a"


async def test_backoff_of_an_item_doubles_until_it_is_forgotten(queue: WorkQueue[str]) -> None:
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


async def test_queue_is_drained_before_it_ends(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.shut_down()
    queue.add("b")
    assert await queue.get() == "a"
    assert await queue.get() is None


async def test_waiting_consumers_are_ended(queue: WorkQueue[str]) -> None:
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.shut_down()
    assert await asyncio.gather(*waiting) == [None, None, None]
