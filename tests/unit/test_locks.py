"""State shared between threads is changed only while its lock is held, and the lock is acquired the
expected number of times.

A race caused by a missing lock shows up once in many thousand runs, so the tests check the
locking itself.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from console.kube.credentials import Credentials
from console.kube.custom_types import CustomType
from console.kube.factory import InformerFactory
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    Key,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.tokens import RenewedToken
from console.kube.usage import UsageReader
from console.live.hub import Feed
from console.saved import pins
from console.ui.core.custom_kinds import CustomKinds
from console.ui.core.lru_cache import LruCache, WeightedLruCache
from rbac.authorizer import Authorizer
from rbac.grant_index import GrantIndex
from rbac.rules import AccessQuestion
from tests.kube.fakes import FakeClock
from tests.pages.overview.world import measured
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

A = Key("shop", "a")


class Turns:
    """Replacement of a lock that counts acquisitions and never blocks."""

    def __init__(self) -> None:
        self.taken, self.held = 0, False

    def acquire(self, blocking: bool = True) -> bool:
        self.taken += 1
        self.held = True
        return True

    def release(self) -> None:
        self.held = False

    def set_without(self, of: Any) -> set[str]:
        """Return the set of attributes that are set without holding the lock, on `of` and on the
        objects it contains.
        """
        found = set[str]()

        def note(self: Any, name: str, value: object) -> None:
            if not turns.held:
                found.add(name)
            object.__setattr__(self, name, value)

        turns = self
        for one in (of, *parts_of(of)):
            kind = type(one)
            one.__class__ = type(kind.__name__, (kind,), {"__setattr__": note, "__slots__": ()})
        return found

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()


def parts_of(whole: Any) -> list[Any]:
    """Return the contained objects by key if their class is in the same module, because any caller
    that looks one up may change it.
    """
    kept = [held for held in vars(whole).values() if isinstance(held, dict)]
    found = [one for held in kept for one in held.values()]
    return [one for one in found if type(one).__module__ == type(whole).__module__]


class Use(NamedTuple):
    """A tested call. `call` acquires the lock of `of` this number of times and sets `own`, the
    attributes used by one thread only.
    """

    of: Any
    call: Callable[[], object]
    times: int = 1
    own: tuple[str, ...] = ()


class Builder:
    def make(self, gvr: GVR) -> Informer[Any]:
        return preloaded(gvr)

    async def follow(self, informer: Informer[Any]) -> None:
        raise AssertionError("nobody runs it")


def factory(*begun: GVR) -> InformerFactory:
    found = InformerFactory(Builder(), lambda work: work.close(), FakeClock())
    for gvr in begun:
        found.get(gvr)
    return found


def of_factory() -> Iterator[Use]:
    yield Use(found := factory(), lambda: found.get(PODS), 2)
    yield Use(known := factory(PODS), lambda: known.get(PODS))
    yield Use(ended := factory(PODS), lambda: ended.type_deleted(PODS), own=("ending",))
    yield Use(renewed := factory(PODS), lambda: renewed.relist(PODS))
    yield Use(swept := factory(PODS), swept.sweep)
    gone = factory(PODS)
    gone.get(PODS).add_listener(lambda key: None)
    gone.type_deleted(PODS)
    yield Use(gone, lambda: gone.type_created(PODS))


def listen_and_leave(heard: Any) -> None:
    heard.add_listener(lambda key: None, lambda: None)()


def of_listeners() -> Iterator[Use]:
    for heard in (preloaded(PODS), UsageReader(measured(), FakeClock())):
        yield Use(heard, partial(listen_and_leave, heard), 2)
    failing = preloaded(PODS)

    def fail(_key: Key) -> None:
        raise ValueError

    failing.add_listener(fail)
    yield Use(failing, lambda: failing._changed(A), own=("listener_failures",))


def of_feed() -> Iterator[Use]:
    loop = asyncio.new_event_loop()
    feed = Feed(preloaded(PODS), loop)
    yield Use(feed, lambda: feed._on_change(A))
    yield Use(feed, feed._on_state)
    yield Use(feed, feed._deal, own=("_dealt",))
    loop.close()


def of_shelves() -> Iterator[Use]:
    shelf = LruCache[str, list[int]](places=2, room=9, idle=1)
    yield Use(shelf, lambda: shelf.find("a"))
    yield Use(shelf, lambda: shelf.get("a", list))
    weighed = WeightedLruCache[str, list[int]](9, len)
    yield Use(weighed, lambda: weighed.get("a", list), 2)
    yield Use(weighed, weighed.clear)


def of_index() -> Iterator[Use]:
    types = (ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)
    kept = [preloaded(gvr) for gvr in types]
    index = GrantIndex(*(one.store for one in kept))
    yield Use(index, lambda: index.rights_of(("ann", ())))
    yield Use(index, lambda: index.grants_of(("ann", ())))
    yield Use(index, index.catch_up)
    yield Use(index, lambda: index.who_may(AccessQuestion("get", "", "pods", namespace="shop")))


def of_customs() -> Iterator[Use]:
    gvr = GVR("example.com", "v1", "widgets")
    custom = CustomType(gvr, "Widget", "widget", (), True, (), False, False, "u", True)
    kinds = CustomKinds(lambda group, plural: False, None)  # type: ignore[arg-type]
    yield Use(kinds, lambda: kinds._kind(custom))


def of_tokens() -> Iterator[Use]:
    requested = RenewedToken(lambda: "token")
    yield Use(requested, requested.invalidate)
    yield Use(requested, requested.get)


@pytest.mark.parametrize(
    "uses", [of_factory, of_listeners, of_feed, of_shelves, of_index, of_customs, of_tokens]
)
def test_shared_state_is_changed_under_its_lock(uses: Callable[[], Iterator[Use]]) -> None:
    for number, use in enumerate(uses()):
        use.of._lock = turns = Turns()
        loose = turns.set_without(use.of)
        use.call()
        assert turns.taken == use.times, number
        assert loose == {*use.own}, number


def test_credentials_are_reloaded_by_one_thread(tmp_path: Path) -> None:
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    path = tmp_path / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [context],
                "current-context": "x",
            }
        )
    )
    found = Credentials("reader", str(path))
    for call in (found.reload, found.authorization):
        found._lock = turns = Turns()  # type: ignore[assignment]
        call()
        assert turns.taken == 1, call


@pytest.mark.django_db
def test_pins_are_cached_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "_lock", turns := Turns())
    pins.load_pins("ann")
    assert turns.taken == 1


def test_permission_index_is_changed_by_one_thread() -> None:
    types = (USERS, ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)
    authorizer = Authorizer(StaticRuntime({gvr: preloaded(gvr) for gvr in types}))
    known: Any = authorizer._sources()
    known.lock = turns = Turns()
    loose = turns.set_without(known)
    authorizer.allows(Identity("ann"), "get", PODS)
    # Another thread may set the freshness as well: it is the same for all callers.
    assert (turns.taken, loose) == (2, {"fresh"})
