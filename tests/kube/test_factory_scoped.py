"""One informer over several namespaces: each namespace updates its own part, and the freshness
covers all.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from console.kube.credentials import NoCluster
from console.kube.custom_types import CustomTypes
from console.kube.errors import Forbidden, Gone
from console.kube.gvr import (
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    GVR,
    NODES,
    PODS,
    USERS,
    Key,
)
from console.kube.informer import Informer
from console.kube.scopes import configured_namespaces, is_builtin_cluster_scoped, is_namespaced
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeServer
from tests.support.informers import preloaded

THINGS = GVR("", "v1", "things")
WIDGETS, PLANETS = GVR("x.org", "v1", "widgets"), GVR("x.org", "v1", "planets")
REFUSED = Forbidden(403, "things is forbidden")


class NamespaceServer(FakeServer):
    def __init__(self, namespace: str) -> None:
        super().__init__()
        self.namespace = namespace

    def add(self, name: str) -> None:
        meta = {"name": name, "namespace": self.namespace, "resourceVersion": f"{self.version + 1}"}
        self.put(name, metadata=meta)


class World:
    def __init__(self, *namespaces: str) -> None:
        self.servers = {name: NamespaceServer(name) for name in namespaces}
        self.clock = FakeClock()
        self.informer: Informer[generic.Generic] = Informer(
            THINGS, generic.decode, clock=self.clock
        )
        self.seen: list[Key] = []
        self.informer.add_listener(self.seen.append)

    @property
    def keys(self) -> set[str]:
        return {str(key) for key in self.informer.store.snapshot().entries}

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.informer.follow(self.servers))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(5):
            while not is_so():
                await asyncio.sleep(0)

    @property
    def live(self) -> bool:
        freshness = self.informer.freshness
        return freshness.synced and freshness.stale_since is None


@pytest.fixture
def world() -> World:
    world = World("a", "b")
    world.servers["a"].add("one")
    world.servers["b"].add("one")
    world.servers["b"].add("two")
    return world


async def test_namespaces_share_one_store(world: World) -> None:
    async with world.following():
        await world.until(lambda: world.live)
        assert world.keys == {"a/one", "b/one", "b/two"}
        world.servers["a"].add("three")
        world.servers["b"].drop("two")
        await world.until(lambda: world.keys == {"a/one", "a/three", "b/one"})
        assert set(map(str, world.seen)) == {"a/one", "b/one", "b/two", "a/three"}
        assert len(world.informer.reflectors) == 2
    assert not world.informer.reflectors


async def test_informer_is_synced_once_every_namespace_is(world: World) -> None:
    world.servers["b"].list_errors = [REFUSED]
    states: list[tuple[bool, str]] = []

    def note() -> None:
        states.append((world.informer.freshness.synced, world.informer.freshness.problem))

    world.informer.add_listener(lambda _key: None, note)
    async with world.following():
        await world.until(lambda: world.live)
    assert states[0] == (False, "b: things is forbidden")
    assert states[-1] == (True, "")


async def test_relist_of_one_namespace_leaves_the_others(world: World) -> None:
    async with world.following():
        await world.until(lambda: world.live)
        old = world.informer.store.get(Key("b", "one"))
        world.servers["a"].objects.clear()
        world.servers["a"].add("new")
        world.servers["a"].compact()
        world.servers["a"].cut(Gone(410, "too old"))
        await world.until(lambda: world.keys == {"a/new", "b/one", "b/two"})
        assert world.informer.store.get(Key("b", "one")) is old
        assert len(world.servers["a"].lists) == 2
        assert len(world.servers["b"].lists) == 1


async def test_informer_is_stale_and_names_the_namespace(world: World) -> None:
    async with world.following():
        await world.until(lambda: world.live)
        world.servers["b"].list_errors = [REFUSED] * 3
        world.servers["b"].compact()
        world.servers["b"].cut(Gone(410, "too old"))
        await world.until(lambda: world.informer.freshness.problem == "b: things is forbidden")
        assert world.informer.freshness.stale_since is not None
        world.servers["a"].add("meanwhile")
        await world.until(lambda: "a/meanwhile" in world.keys)
        await world.until(lambda: world.live)


async def test_renew_lists_each_namespace(world: World) -> None:
    async with world.following():
        await world.until(lambda: world.live)
        world.informer.restart_watches()
        await world.until(lambda: all(len(one.watches) == 2 for one in world.servers.values()))
        assert all(one.lists == ["0"] for one in world.servers.values())


async def test_informer_is_stale_until_each_namespace_is_watched_again(world: World) -> None:
    async with world.following():
        await world.until(lambda: world.live)
        world.informer.set_unresponsive_since(world.clock.now())
        world.informer.restart_watches()
        world.informer.set_unresponsive_since(None)
        assert not world.live
        await world.until(lambda: len(world.servers["a"].watches) == 2)
        await world.until(lambda: world.live)
        assert all(len(one.watches) == 2 for one in world.servers.values())


async def test_resource_version_never_decreases_because_of_a_namespace_that_is_behind(
    world: World,
) -> None:
    for _ in range(5):
        world.servers["b"].add("two")
    async with world.following():
        await world.until(lambda: world.live)
        before = world.informer.store.resource_version
        world.servers["a"].bookmark()
        await world.servers["a"].idle.wait()
        assert int(world.informer.store.resource_version) >= int(before)


def test_namespaced_types_are_recognized() -> None:
    types = CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS, [_crd("widgets", "Namespaced")]))
    assert is_namespaced(PODS, types)
    assert is_namespaced(WIDGETS, types)
    assert not is_namespaced(NODES, types)
    assert not is_namespaced(CLUSTER_ROLES, types)
    assert not is_namespaced(USERS, types)
    types = CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS, [_crd("planets", "Cluster")]))
    assert not is_namespaced(PLANETS, types)
    assert is_builtin_cluster_scoped(NODES)
    assert not is_builtin_cluster_scoped(USERS)
    assert not is_builtin_cluster_scoped(PODS)


def _crd(plural: str, scope: str) -> dict[str, object]:
    return {
        "metadata": {"name": f"{plural}.x.org", "resourceVersion": "1", "uid": "u"},
        "spec": {
            "group": "x.org",
            "scope": scope,
            "names": {"plural": plural, "kind": "X"},
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }


@pytest.mark.parametrize(
    ("given", "meant"),
    [("", ()), (" , ", ()), ("a", ("a",)), ("a, b-2 ,a", ("a", "b-2"))],
)
def test_namespaces_setting_is_parsed(
    monkeypatch: pytest.MonkeyPatch, given: str, meant: tuple[str, ...]
) -> None:
    monkeypatch.setenv("NAMESPACES", given)
    assert configured_namespaces() == meant


@pytest.mark.parametrize("wrong", ["a b", "Team", "a,-b", "x" * 64])
def test_invalid_namespaces_setting_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("NAMESPACES", wrong)
    with pytest.raises(NoCluster, match="NAMESPACES must be a comma-separated list"):
        configured_namespaces()
