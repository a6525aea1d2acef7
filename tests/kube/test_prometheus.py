"""Usage history from a fake Prometheus server: valid, slow, oversized and invalid responses."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from console.kube.metrics_server import UsageProblem
from console.kube.prometheus import FRESH, HistoryResult, Prometheus
from console.kube.usage_history import KEPT, UsageHistory
from tests.kube.fakes import FakeClock

DAY = 86_400
TestServer.__test__ = False


class Told:
    """A fake server. `answer` is the next response, `asked` contains the queries so far."""

    def __init__(self) -> None:
        self.answer: Any = []
        self.asked: list[dict[str, str]] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(dict(request.query))
        if isinstance(self.answer, web.StreamResponse):
            return self.answer
        if isinstance(self.answer, float):
            await asyncio.sleep(self.answer)
        if isinstance(self.answer, bytes):
            return web.Response(body=self.answer)
        values = self.answer if isinstance(self.answer, list) else []
        result = [{"metric": {}, "values": values}] if values else []
        return web.json_response({"status": "success", "data": {"result": result}})


@pytest_asyncio.fixture
async def told() -> AsyncIterator[Told]:
    found = Told()
    application = web.Application()
    application.router.add_get("/api/v1/query_range", found.handle)
    async with TestServer(application) as server:
        found.url = str(server.make_url("/"))
        yield found


def start_of(clock: FakeClock) -> int:
    return int(clock.now().timestamp()) - (DAY // KEPT) * (KEPT - 1)


async def test_missing_steps_become_gaps(told: Told) -> None:
    clock = FakeClock()
    start, step = start_of(clock), DAY // KEPT
    told.answer = [[start, "1.5"], [start + 2 * step, "2"], [start + 3 * step, "NaN"]]
    told.answer += [[start - 1, "7"], [start + 10**9, "7"], [start + 4 * step, "-1"]]
    past = await Prometheus(told.url, clock).usage_history(None, seconds=DAY)
    assert past.problem is None
    assert len(past.history.cpu) == KEPT
    known = {at: value for at, value in enumerate(past.history.cpu) if not math.isnan(value)}
    assert known == {0: 1.5, 2: 2.0}
    assert {asked["step"] for asked in told.asked} == {str(step)}


async def test_a_changed_address_is_used_for_the_next_query(told: Told) -> None:
    addresses = ["http://127.0.0.1:9"]
    prometheus = Prometheus(lambda: addresses[-1], FakeClock())
    assert (await prometheus.usage_history(None, seconds=DAY)).problem is not None
    addresses.append(f"{told.url}/")
    assert (await prometheus.usage_history(None, seconds=DAY)).problem is None
    assert len(told.asked) == 2


async def test_query_is_limited_to_the_namespaces(told: Told) -> None:
    prometheus = Prometheus(told.url, FakeClock())
    await prometheus.usage_history({"shop", "team-a", 'x"} or vector(1) #', "UP"}, seconds=DAY)
    queries = [asked["query"] for asked in told.asked]
    assert all('{container!="",namespace=~"shop|team-a"}' in query for query in queries)
    assert await prometheus.usage_history({'"'}, seconds=DAY) == HistoryResult()
    assert await prometheus.usage_history(set(), seconds=DAY) == HistoryResult()
    assert len(told.asked) == len(queries) == 2


async def test_identical_queries_are_cached(told: Told) -> None:
    clock = FakeClock()
    prometheus = Prometheus(told.url, clock)
    for _ in range(3):
        await prometheus.usage_history({"shop"}, seconds=DAY)
    assert len(told.asked) == 2
    await prometheus.usage_history({"team-a"}, seconds=DAY)
    assert len(told.asked) == 4
    clock.elapsed += FRESH
    await prometheus.usage_history({"shop"}, seconds=DAY)
    assert len(told.asked) == 6


async def test_empty_result_is_an_empty_history(told: Told) -> None:
    past = await Prometheus(told.url, FakeClock()).usage_history(None, seconds=DAY)
    assert past.problem is None
    assert all(math.isnan(value) for value in past.history.cpu)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"<html>", UsageProblem.UNREADABLE),
        (b"[" * 10_000, UsageProblem.UNREADABLE),
        (b"\xff\xfe", UsageProblem.UNREADABLE),
        (
            json.dumps({"data": {"result": [{"values": [[0, "many"]]}]}}).encode(),
            UsageProblem.UNREADABLE,
        ),
        (b" " * (1024 * 1024 + 1), UsageProblem.UNREADABLE),
        (web.Response(status=500), UsageProblem.UNAVAILABLE),
        (60.0, UsageProblem.UNAVAILABLE),
    ],
    ids=["html", "deep", "no utf-8", "no number", "too much", "error", "late"],
)
async def test_problem_is_reported(
    told: Told, monkeypatch: pytest.MonkeyPatch, answer: Any, problem: UsageProblem
) -> None:
    if isinstance(answer, float):
        monkeypatch.setattr("console.kube.prometheus.TIMEOUT", 0.05)
    told.answer = answer
    past = await Prometheus(told.url, FakeClock()).usage_history(None, seconds=DAY)
    assert past == HistoryResult(UsageHistory(), problem)


async def test_redirects_are_not_followed(told: Told) -> None:
    told.answer = web.Response(status=302, headers={"Location": "/elsewhere"})
    past = await Prometheus(told.url, FakeClock()).usage_history(None, seconds=DAY)
    assert past.problem is UsageProblem.UNREADABLE
    assert len(told.asked) == 1


async def test_unreachable_server_is_reported() -> None:
    past = await Prometheus("http://127.0.0.1:9", FakeClock()).usage_history(None, seconds=DAY)
    assert past.problem is UsageProblem.UNAVAILABLE
