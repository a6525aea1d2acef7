"""Passing changes from the cluster core's thread to the server's event loop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.live.hub import Feed, Hub, get_hub
from console.live.mailbox import CAPACITY, Mail, Mailbox
from tests.support.informers import bring, preloaded
from tests.ui.support import pod


def on_another_thread(call: Callable[[], object]) -> None:
    """Call the function on another thread, like the cluster core does, and wait for it."""
    thread = Thread(target=call)
    thread.start()
    thread.join()


class Box:
    """A mailbox that can be awaited."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self.mailbox = Mailbox(self._rung.set)

    async def take(self) -> Mail:
        async with asyncio.timeout(5):
            await self._rung.wait()
        self._rung.clear()
        return self.mailbox.take()


def apply_pods(informer: Informer[Any], count: int) -> None:
    for n in range(count):
        bring(informer, pod(f"p-{n}"))


@pytest.fixture
def informer() -> Informer[Any]:
    return preloaded(PODS)


async def test_changes_reach_every_mailbox(informer: Informer[Any]) -> None:
    hub, boxes = Hub(), [Box(), Box()]
    for box in boxes:
        hub.subscribe(informer, box.mailbox)
    on_another_thread(lambda: bring(informer, pod("a")))
    for box in boxes:
        assert (await box.take()).keys == {Key("shop", "a")}


async def test_many_changes_schedule_one_callback(
    informer: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    deal = Feed._deal

    def counted(self: Feed) -> None:
        nonlocal calls
        calls += 1
        deal(self)

    monkeypatch.setattr(Feed, "_deal", counted)
    box = Box()
    Hub().subscribe(informer, box.mailbox)
    on_another_thread(lambda: apply_pods(informer, 100))
    assert len((await box.take()).keys) == 100
    assert calls == 1
    on_another_thread(lambda: bring(informer, pod("later")))
    assert (await box.take()).keys == {Key("shop", "later")}
    assert calls == 2


async def test_too_many_changes_become_an_overflow(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)
    on_another_thread(lambda: apply_pods(informer, CAPACITY + 1))
    assert (await box.take()).overflow


async def test_freshness_change_is_delivered_as_a_state_change(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)
    on_another_thread(lambda: informer.disconnected("connection refused"))
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset())


async def test_object_change_does_not_hide_a_freshness_change(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)

    def both() -> None:
        bring(informer, pod("a"))
        informer.disconnected("connection refused")

    on_another_thread(both)
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset({Key("shop", "a")}))


async def test_permission_objects_are_delivered_as_a_state_change(informer: Informer[Any]) -> None:
    box, other = Box(), Box()
    hub = Hub()
    hub.subscribe(informer, box.mailbox, rights=True)
    hub.subscribe(informer, other.mailbox)
    on_another_thread(lambda: bring(informer, pod("binding")))
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset())
    assert (await other.take()).keys == {Key("shop", "binding")}


class Interrupted(set[Key]):
    """A set that lets another thread deliver while a key is added, or as soon as the lock permits."""

    def __init__(self, deal: Callable[[], None]) -> None:
        super().__init__()
        self.dealing = Thread(target=deal)

    def add(self, key: Key) -> None:
        self.dealing.start()
        # If it doesn't have to wait for the lock, it is finished by now.
        self.dealing.join(0.2)
        super().add(key)


async def test_change_noted_during_delivery_is_not_lost(
    informer: Informer[Any],
) -> None:
    hub, box = Hub(), Box()
    hub.subscribe(informer, box.mailbox)
    feed = hub._feeds[informer]
    keys = feed._keys = Interrupted(feed._deal)
    on_another_thread(lambda: bring(informer, pod("a")))
    keys.dealing.join()
    assert box.mailbox.take().keys == {Key("shop", "a")}


async def test_closed_mailbox_receives_nothing(informer: Informer[Any]) -> None:
    hub, gone, stays = Hub(), Box(), Box()
    end = hub.subscribe(informer, gone.mailbox)
    hub.subscribe(informer, stays.mailbox)
    end()
    end()
    on_another_thread(lambda: bring(informer, pod("a")))
    assert (await stays.take()).keys == {Key("shop", "a")}
    assert not gone.mailbox.take()
    assert hub.feeds == 1


async def test_last_subscriber_stops_the_feed(informer: Informer[Any]) -> None:
    hub = Hub()
    ends = [hub.subscribe(informer, Box().mailbox) for _ in range(3)]
    assert len(informer._listeners) == 1
    for end in ends:
        end()
    assert hub.feeds == 0
    assert not informer._listeners
    hub.subscribe(informer, Box().mailbox)
    # Closing an old subscription does not affect the new feed.
    ends[0]()
    assert hub.feeds == 1


def test_closed_event_loop_does_not_affect_other_listeners(
    informer: Informer[Any],
) -> None:
    async def subscribe() -> None:
        get_hub().subscribe(informer, Box().mailbox)

    asyncio.run(subscribe())
    heard: list[Key] = []
    informer.add_listener(heard.append)
    bring(informer, pod("a"))
    bring(informer, pod("b"))
    assert heard == [Key("shop", "a"), Key("shop", "b")]


async def test_each_event_loop_has_its_own_hub() -> None:
    here = get_hub()
    assert get_hub() is here

    async def elsewhere() -> Hub:
        return get_hub()

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) is not here
