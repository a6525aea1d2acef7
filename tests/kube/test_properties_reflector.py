"""Cases that random tapes rarely contain: lasting faults, restarted followers and unreadable
objects.
"""

import asyncio
from collections.abc import Sequence
from itertools import cycle

import pytest

from console.kube.gvr import Key
from console.kube.informer import Informer
from tests.kube import generic
from tests.kube.checked_reflector import THINGS, World
from tests.kube.fakes import FakeClock, FakeServer, event
from tests.kube.model import Model, ModelClock
from tests.kube.server_steps import Deliver, Fail, Lag, Put, Slow, Step

#: Seconds of a lasting fault, and the number of lists it may cost: one every 30 s, and those before
#: the backoff has grown to that (G10).
LASTING = 900.0
LISTS = 10 + LASTING / 30


class Lasting(World):
    """A world whose steps have no end, limited by time."""

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__([])
        self.model._steps = iter(cycle(steps))

    def _waiting(self, seconds: float) -> bool:
        if self.clock.elapsed > LASTING:
            self.model.idle.set()
        return super()._waiting(seconds)


# One step for each request of a round, and one for the wait after it.
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Fail(code)], id=f"every answer is {code}")
        for code in (-1, 0, 401, 403, 410, 429, 500, 503, 504)
    ]
    + [
        pytest.param([Deliver(), Fail(410), Deliver()], id="lists work, watches are too old"),
        pytest.param(
            [Deliver(), Slow(15), Fail(410), Deliver()],
            id="as before, and the server is slow",
        ),
        pytest.param(
            [Slow(15), Fail(-1), Deliver()],
            id="long lists are cut off",
        ),
    ],
)
async def test_lasting_fault_does_not_cause_excessive_lists(steps: Sequence[Step]) -> None:
    world = Lasting(steps)
    await world.run()
    assert world.model.lists <= LISTS


async def test_restarted_follower_never_goes_backwards() -> None:
    clock = ModelClock()
    informer = Informer(THINGS, generic.decode, clock=clock)
    seen: list[int] = []

    def changed(key: Key) -> None:
        entry = informer.store.get(key)
        seen.append(int(entry.resource_version) if entry else 0)

    informer.add_listener(changed)
    model = Model([], clock)
    for steps in ([Put("a"), Put("a"), Put("a")], [Lag(2)]):
        model._steps = iter([*steps, Deliver()])
        model.idle.clear()
        task = asyncio.create_task(informer.follow({"": model}))
        await asyncio.wait_for(model.idle.wait(), 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert seen
    assert seen == sorted(seen)


@pytest.mark.parametrize("end", ["MODIFIED", "DELETED"])
async def test_object_that_becomes_unreadable_is_removed(end: str) -> None:
    server, clock = FakeServer(), FakeClock()
    informer = Informer(THINGS, generic.decode, clock=clock)
    told: list[str] = []
    server.put("a")
    task = asyncio.create_task(informer.follow({"": server}))
    await asyncio.wait_for(server.idle.wait(), 5)
    informer.add_listener(lambda key: told.append(key.name))
    bad = {"name": "a", "namespace": "default", "uid": "u-a", "resourceVersion": "2"}
    # The decoder expects a string there.
    informer.event(event(end, {"metadata": {**bad, "creationTimestamp": {}}}))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert informer.store.get(Key("default", "a")) is None
    assert told == ["a"]
    assert informer.store.undecodable == 1
