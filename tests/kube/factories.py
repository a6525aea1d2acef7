"""An informer factory over scripted servers, and helpers for its tests."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from console.kube.factory import InformerFactory, UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Informer
from tests.kube import generic
from tests.kube.fakes import FakeClock, FakeServer

__all__ = ["IDLE", "OTHERS", "THINGS", "Planner", "World", "live", "names", "until"]

THINGS, OTHERS = GVR("", "v1", "things"), GVR("", "v1", "others")
KINDS = (THINGS, OTHERS)
IDLE = 600.0


class Planner:
    """A planner with one server per type. `errors` are raised once each instead of following."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.servers = {gvr: FakeServer() for gvr in KINDS}
        self.errors: list[Exception] = []
        self.made: list[GVR] = []

    def make(self, gvr: GVR) -> Informer[Any]:
        if gvr not in self.servers:
            raise UnknownKind(gvr.qualified)
        self.made.append(gvr)
        return Informer(gvr, generic.decode, clock=self.clock)

    async def follow(self, informer: Informer[Any]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        await informer.follow({"": self.servers[informer.gvr]})


class World:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.builder = Planner(self.clock)
        self.server = self.builder.servers[THINGS]
        self.server.put("a")
        self.noted: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()
        notify = {OTHERS: lambda key: self.noted.append(key.name)}
        self.factory = InformerFactory(
            self.builder, self.spawn, self.clock, idle=IDLE, notify=notify
        )

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def settled(self, gvr: GVR = THINGS) -> Informer[Any]:
        """Return the informer once it is followed."""
        informer = self.factory.get(gvr)
        await until(lambda: live(informer))
        return informer

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["World"]:
        """Yield a world whose tasks are cancelled at the end of the block."""
        world = cls()
        try:
            yield world
        finally:
            for task in set(world.tasks):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def idle(self, seconds: float = IDLE) -> None:
        self.clock.elapsed += seconds
        self.factory.sweep()
        for _ in range(20):
            await asyncio.sleep(0)


def live(informer: Informer[Any]) -> bool:
    return informer.freshness.synced and informer.freshness.stale_since is None


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not is_so():
            await asyncio.sleep(0)


def names(informer: Informer[Any]) -> set[str]:
    return {key.name for key in informer.store.snapshot().entries}
