"""The reflector with a scripted server, covering the cases of client-go's reflector tests."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from console.kube.errors import (
    ApiError,
    Forbidden,
    Gone,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.liststream import ListMeta
from console.kube.listwatch import WatchEvent
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeListing, FakeServer
from tests.support.informers import bring

THINGS = GVR("", "v1", "things")


class World:
    def __init__(self) -> None:
        self.server = FakeServer()
        self.clock = FakeClock()
        self.informer = Informer(THINGS, generic.decode, clock=self.clock)
        self.seen: list[str] = []
        self.states: list[str] = []
        self.informer.add_listener(
            lambda key: self.seen.append(key.name),
            lambda: self.states.append(self.informer.freshness.problem),
        )

    def names(self) -> set[str]:
        return {key.name for key in self.informer.store.snapshot().entries}

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Run the reflector until the server has sent all events and the script is exhausted."""
        task = asyncio.create_task(self.informer.follow({"": self.server}))
        try:
            await self.settled()
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def settled(self) -> None:
        async with asyncio.timeout(5):
            while self.server.endings or self.server.list_errors:
                await asyncio.sleep(0)
            await self.server.idle.wait()


@pytest.fixture
async def world() -> World:
    return World()


async def test_list_is_read_in_batches_and_then_watched(world: World) -> None:
    for name in "abcde":
        world.server.put(name)
    async with world.following():
        assert world.names() == set("abcde")
        assert world.server.lists == ["0"]
        world.server.put("f")
        world.server.drop("a")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == set("bcdef")
        assert world.server.watches == ["5"]
        assert world.informer.freshness.stale_since is None


@pytest.mark.parametrize(
    "ending",
    [
        None,
        Unavailable("reset"),
        ServerError(500, "broken"),
        TooManyRequests(429, "slow down", retry_after=7.0),
        Forbidden(403, "no"),
    ],
)
async def test_watch_is_resumed_at_its_last_version(world: World, ending: ApiError | None) -> None:
    world.server.put("a")
    world.server.endings = [ending]
    async with world.following():
        world.server.put("b")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "b"}
        assert world.server.lists == ["0"]
        assert world.server.watches == ["1", "1"]
        assert world.informer.freshness.stale_since is None


async def test_reflector_continues_after_an_unexpected_error(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.put("a")
    world.server.endings = [KeyError("odd")]
    async with world.following():
        world.server.put("b")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "b"}
        assert world.informer.freshness.stale_since is None
    assert "unexpected error" in caplog.text


async def test_list_without_a_version_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as `{}` from a proxy, which must not be taken for an empty list."""
    world.server.put("a")
    lists, names = world.server.list, []

    @asynccontextmanager
    async def list_(resource_version: str) -> AsyncIterator[FakeListing]:
        async with lists(resource_version) as found:
            odd = len(world.server.lists) == 2
            yield FakeListing([], ListMeta("")) if odd else found
        names.append(world.names())

    monkeypatch.setattr(world.server, "list", list_)
    world.server.endings = [Gone(410, "expired")]
    async with world.following():
        assert len(world.server.lists) == 3
        assert world.names() == {"a"}
    assert set() not in names[1:]
    assert "The response from the Kubernetes API could not be parsed" in world.states


async def test_bookmarks_advance_the_version(world: World) -> None:
    world.server.put("a")
    world.server.version = 90
    world.server.bookmark()
    world.server.history[:1] = []
    world.server.version = 1
    world.server.objects["a"]["metadata"]["resourceVersion"] = "1"
    world.server.endings = [None]
    async with world.following():
        assert world.server.watches == ["1", "90"]


async def test_expired_version_causes_a_relist(world: World) -> None:
    world.server.put("a")
    world.server.put("b")
    world.server.endings = [Gone(410, "expired")]
    async with world.following():
        assert world.server.lists == ["0", ""]
        assert world.names() == {"a", "b"}


async def test_repeated_server_errors_cause_a_relist(world: World) -> None:
    world.server.put("a")
    world.server.endings = [ServerError(500, "PrevKv=nil")] * 3
    async with world.following():
        assert world.server.lists == ["0", ""]
        assert world.server.watches == ["1"] * 4


async def test_restored_server_causes_a_relist(world: World) -> None:
    for name in "abc":
        world.server.put(name)
    world.server.endings = [Unavailable("reset")]
    async with world.following():
        assert world.server.lists == ["0"]
        world.server.restore({"a": 1})
        world.server.cut(Unavailable("reset"))
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a"}
        assert world.server.lists == ["0", ""]
        world.server.put("d")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "d"}


async def test_lost_connection_does_not_cause_a_relist(world: World) -> None:
    world.server.put("a")
    world.server.endings = [Unavailable("reset")] * 3
    async with world.following():
        assert world.server.lists == ["0"]


async def test_deletions_during_a_lost_history_are_noticed(world: World) -> None:
    world.server.put("a")
    world.server.put("b")
    async with world.following():
        pass
    world.server.drop("a")
    world.server.compact()
    world.server.idle.clear()
    world.seen.clear()
    async with world.following():
        assert world.names() == {"b"}
        assert "a" in world.seen


async def test_retry_after_is_respected(world: World) -> None:
    world.server.endings = [TooManyRequests(429, "slow down", retry_after=70.0)]
    async with world.following():
        assert max(world.clock.sleeps) == 70.0


async def test_backoff_grows_up_to_a_limit(world: World) -> None:
    world.server.list_errors = [Forbidden(403, "no") for _ in range(12)]
    async with world.following():
        pass
    assert len(world.clock.sleeps) == 12
    assert all(0.8 <= seconds <= 30 for seconds in world.clock.sleeps)
    assert sum(world.clock.sleeps[:5]) > 12
    assert min(world.clock.sleeps[-3:]) == 30


async def test_watches_that_end_immediately_are_delayed(world: World) -> None:
    world.server.endings = [None] * 10
    async with world.following():
        pass
    assert sum(world.clock.sleeps) > 60


async def test_watch_interrupted_during_changes_is_resumed_immediately(world: World) -> None:
    world.server.cut_after = 1
    async with world.following():
        world.clock.sleeps.clear()
        for number in range(20):
            world.server.put(f"n{number}")
        await asyncio.sleep(0)
        await world.settled()
        assert len(world.names()) == 20
        assert world.clock.sleeps == []


async def test_informer_is_stale_while_waiting_for_a_watch_that_ended_immediately(
    world: World,
) -> None:
    world.server.endings = [None] * 3
    async with world.following():
        assert any("closed the connection" in state for state in world.states)
        assert world.informer.freshness.stale_since is None


async def test_credentials_are_reloaded_after_401(world: World) -> None:
    world.server.endings = [Unauthorized(401, "expired token")]
    async with world.following():
        assert world.server.reloads == 1


async def test_staleness_is_reported_with_time_and_reason(world: World) -> None:
    world.server.put("a")
    world.server.endings = [Unavailable("gone away")] * 2
    async with world.following():
        assert "gone away" in world.states
        assert world.states[-1] == ""
        assert world.informer.freshness.synced


async def test_older_version_of_an_object_is_ignored(world: World) -> None:
    world.server.put("a", spec={"n": 1})
    world.server.put("a", spec={"n": 2})
    async with world.following():
        old = {"metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"}}
        bring(world.informer, old)
        entry = world.informer.store.get(Key("default", "a"))
        assert entry is not None
        assert entry.resource_version == "2"


async def test_undecodable_object_is_skipped(world: World) -> None:
    deep = b"[" * 9000 + b"]" * 9000
    text = b'{"metadata":{"name":"deep","namespace":"default","resourceVersion":"3"},"x":%b}' % deep
    async with world.following():
        world.server.put("a")
        world.server.tell(WatchEvent("ADDED", msgspec.Raw(text)))
        world.server.put("b")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "b"}
        assert world.informer.store.undecodable == 1
        assert len(world.server.watches) == 1


async def test_possibly_dead_watch_is_reopened(world: World) -> None:
    world.server.put("a")
    async with world.following():
        world.server.idle.clear()
        world.informer.restart_watches()
        await world.settled()
        assert world.server.watches == ["1", "1"]
        assert world.server.lists == ["0"]
        assert world.clock.sleeps == []
        world.server.put("b")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "b"}


async def test_possibly_dead_list_is_repeated(world: World) -> None:
    world.server.put("a")
    world.server.unanswered = 1
    task = asyncio.create_task(world.informer.follow({"": world.server}))
    try:
        async with asyncio.timeout(5):
            while not world.server.lists:
                await asyncio.sleep(0)
        world.informer.restart_watches()
        await world.settled()
        assert world.server.lists == ["0", "0"]
        assert world.names() == {"a"}
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_informer_is_stale_until_a_possibly_dead_watch_is_reopened(world: World) -> None:
    async with world.following():
        began = world.clock.now()
        world.informer.set_unresponsive_since(began)
        world.informer.restart_watches()
        world.informer.set_unresponsive_since(None)
        assert world.informer.freshness.stale_since == began
        world.server.idle.clear()
        await world.settled()
        assert world.informer.freshness.stale_since is None


async def test_raising_listener_is_removed_and_others_are_kept(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[Key] = []

    def broken(key: Key) -> None:
        calls.append(key)
        raise RuntimeError("listener bug")

    world.informer.add_listener(broken)
    heard: list[str] = []
    world.informer.add_listener(lambda key: heard.append(key.name))
    async with world.following():
        for name in "abc":
            world.server.put(name)
        await asyncio.sleep(0)
        await world.settled()
    assert len(calls) == 1
    assert heard == ["a", "b", "c"]
    assert "listener bug" in caplog.text


async def test_persistent_error_is_a_warning_only_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.list_errors = [Forbidden(403, "no") for _ in range(5)]
    async with world.following():
        assert world.informer.freshness.synced
    assert len([one for one in caplog.records if one.levelno >= logging.WARNING]) == 1
