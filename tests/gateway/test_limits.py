"""Limits of requests: users are served in turn, and waiting has an end."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from console.gateway.errors import Refusal
from console.gateway.limits import FairSlots, LongRequests


async def test_a_user_with_many_requests_does_not_delay_others() -> None:
    slots, order = FairSlots(total=1, user=1), list[str]()
    release = asyncio.Event()

    async def ask(user: str) -> None:
        async with slots.slot(user):
            order.append(user)
            await release.wait()
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(ask("busy")) for _ in range(5)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(ask(one)) for one in ("calm", "quiet")]
    await asyncio.sleep(0)
    release.set()
    await asyncio.gather(*tasks)
    assert order == ["busy", "busy", "calm", "quiet", "busy", "busy", "busy"]


async def test_a_user_has_a_limit_while_slots_are_free() -> None:
    slots = FairSlots(total=10, user=2)
    async with slots.slot("ann"), slots.slot("ann"):
        with pytest.raises(Refusal) as refused:
            async with slots.slot("ann", seconds=0.01):
                pass
        async with slots.slot("bob", seconds=0.01):
            pass
    assert (refused.value.code, refused.value.headers) == (429, [(b"retry-after", b"1")])
    async with slots.slot("ann", seconds=0.01):
        pass


async def test_the_queue_of_a_user_is_bounded() -> None:
    slots = FairSlots(total=1, user=1, waiting=1)
    async with slots.slot("ann"):
        waiting = asyncio.create_task(_hold(slots, "ann"))
        await asyncio.sleep(0)
        with pytest.raises(Refusal):
            await _hold(slots, "ann")
    await waiting


async def test_a_cancelled_request_leaves_the_queue() -> None:
    slots = FairSlots(total=1, user=1)
    async with slots.slot("ann"):
        waiting = [asyncio.create_task(_hold(slots, "bob")) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    await waiting[1]
    await _hold(slots, "bob")
    assert waiting[0].cancelled()


async def _hold(slots: FairSlots, user: str) -> None:
    async with slots.slot(user, seconds=5):
        pass


async def test_long_requests_are_counted() -> None:
    long = LongRequests(total=3, user=2)
    async with AsyncExitStack() as stack:
        for user in ("ann", "ann", "bob"):
            await stack.enter_async_context(long.slot(user))
        for user in ("ann", "bob"):
            with pytest.raises(Refusal):
                await stack.enter_async_context(long.slot(user))
    async with long.slot("ann"):
        pass
