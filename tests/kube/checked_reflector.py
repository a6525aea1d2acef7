"""A reflector with a model of its server, whose cache is checked after each step."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from console.kube.clock import Backoff
from console.kube.gvr import GVR, Key
from console.kube.indexes import Index
from console.kube.informer import Informer, _Part
from console.kube.reflector import Reflector
from console.kube.store import Entry
from tests.kube import generic
from tests.kube.model import Model, ModelClock
from tests.kube.server_steps import Step

THINGS = GVR("", "v1", "things")
#: Seconds without events after which staleness must be reported.
HONEST = 15.0


class World:
    """A reflector, its informer, a model of the server, and listeners that check their
    observations.
    """

    def __init__(self, steps: Sequence[Step], seed: int = 0) -> None:
        self.clock = ModelClock()
        self.model = Model(steps, self.clock)
        self.informer = Informer(THINGS, generic.decode, clock=self.clock)
        part = _Part(self.informer, "")
        self.informer._parts = (part,)
        backoff = Backoff(random=Random(seed))  # noqa: S311
        self.reflector = Reflector("things", self.model, part, clock=self.clock, backoff=backoff)
        self.model.wake = self.reflector.wake
        #: The era, UID and version in the store at each notification, by key.
        self.log: dict[Key, list[tuple[int, str, int]]] = {}
        self._replica: dict[Key, Entry[Any]] = {}
        self._version = -1
        self._index = Index(self.informer.store, _parity)
        self._honest = self.clock.waiting
        self.clock.waiting = self._waiting
        self._calls = Counter[str]()
        #: Seconds of the longest wait without reporting a lost connection.
        self._unsaid = 0.0
        self.informer.add_listener(self._raise)
        self._remove = self.informer.add_listener(self._leave)
        self.informer.add_listener(self._seen)

    async def run(self) -> None:
        """Follow the server until it has sent all events."""
        task = asyncio.create_task(self.reflector.run())
        idle = asyncio.create_task(self.model.idle.wait())
        await asyncio.wait({task, idle}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            idle.cancel()
            # Errors found by the model or a listener; a reflector never ends without one.
            await task
            raise AssertionError("the reflector has ended")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def _seen(self, key: Key) -> None:
        entry = self.informer.store.get(key)
        seen = (self.model.era, "", 0)
        if entry is not None:
            seen = (self.model.era, entry.projection.uid, int(entry.resource_version))
        self.log.setdefault(key, []).append(seen)
        self.check_derived()

    def _raise(self, _key: Key) -> None:
        """Raise at the second call. The listener must not be called again."""
        self._calls["raising"] += 1
        if self._calls["raising"] == 2:
            raise ValueError("a listener's mistake")
        assert self._calls["raising"] < 2

    def _leave(self, _key: Key) -> None:
        self._calls["leaving"] += 1
        assert self._calls["leaving"] <= 3
        if self._calls["leaving"] == 3:
            self._remove()

    def _waiting(self, seconds: float) -> bool:
        freshness = self.informer.freshness
        if seconds > HONEST and freshness.synced and freshness.stale_since is None:
            # Raising here would only end the wait.
            self._unsaid = max(self._unsaid, seconds)
        return self._honest(seconds)

    def check_derived(self) -> None:
        """Check that the changes since the last call lead to the current objects."""
        found = self.informer.store.changes_since(self._version)
        snapshot = self.informer.store.snapshot()
        if found is None:
            self._version, self._replica = snapshot.version, dict(snapshot.entries)
        else:
            self._version, changes = found
            for key, entry in changes:
                if entry is None:
                    self._replica.pop(key, None)
                else:
                    self._replica[key] = entry
        assert self._replica == dict(snapshot.entries)
        counted = Counter(value for entry in snapshot.entries.values() for value in _parity(entry))
        assert self._index.values() == counted

    def check_converged(self) -> None:
        held = {
            key.name: entry.original()
            for key, entry in self.informer.store.snapshot().entries.items()
        }
        assert held == self.model.objects
        assert self.informer.freshness.synced
        assert self.informer.freshness.stale_since is None
        assert self._unsaid == 0.0, f"for {self._unsaid:.0f} s it said that it was fresh"

    def check_told(self) -> None:
        """Check that the last notification of each key saw the final state."""
        there = {
            Key("default", name): item["metadata"] for name, item in self.model.objects.items()
        }
        for key, seen in self.log.items():
            expected = there.get(key, {"uid": "", "resourceVersion": "0"})
            assert seen[-1][1:] == (expected["uid"], int(expected["resourceVersion"])), key
        assert there.keys() <= self.log.keys()

    def check_monotonic(self) -> None:
        """Check that no object goes backwards or reappears unless it did so on the server."""
        for key, seen in self.log.items():
            gone: set[str] = set()
            for (era, uid, version), (next_era, next_uid, next_version) in pairwise(seen):
                if era != next_era:
                    gone.clear()
                    continue
                assert next_uid not in gone, f"{key}: {next_uid} came back"
                assert next_version >= version or not next_uid, (
                    f"{key}: {next_version} after {version}"
                )
                if uid and uid != next_uid:
                    gone.add(uid)

    def check_requests(self) -> None:
        assert self.reflector.lists == self.model.lists <= self.model.reasons
        assert self.reflector.watches == self.model.watches


def _parity(entry: Entry[Any]) -> tuple[str, ...]:
    return (entry.projection.labels["parity"],)
