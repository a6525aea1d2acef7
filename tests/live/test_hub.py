"""The crossing between the core's thread and the server's loop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.live.hub import Feed, Hub, get_hub
from console.live.mailbox import CAPACITY, Mail, Mailbox
from tests.informers import bring, preloaded
from tests.ui.support import pod


def on_another_thread(call: Callable[[], object]) -> None:
    """As the core does it; returns when it is done."""
    thread = Thread(target=call)
    thread.start()
    thread.join()


class Box:
    """A mailbox that can be waited for."""

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


async def test_many_changes_are_one_callback(
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


async def test_too_many_changes_are_an_overflow(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)
    on_another_thread(lambda: apply_pods(informer, CAPACITY + 1))
    assert (await box.take()).overflow


async def test_changed_freshness_is_a_change_of_state(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)
    on_another_thread(lambda: informer.disconnected("connection refused"))
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset())


async def test_a_change_does_not_hide_that_the_freshness_changed(informer: Informer[Any]) -> None:
    box = Box()
    Hub().subscribe(informer, box.mailbox)

    def both() -> None:
        bring(informer, pod("a"))
        informer.disconnected("connection refused")

    on_another_thread(both)
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset({Key("shop", "a")}))


async def test_objects_that_grant_rights_change_the_state(informer: Informer[Any]) -> None:
    box, other = Box(), Box()
    hub = Hub()
    hub.subscribe(informer, box.mailbox, rights=True)
    hub.subscribe(informer, other.mailbox)
    on_another_thread(lambda: bring(informer, pod("binding")))
    mail = await box.take()
    assert (mail.state, mail.keys) == (True, frozenset())
    assert (await other.take()).keys == {Key("shop", "binding")}


class Interrupted(set[Key]):
    """Another thread deals while a key is put into it, or as soon as it may."""

    def __init__(self, deal: Callable[[], None]) -> None:
        super().__init__()
        self.dealing = Thread(target=deal)

    def add(self, key: Key) -> None:
        self.dealing.start()
        # One that need not wait is done by now.
        self.dealing.join(0.2)
        super().add(key)


async def test_no_change_is_lost_that_is_noted_while_others_are_dealt(
    informer: Informer[Any],
) -> None:
    hub, box = Hub(), Box()
    hub.subscribe(informer, box.mailbox)
    feed = hub._feeds[informer]
    keys = feed._keys = Interrupted(feed._deal)
    on_another_thread(lambda: bring(informer, pod("a")))
    keys.dealing.join()
    assert box.mailbox.take().keys == {Key("shop", "a")}


async def test_nothing_comes_after_the_end(informer: Informer[Any]) -> None:
    hub, gone, stays = Hub(), Box(), Box()
    end = hub.subscribe(informer, gone.mailbox)
    hub.subscribe(informer, stays.mailbox)
    end()
    end()
    on_another_thread(lambda: bring(informer, pod("a")))
    assert (await stays.take()).keys == {Key("shop", "a")}
    assert not gone.mailbox.take()
    assert hub.feeds == 1


async def test_the_last_to_leave_ends_the_feed(informer: Informer[Any]) -> None:
    hub = Hub()
    ends = [hub.subscribe(informer, Box().mailbox) for _ in range(3)]
    assert len(informer._listeners) == 1
    for end in ends:
        end()
    assert hub.feeds == 0
    assert not informer._listeners
    hub.subscribe(informer, Box().mailbox)
    # An old end does not touch the new feed.
    ends[0]()
    assert hub.feeds == 1


def test_a_closed_loop_does_not_cost_the_informer_its_other_listeners(
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


async def test_one_hub_for_each_loop() -> None:
    here = get_hub()
    assert get_hub() is here

    async def elsewhere() -> Hub:
        return get_hub()

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) is not here
