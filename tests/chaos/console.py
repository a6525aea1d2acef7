"""A console behind the fault-injecting proxy, for tests of single faults."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.chaos.convergence import converge, judge
from tests.chaos.history import History
from tests.chaos.observer import Observer
from tests.chaos.targets import Target
from tests.chaos.world import World
from tests.controlplane.proxy import RecordedRequest

__all__ = ["Console", "following"]


class Console:
    """The console's side of a test, and writes that bypass the proxy."""

    def __init__(self, world: World, observer: Observer) -> None:
        self._world, self.observer = world, observer
        self._mark = len(world.proxy.seen)

    def requests(self, verb: str, target: Target) -> list[RecordedRequest]:
        """Return the requests since the test started or since the last `mark`."""
        seen = self._world.proxy.seen[self._mark :]
        return [one for one in seen if one.verb == verb and one.resource == target.gvr.resource]

    def mark(self) -> None:
        self._mark = len(self._world.proxy.seen)

    def write(self, target: Target, name: str, *, times: int = 1) -> None:
        """Create an object and change it this many times."""
        path = target.gvr.path(target.namespaces[0])
        self._world.ask("POST", path, target.body(name))
        for number in range(times):
            patch = {"metadata": {"labels": {"count": str(number)}}}
            status, answer = self._world.ask(
                "PATCH", f"{path}/{name}", patch, "application/merge-patch+json"
            )
            assert status == 200, answer

    def delete(self, target: Target, name: str) -> None:
        status, answer = self._world.ask("DELETE", target.gvr.path(target.namespaces[0], name))
        assert status == 200, answer

    def holds(self, target: Target, name: str) -> bool:
        entries = self.observer.informers[target.gvr].store.snapshot().entries
        return any(key.name == name for key in entries)

    def stale(self) -> bool:
        """Return True if every informer reports that it is stale."""
        found = [one.freshness.stale_since for one in self.observer.informers.values()]
        return all(since is not None for since in found)


@contextmanager
def following(world: World) -> Iterator[Console]:
    """Run a console. At the end it must equal the server's state within 10 s, and its cache must
    have been correct the whole time.
    """
    history, began = History(), time.monotonic()
    mark = len(world.proxy.seen)
    try:
        with Observer(world, history) as observer:
            yield Console(world, observer)
            world.proxy.heal()
            converge(world, observer, history)
            requests = world.proxy.seen[mark:]
            judge(world, observer, history, requests, time.monotonic() - began)
    finally:
        world.heal()
