"""Types that are deleted, recreated or replaced while they are followed."""

from collections.abc import AsyncIterator

import pytest

from console.kube.factory import VANISHED
from console.kube.gvr import Key
from tests.kube.factories import IDLE, THINGS, World, live, names, until


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with World.open() as world:
        yield world


async def test_objects_of_a_deleted_type_are_removed(world: World) -> None:
    informer = await world.settled()
    seen: list[Key] = []
    informer.add_listener(seen.append)
    world.factory.type_deleted(THINGS)
    await until(lambda: informer.freshness.problem == VANISHED)
    assert names(informer) == set()
    assert seen == [Key("default", "a")]
    assert world.factory.informers() == {}


async def test_listeners_continue_when_the_type_is_recreated(world: World) -> None:
    informer = await world.settled()
    informer.add_listener(lambda _key: None)
    world.factory.type_deleted(THINGS)
    await until(lambda: informer.freshness.problem == VANISHED)
    await world.idle(10 * IDLE)
    world.server.put("b")
    world.factory.type_created(THINGS)
    await until(lambda: live(informer))
    assert names(informer) == {"a", "b"}
    assert world.factory.get(THINGS) is informer


async def test_type_deleted_and_recreated_immediately_is_followed(world: World) -> None:
    informer = await world.settled()
    informer.add_listener(lambda _key: None)
    world.factory.type_deleted(THINGS)
    world.factory.type_created(THINGS)
    world.server.put("b")
    await until(lambda: names(informer) == {"a", "b"} and live(informer))
    assert world.server.lists == ["0", ""]
    assert len(world.tasks) == 1


async def test_recreated_type_without_listeners_is_not_followed(world: World) -> None:
    informer = await world.settled()
    remove = informer.add_listener(lambda _key: None)
    world.factory.type_deleted(THINGS)
    remove()
    world.factory.type_created(THINGS)
    await world.idle(0)
    assert not world.factory.deleted_types()
    assert not live(informer)
    assert await world.settled() is not informer


async def test_replaced_type_is_listed_again(world: World) -> None:
    informer = await world.settled()
    world.server.objects.clear()
    world.factory.relist(THINGS)
    await until(lambda: names(informer) == set())
    assert live(await world.settled())
    assert world.server.lists == ["0", ""]
