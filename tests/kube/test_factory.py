"""Informers start at their first use, stop when idle, and never serve stale data silently."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from console.kube.factory import BROKEN, IDLED, InformerFactory, UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Informer
from tests.kube.factories import IDLE, OTHERS, THINGS, Planner, World, live, names, until
from tests.kube.fakes import FakeClock


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with World.open() as world:
        yield world


async def test_informer_starts_at_the_first_use(world: World) -> None:
    assert world.factory.informers() == {}
    informer = await world.settled()
    assert names(informer) == {"a"}
    assert world.factory.get(THINGS) is informer
    assert world.factory.informers() == {THINGS: informer}
    assert world.server.lists == ["0"]


async def test_idle_informer_is_stopped(world: World) -> None:
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


async def test_each_use_extends_the_life_of_an_informer(world: World) -> None:
    await world.settled()
    for _ in range(3):
        await world.idle(IDLE - 1)
        world.factory.get(THINGS)
    assert world.factory.informers()


async def test_restarted_informer_starts_with_a_new_list(world: World) -> None:
    old = await world.settled()
    await world.idle()
    world.server.put("b")
    world.server.drop("a")
    new = await world.settled()
    assert new is not old
    assert names(new) == {"b"}
    assert old.freshness.stale_since is not None
    assert world.server.lists == ["0", "0"]


async def test_listeners_keep_an_informer_alive(world: World) -> None:
    informer = await world.settled()
    remove = informer.add_listener(lambda _key: None)
    await world.idle(10 * IDLE)
    assert live(informer)
    remove()
    await world.idle(IDLE - 1)
    assert live(informer)
    await world.idle(1)
    assert not live(informer)


async def test_kept_informer_is_not_stopped(world: World) -> None:
    informer = world.factory.pin(THINGS)
    await world.idle(10 * IDLE)
    assert world.factory.get(THINGS) is informer


async def test_core_does_not_keep_informers_alive(world: World) -> None:
    await world.settled(OTHERS)
    world.builder.servers[OTHERS].put("x")
    await until(lambda: world.noted == ["x"])
    await world.idle()
    assert world.factory.informers() == {}


async def test_listener_added_after_the_stop_is_notified(world: World) -> None:
    informer = await world.settled()
    await world.idle()
    informer.add_listener(lambda _key: None)
    assert informer.freshness.problem == IDLED


async def test_informer_stopped_before_it_ran_is_ended(world: World) -> None:
    informer = world.factory.get(THINGS)
    await world.idle()
    assert informer.freshness.problem == IDLED
    assert world.server.lists == []


async def test_stopped_informer_is_freed(world: World) -> None:
    """Even though the objects of a first list are excluded from garbage collection."""
    gc.disable()
    try:
        informer = weakref.ref(await world.settled())
        await world.idle()
        await until(lambda: not world.tasks)
        assert informer() is None
    finally:
        gc.enable()


async def test_internal_error_is_reported_and_retried(
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


async def test_unknown_type_raises_unknown_kind(world: World) -> None:
    with pytest.raises(UnknownKind):
        world.factory.get(GVR("", "v1", "strangers"))


async def test_concurrent_first_uses_start_one_informer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = world.builder.make
    other: list[Informer[Any]] = []

    def slow(gvr: GVR) -> Informer[Any]:
        """Simulate a concurrent first use that finishes earlier."""
        if not other:
            monkeypatch.setattr(world.builder, "make", make)
            other.append(world.factory.get(gvr))
        return make(gvr)

    monkeypatch.setattr(world.builder, "make", slow)
    assert world.factory.get(THINGS) is other[0]
    assert len(world.tasks) == 1


async def test_stopping_informer_is_never_returned() -> None:
    """Many threads use an informer while another thread stops idle ones, which here are all."""
    clock = FakeClock()
    builder = Planner(clock)
    loop = asyncio.get_running_loop()
    tasks: list[Future[None]] = []

    def spawn(coroutine: Coroutine[Any, Any, None]) -> None:
        tasks.append(asyncio.run_coroutine_threadsafe(coroutine, loop))

    factory = InformerFactory(builder, spawn, clock, idle=1.0)
    stop = Event()

    def use() -> int:
        wrong = 0
        while not stop.is_set():
            informer = factory.get(THINGS)
            # A stopped informer is not listed and not returned to new users.
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


async def _settled(factory: InformerFactory) -> Informer[Any]:
    informer = factory.get(THINGS)
    await until(lambda: live(informer))
    return informer
