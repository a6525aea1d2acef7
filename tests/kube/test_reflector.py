"""The reflector against a scripted server: what client-go's own reflector tests cover."""

import asyncio
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
from tests.informers import bring
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeListing, FakeServer

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
        """Runs the reflector until the server has told everything and the script is used up."""
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


async def it_lists_in_batches_and_then_follows(world: World) -> None:
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
async def it_resumes_a_watch_where_it_ended(world: World, ending: ApiError | None) -> None:
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


async def it_goes_on_after_what_nobody_has_thought_of(
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
    assert "an answer was not understood" in caplog.text


async def it_takes_a_list_without_a_version_for_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `{}` is, which a proxy may answer: it does not say that everything is gone."""
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
    assert "An answer of the Kubernetes API was not understood" in world.states


async def it_counts_bookmarks(world: World) -> None:
    world.server.put("a")
    world.server.version = 90
    world.server.bookmark()
    world.server.history[:1] = []
    world.server.version = 1
    world.server.objects["a"]["metadata"]["resourceVersion"] = "1"
    world.server.endings = [None]
    async with world.following():
        assert world.server.watches == ["1", "90"]


async def it_lists_again_after_410(world: World) -> None:
    world.server.put("a")
    world.server.put("b")
    world.server.endings = [Gone(410, "expired")]
    async with world.following():
        assert world.server.lists == ["0", ""]
        assert world.names() == {"a", "b"}


async def it_lists_again_when_the_server_cannot_go_on_from_there(world: World) -> None:
    world.server.put("a")
    world.server.endings = [ServerError(500, "PrevKv=nil")] * 3
    async with world.following():
        assert world.server.lists == ["0", ""]
        assert world.server.watches == ["1"] * 4


async def it_lists_again_when_the_server_was_set_back_in_time(world: World) -> None:
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


async def it_does_not_list_again_when_the_server_only_lost_the_connection(world: World) -> None:
    world.server.put("a")
    world.server.endings = [Unavailable("reset")] * 3
    async with world.following():
        assert world.server.lists == ["0"]


async def it_sees_what_was_deleted_while_the_history_was_lost(world: World) -> None:
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


async def it_waits_as_long_as_the_server_asks(world: World) -> None:
    world.server.endings = [TooManyRequests(429, "slow down", retry_after=70.0)]
    async with world.following():
        assert max(world.clock.sleeps) == 70.0


async def it_backs_off_with_a_cap(world: World) -> None:
    world.server.list_errors = [Forbidden(403, "no") for _ in range(12)]
    async with world.following():
        pass
    assert len(world.clock.sleeps) == 12
    assert all(0.8 <= seconds <= 30 for seconds in world.clock.sleeps)
    assert sum(world.clock.sleeps[:5]) > 12
    assert min(world.clock.sleeps[-3:]) == 30


async def it_does_not_spin_on_watches_that_end_at_once(world: World) -> None:
    world.server.endings = [None] * 10
    async with world.following():
        pass
    assert sum(world.clock.sleeps) > 60


async def it_takes_up_at_once_a_watch_that_was_cut_among_changes(world: World) -> None:
    world.server.cut_after = 1
    async with world.following():
        world.clock.sleeps.clear()
        for number in range(20):
            world.server.put(f"n{number}")
        await asyncio.sleep(0)
        await world.settled()
        assert len(world.names()) == 20
        assert world.clock.sleeps == []


async def it_says_that_it_is_stale_while_it_waits_for_a_watch_that_ends_at_once(
    world: World,
) -> None:
    world.server.endings = [None] * 3
    async with world.following():
        assert any("ended the connection" in state for state in world.states)
        assert world.informer.freshness.stale_since is None


async def it_reads_the_credentials_anew_after_401(world: World) -> None:
    world.server.endings = [Unauthorized(401, "expired token")]
    async with world.following():
        assert world.server.reloads == 1


async def it_says_since_when_it_is_stale_and_why(world: World) -> None:
    world.server.put("a")
    world.server.endings = [Unavailable("gone away")] * 2
    async with world.following():
        assert "gone away" in world.states
        assert world.states[-1] == ""
        assert world.informer.freshness.synced


async def it_ignores_an_older_version_of_an_object(world: World) -> None:
    world.server.put("a", spec={"n": 1})
    world.server.put("a", spec={"n": 2})
    async with world.following():
        old = {"metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"}}
        bring(world.informer, old)
        entry = world.informer.store.get(Key("default", "a"))
        assert entry is not None
        assert entry.resource_version == "2"


async def it_goes_on_after_an_object_that_nobody_can_read(world: World) -> None:
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


async def it_takes_up_a_watch_anew_when_it_may_be_deaf(world: World) -> None:
    world.server.put("a")
    async with world.following():
        world.server.idle.clear()
        world.informer.renew()
        await world.settled()
        assert world.server.watches == ["1", "1"]
        assert world.server.lists == ["0"]
        assert world.clock.sleeps == []
        world.server.put("b")
        await asyncio.sleep(0)
        await world.settled()
        assert world.names() == {"a", "b"}


async def it_asks_anew_for_a_list_that_may_never_come(world: World) -> None:
    world.server.put("a")
    world.server.unanswered = 1
    task = asyncio.create_task(world.informer.follow({"": world.server}))
    try:
        async with asyncio.timeout(5):
            while not world.server.lists:
                await asyncio.sleep(0)
        world.informer.renew()
        await world.settled()
        assert world.server.lists == ["0", "0"]
        assert world.names() == {"a"}
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def it_is_stale_until_a_watch_that_may_be_deaf_is_open_anew(world: World) -> None:
    async with world.following():
        began = world.clock.now()
        world.informer.doubt(began)
        world.informer.renew()
        world.informer.doubt(None)
        assert world.informer.freshness.stale_since == began
        world.server.idle.clear()
        await world.settled()
        assert world.informer.freshness.stale_since is None


async def it_drops_a_listener_that_raises_and_keeps_the_others(
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
