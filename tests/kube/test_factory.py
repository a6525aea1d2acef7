"""Kinds start at their first use, stop when nobody uses them, and are never served stale in silence."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from console.kube.factory import BROKEN, IDLED, Factory, UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Informer
from tests.kube.factories import IDLE, OTHERS, THINGS, Planner, World, live, names, until
from tests.kube.fakes import FakeClock


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with World.open() as world:
        yield world


async def it_starts_at_the_first_use_and_only_then(world: World) -> None:
    assert world.factory.informers() == {}
    informer = await world.settled()
    assert names(informer) == {"a"}
    assert world.factory.get(THINGS) is informer
    assert world.factory.informers() == {THINGS: informer}
    assert world.server.lists == ["0"]


async def it_stops_what_nobody_has_used(world: World) -> None:
    informer = await world.settled()
    await world.idle(IDLE - 1)
    assert world.factory.informers()
    await world.idle(1)
    assert world.factory.informers() == {}
    freshness = informer.freshness
    assert (freshness.stale_since, freshness.problem) == (world.clock.now(), IDLED)
    world.server.put("later")
    await asyncio.sleep(0)
    assert names(informer) == {"a"}


async def it_stays_with_each_use(world: World) -> None:
    await world.settled()
    for _ in range(3):
        await world.idle(IDLE - 1)
        world.factory.get(THINGS)
    assert world.factory.informers()


async def it_starts_anew_with_a_fresh_list(world: World) -> None:
    old = await world.settled()
    await world.idle()
    world.server.put("b")
    world.server.drop("a")
    new = await world.settled()
    assert new is not old
    assert names(new) == {"b"}
    assert old.freshness.stale_since is not None
    assert world.server.lists == ["0", "0"]


async def it_stays_for_its_listeners_and_counts_from_when_they_left(world: World) -> None:
    informer = await world.settled()
    remove = informer.add_listener(lambda _key: None)
    await world.idle(10 * IDLE)
    assert live(informer)
    remove()
    await world.idle(IDLE - 1)
    assert live(informer)
    await world.idle(1)
    assert not live(informer)


async def it_stays_when_it_is_kept(world: World) -> None:
    informer = world.factory.keep(THINGS)
    await world.idle(10 * IDLE)
    assert world.factory.get(THINGS) is informer


async def it_is_not_kept_by_the_core_itself(world: World) -> None:
    await world.settled(OTHERS)
    world.builder.servers[OTHERS].put("x")
    await until(lambda: world.noted == ["x"])
    await world.idle()
    assert world.factory.informers() == {}


async def it_tells_the_listeners_that_come_too_late(world: World) -> None:
    informer = await world.settled()
    await world.idle()
    informer.add_listener(lambda _key: None)
    assert informer.freshness.problem == IDLED


async def it_ends_what_was_stopped_before_it_ran(world: World) -> None:
    informer = world.factory.get(THINGS)
    await world.idle()
    assert informer.freshness.problem == IDLED
    assert world.server.lists == []


async def it_leaves_nothing_behind(world: World) -> None:
    """Not even for the collector, from whose sight a first list is taken."""
    gc.disable()
    try:
        informer = weakref.ref(await world.settled())
        await world.idle()
        await until(lambda: not world.tasks)
        assert informer() is None
    finally:
        gc.enable()


async def it_shows_an_error_of_our_own_and_tries_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.builder.errors = [RuntimeError("a bug")]
    states: list[str] = []
    informer = world.factory.get(THINGS)
    informer.add_listener(lambda _key: None, lambda: states.append(informer.freshness.problem))
    await world.settled()
    assert states[0] == BROKEN
    assert "a bug" in caplog.text
    assert names(informer) == {"a"}


async def it_knows_no_kind_that_the_planner_does_not(world: World) -> None:
    with pytest.raises(UnknownKind):
        world.factory.get(GVR("", "v1", "strangers"))


async def it_starts_once_for_two_who_use_it_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = world.builder.make
    other: list[Informer[Any]] = []

    def slow(gvr: GVR) -> Informer[Any]:
        """While one makes an informer, another does so too, and is done first."""
        if not other:
            monkeypatch.setattr(world.builder, "make", make)
            other.append(world.factory.get(gvr))
        return make(gvr)

    monkeypatch.setattr(world.builder, "make", slow)
    assert world.factory.get(THINGS) is other[0]
    assert len(world.tasks) == 1


async def it_never_hands_out_what_is_being_stopped() -> None:
    """Many threads use a kind while another stops whatever is idle, which here is everything."""
    clock = FakeClock()
    builder = Planner(clock)
    loop = asyncio.get_running_loop()
    tasks: list[Future[None]] = []

    def spawn(coroutine: Coroutine[Any, Any, None]) -> None:
        tasks.append(asyncio.run_coroutine_threadsafe(coroutine, loop))

    factory = Factory(builder, spawn, clock, idle=1.0)
    stop = Event()

    def use() -> int:
        wrong = 0
        while not stop.is_set():
            informer = factory.get(THINGS)
            # What is stopped is not among those that are followed, and no new use gets it.
            wrong += bool(informer.freshness.problem) and factory.get(THINGS) is informer
        return wrong

    with ThreadPoolExecutor(4) as pool:
        futures = [loop.run_in_executor(pool, use) for _ in range(4)]
        async with asyncio.timeout(20):
            while len(builder.made) < 20:
                clock.elapsed += 1.0
                factory.sweep()
                await asyncio.sleep(0)
        stop.set()
        assert [await future for future in futures] == [0, 0, 0, 0]
    assert live(await _settled(factory))
    for task in tasks:
        task.cancel()
    await asyncio.sleep(0)


async def _settled(factory: Factory) -> Informer[Any]:
    informer = factory.get(THINGS)
    await until(lambda: live(informer))
    return informer
