"""Bulk operations are limited in concurrency, to leave capacity of the cluster for other requests."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

import pytest

from console.kube.identity import Identity
from console.views import bulk
from rbac import apply, decision_comparison
from rbac.rules import AccessQuestion
from tests.rbac.review_server import runtime

MANY = 100


class Crowd:
    """Track concurrent calls. `most` is their maximum number."""

    def __init__(self) -> None:
        self.here = self.most = 0

    async def come(self, answer: object, *_given: Any) -> Any:
        self.here += 1
        self.most = max(self.most, self.here)
        await asyncio.sleep(0)
        self.here -= 1
        return answer


async def writes(crowd: Crowd, _monkeypatch: pytest.MonkeyPatch) -> int:
    await apply.run_concurrently([partial(crowd.come, None)] * MANY)
    return apply.AT_ONCE


async def reviews(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(decision_comparison, "_review", partial(crowd.come, False))
    asked = AccessQuestion("delete", "", "pods", namespace="shop")
    known = runtime(lambda _name: False)
    await decision_comparison.compare(known, [(Identity("bob"), asked)] * MANY)
    return decision_comparison.AT_ONCE


async def actions(crowd: Crowd, _monkeypatch: pytest.MonkeyPatch) -> int:
    run = partial(crowd.come, bulk.BulkResult("web", "done"))
    found = bulk._results(run, [cast("Any", None)] * MANY)
    assert [result.outcome async for result in found] == ["done"] * MANY
    return bulk.MAX_CONCURRENT


@pytest.mark.parametrize("do", [writes, reviews, actions])
async def test_concurrency_is_limited(
    do: Callable[[Crowd, pytest.MonkeyPatch], Awaitable[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = Crowd()
    assert await do(crowd, monkeypatch) == crowd.most
