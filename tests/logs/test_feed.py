"""Several logs as one: what ends it is told before anything that came with it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest

from console.kube.gvr import PODS
from console.logs.feed import Feed, feeding
from console.logs.following import Follower, Note
from console.logs.query import LogQuery
from console.ui.decisions import Denied


class Ending:
    """Says one thing, and then that its reader may read no more."""

    async def events(self) -> AsyncGenerator[Note, None]:
        yield Note("a line that nobody may read any more")
        # Whoever waits gathers what else comes.
        for _turn in range(5):
            await asyncio.sleep(0)
        raise Denied("get", PODS, "shop", "log")


async def test_nothing_is_handed_on_of_what_ended_while_it_was_gathered() -> None:
    async with feeding(LogQuery()) as feed:
        feed.follow(0, cast(Follower, Ending()))
        with pytest.raises(Denied):
            await feed.next()


async def test_the_end_is_told_where_nothing_came() -> None:
    feed = Feed(LogQuery())
    feed.fail(Denied("get", PODS, "shop", "log"))
    with pytest.raises(Denied):
        await feed.next()
