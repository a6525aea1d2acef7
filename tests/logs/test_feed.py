"""Merging of several logs: an error takes precedence over lines received together with it."""

import asyncio
from typing import cast

import pytest

from console.kube.gvr import PODS
from console.logs.following import Emit, Follower, FollowNote
from console.logs.merged_feed import Feed, feeding
from console.logs.query import LogQuery
from console.ui.core.permissions import Denied


class Ending:
    """A log that returns one line and then raises Denied."""

    async def run(self, emit: Emit) -> None:
        await emit(FollowNote("a line that nobody may read any more"))
        # The reader collects further lines for a moment.
        for _turn in range(5):
            await asyncio.sleep(0)
        raise Denied("get", PODS, "shop", "log")


async def test_lines_gathered_before_a_denial_are_not_passed_on() -> None:
    async with feeding(LogQuery()) as feed:
        feed.follow(0, cast(Follower, Ending()))
        with pytest.raises(Denied):
            await feed.next()


async def test_denial_is_raised_if_no_line_arrived() -> None:
    feed = Feed(LogQuery())
    feed.fail(Denied("get", PODS, "shop", "log"))
    with pytest.raises(Denied):
        await feed.next()
