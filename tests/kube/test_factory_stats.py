"""Event rates and freshness of the cache."""

import asyncio
from datetime import timedelta
from typing import Any

from console.kube.gvr import GVR, PODS
from console.kube.informer import Informer
from console.kube.stats import KEPT, STEP, EventRates, stats_of
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeServer
from tests.support.informers import preloaded, set_stale

THINGS, OTHERS = GVR("", "v1", "things"), GVR("", "v1", "others")


class Counting:
    """The parts of an informer that `EventRates` reads."""

    events = 0


def sampled(history: EventRates, clock: FakeClock, counts: dict[GVR, Any], steps: int = 1) -> None:
    for _ in range(steps):
        clock.elapsed += STEP
        history.sample(counts)


def test_event_rates_are_per_second() -> None:
    clock = FakeClock()
    history, things = EventRates(clock), Counting()
    assert list(history.rates()) == []
    assert history.rate(THINGS) == 0
    for count in (10, 10, 60):
        things.events = count
        sampled(history, clock, {THINGS: things})
    assert list(history.rates(THINGS)) == [2, 0, 10]
    assert history.rate(THINGS, last=STEP) == 10
    assert history.rate(THINGS) == 60 / 15


def test_rates_are_weighted_by_the_length_of_steps() -> None:
    clock = FakeClock()
    history, things = EventRates(clock), Counting()
    things.events = 10
    sampled(history, clock, {THINGS: things})
    clock.elapsed += 10
    things.events = 40
    sampled(history, clock, {THINGS: things})
    assert list(history.rates(THINGS)) == [2, 2]


def test_rates_are_summed_and_removed_types_are_forgotten() -> None:
    clock = FakeClock()
    history, things, others = EventRates(clock), Counting(), Counting()
    things.events = 5
    sampled(history, clock, {THINGS: things})
    others.events = 10
    sampled(history, clock, {THINGS: things, OTHERS: others})
    assert list(history.rates(OTHERS)) == [0, 2]
    assert list(history.rates()) == [1, 2]
    sampled(history, clock, {OTHERS: others})
    assert list(history.rates(THINGS)) == []
    assert list(history.rates()) == [0, 2, 0]


def test_restarted_informer_counts_from_zero() -> None:
    clock = FakeClock()
    history, things = EventRates(clock), Counting()
    things.events = 100
    sampled(history, clock, {THINGS: things})
    things.events = 5
    sampled(history, clock, {THINGS: things})
    assert list(history.rates(THINGS)) == [20, 1]


def test_history_covers_ten_minutes() -> None:
    clock = FakeClock()
    history, things = EventRates(clock), Counting()
    sampled(history, clock, {THINGS: things}, steps=KEPT + 5)
    things.events = 5
    sampled(history, clock, {THINGS: things})
    assert len(history.rates(THINGS)) == len(history.rates()) == KEPT
    assert history.rates()[-1] == 1


def test_lag_shows_the_maximum_age_of_the_data() -> None:
    clock = FakeClock()
    now = clock.now()
    informer = preloaded(PODS)
    cold: Informer[Any] = Informer(THINGS, generic.decode, clock=clock)

    def lags() -> list[float | None]:
        answered = now - timedelta(seconds=3)
        found = stats_of({PODS: informer, THINGS: cold}, answered=answered, now=now)
        return [item.lag for item in found]

    assert lags() == [3, None]
    set_stale(informer, now - timedelta(seconds=90), "gone")
    assert lags() == [90, None]


async def test_statistics_count_events_after_the_first_list() -> None:
    clock, server = FakeClock(), FakeServer()
    server.put("a")
    server.endings = [None]
    informer = Informer(THINGS, generic.decode, clock=clock)
    informer.add_listener(lambda _key: None)
    task = asyncio.create_task(informer.follow({"": server}))
    async with asyncio.timeout(5):
        await server.idle.wait()
    server.put("b")
    async with asyncio.timeout(5):
        while len(informer.store) < 2:
            await asyncio.sleep(0)
    found = stats_of({THINGS: informer}, answered=clock.now(), now=clock.now())[0]
    assert (found.objects, found.events, found.listeners) == (2, 1, 1)
    assert (found.relists, found.restarts) == (0, 1)
    assert found.bytes == informer.store.bytes_packed > 0
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
