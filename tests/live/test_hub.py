"""The crossing between the core's thread and the server's loop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.live.hub import Feed, Hub, get_hub
from console.live.mailbox import CAPACITY, Mailbox
from tests.ui.support import pod


def on_another_thread(call: Callable[[], object]) -> None:
    """As the core does it; returns when it is done."""
    thread = Thread(target=call)
    thread.start()
    thread.join()


def apply_pods(informer: Informer[Any], count: int) -> None:
    for n in range(count):
        informer.apply(pod(f"p-{n}"))


@pytest.fixture
def informer() -> Informer[Any]:
    return Informer.preloaded(PODS)


async def test_changes_reach_every_mailbox(informer: Informer[Any]) -> None:
    hub, boxes = Hub(), [Mailbox(), Mailbox()]
    for box in boxes:
        hub.subscribe(informer, box)
    on_another_thread(lambda: informer.apply(pod("a")))
    for box in boxes:
        await asyncio.wait_for(box.wait(), 5)
        assert box.take().keys == {Key("shop", "a")}


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
    box = Mailbox()
    Hub().subscribe(informer, box)
    on_another_thread(lambda: apply_pods(informer, 100))
    await asyncio.wait_for(box.wait(), 5)
    assert len(box.take().keys) == 100
    assert calls == 1
    on_another_thread(lambda: informer.apply(pod("later")))
    await asyncio.wait_for(box.wait(), 5)
    assert calls == 2


async def test_too_many_changes_are_an_overflow(informer: Informer[Any]) -> None:
    box = Mailbox()
    Hub().subscribe(informer, box)
    on_another_thread(lambda: apply_pods(informer, CAPACITY + 1))
    await asyncio.wait_for(box.wait(), 5)
    assert box.take().overflow


async def test_changed_freshness_is_a_change_of_state(informer: Informer[Any]) -> None:
    box = Mailbox()
    Hub().subscribe(informer, box)
    on_another_thread(lambda: informer.disconnected("connection refused"))
    await asyncio.wait_for(box.wait(), 5)
    mail = box.take()
    assert (mail.state, mail.keys) == (True, frozenset())


async def test_objects_that_grant_rights_change_the_state(informer: Informer[Any]) -> None:
    box, other = Mailbox(), Mailbox()
    hub = Hub()
    hub.subscribe(informer, box, rights=True)
    hub.subscribe(informer, other)
    on_another_thread(lambda: informer.apply(pod("binding")))
    await asyncio.wait_for(box.wait(), 5)
    mail = box.take()
    assert (mail.state, mail.keys) == (True, frozenset())
    assert other.take().keys == {Key("shop", "binding")}


async def test_nothing_comes_after_the_end(informer: Informer[Any]) -> None:
    hub, gone, stays = Hub(), Mailbox(), Mailbox()
    end = hub.subscribe(informer, gone)
    hub.subscribe(informer, stays)
    end()
    end()
    on_another_thread(lambda: informer.apply(pod("a")))
    await asyncio.wait_for(stays.wait(), 5)
    assert not gone.take()
    assert hub.feeds == 1


async def test_the_last_to_leave_ends_the_feed(informer: Informer[Any]) -> None:
    hub = Hub()
    ends = [hub.subscribe(informer, Mailbox()) for _ in range(3)]
    assert len(informer._listeners) == 1
    for end in ends:
        end()
    assert hub.feeds == 0
    assert not informer._listeners
    hub.subscribe(informer, Mailbox())
    # An old end does not touch the new feed.
    ends[0]()
    assert hub.feeds == 1


def test_a_closed_loop_does_not_cost_the_informer_its_other_listeners(
    informer: Informer[Any],
) -> None:
    async def subscribe() -> None:
        get_hub().subscribe(informer, Mailbox())

    asyncio.run(subscribe())
    heard: list[Key] = []
    informer.add_listener(heard.append)
    informer.apply(pod("a"))
    informer.apply(pod("b"))
    assert heard == [Key("shop", "a"), Key("shop", "b")]


async def test_one_hub_for_each_loop() -> None:
    here = get_hub()
    assert get_hub() is here

    async def elsewhere() -> Hub:
        return get_hub()

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) is not here
