"""The recent-events store keeps a limited number of the newest events and drops old ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.kube.errors import Gone
from console.kube.gvr import EVENTS, Key
from console.kube.recent_events import RecentEvents, last_seen
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeServer, event, raw

START = FakeClock().now()
HOUR = timedelta(hours=1)


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def happened(name: str, seconds: float, version: int = 1, **fields: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "default", "resourceVersion": str(version)}
    return {"metadata": meta, "lastTimestamp": at(seconds), **fields}


class World:
    def __init__(self, limit: int = 3) -> None:
        self.clock = FakeClock()
        self.window: RecentEvents[generic.Generic] = RecentEvents(
            EVENTS, generic.decode, clock=self.clock, limit=limit
        )
        self.seen: list[str] = []
        self.window.add_listener(lambda key: self.seen.append(key.name))
        self.versions = 1

    def bring(self, name: str, seconds: float, kind: str = "ADDED") -> None:
        self.versions += 1
        self.window.event(event(kind, happened(name, seconds, self.versions)))

    @property
    def names(self) -> set[str]:
        return {key.name for key in self.window.store.snapshot().entries}


@pytest.fixture
def world() -> World:
    return World()


def test_oldest_event_is_dropped_at_the_limit(world: World) -> None:
    for name, seconds in (("b", 20), ("a", 10), ("c", 30), ("d", 40), ("e", 15)):
        world.bring(name, seconds)
    assert world.names == {"b", "c", "d"}
    assert world.seen == ["b", "a", "c", "d", "a", "e", "e"]


def test_order_is_by_last_occurrence(world: World) -> None:
    for name, seconds in (("a", 10), ("b", 20), ("c", 30)):
        world.bring(name, seconds)
    world.bring("a", 50, "MODIFIED")
    world.bring("d", 60)
    assert world.names == {"a", "c", "d"}


def test_events_expire_after_an_hour_without_new_events(world: World) -> None:
    world.bring("a", 0)
    world.bring("b", 600)
    world.clock.elapsed = 3601
    world.window.tidy()
    assert world.names == {"b"}
    world.clock.elapsed = 3600 + 601
    world.window.tidy()
    assert world.names == set()


def test_deletions_are_applied(world: World) -> None:
    for name in "abc":
        world.bring(name, 10)
    world.bring("b", 10, "DELETED")
    world.bring("d", 5)
    assert world.names == {"a", "c", "d"}


def test_repeated_event_does_not_grow_the_queue(world: World) -> None:
    for second in range(5_000):
        world.bring("a", second, "MODIFIED")
    assert world.names == {"a"}
    assert len(world.window._queue) < 1_100


@asynccontextmanager
async def following(world: World, server: FakeServer) -> AsyncIterator[None]:
    task = asyncio.create_task(world.window.follow({"": server}))
    try:
        async with asyncio.timeout(5):
            await server.idle.wait()
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_newest_events_of_a_list_are_kept(world: World) -> None:
    server = FakeServer()
    for number in range(50):
        server.put(f"e{number}", lastTimestamp=at(-number))
    server.put("ancient", lastTimestamp=at(-7200))
    async with following(world, server):
        assert world.names == {"e0", "e1", "e2"}
        server.put("new", lastTimestamp=at(5))
        server.drop("e1")
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await server.idle.wait()
        assert world.names == {"new", "e0"}
        server.compact()
        for number in range(10):
            server.put(f"later{number}", lastTimestamp=at(10 + number))
        server.compact()
        server.cut(Gone(410, "too old"))
        async with asyncio.timeout(5):
            while "later9" not in world.names:
                await asyncio.sleep(0)
        assert world.names == {"later7", "later8", "later9"}


def test_every_time_field_is_read() -> None:
    def seen(**fields: Any) -> datetime:
        item = {"metadata": {"name": "e", "creationTimestamp": at(1)}, **fields}
        found = last_seen(raw(item))
        assert found is not None
        assert found[0] == Key("", "e")
        return found[1]

    assert seen() == START + timedelta(seconds=1)
    assert seen(eventTime=at(2)) == START + timedelta(seconds=2)
    assert seen(lastTimestamp=at(3), eventTime=None) == START + timedelta(seconds=3)
    assert seen(series={"count": 2, "lastObservedTime": at(4)}) == START + timedelta(seconds=4)
    assert last_seen(raw({"metadata": {"name": "e"}})) == (
        Key("", "e"),
        datetime.min.replace(tzinfo=UTC),
    )
    assert last_seen(raw({"metadata": {}})) is None
