"""A scripted source for reflectors, and a clock that doesn't wait."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from console.kube.errors import ApiError, Gone
from console.kube.liststream import ListMeta
from console.kube.listwatch import WatchEvent


def obj(name: str, version: int, **fields: Any) -> dict[str, Any]:
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"u-{name}",
        "resourceVersion": str(version),
    }
    return {"metadata": meta, **fields}


def raw(item: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(item))


def event(kind: str, item: dict[str, Any]) -> WatchEvent:
    return WatchEvent(kind, raw(item))


class FakeClock:
    """A clock whose sleeps return immediately and advance the time. `sleeps` records the requested
    seconds.
    """

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.elapsed

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.elapsed)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.elapsed += seconds
        await asyncio.sleep(0)


class FakeTime:
    """A replacement of the module `time` that is ahead by some seconds, for a single tested module.

    Patching the real module would affect every event loop of the process, whose timers would
    then wait after the time is set back.
    """

    def __init__(self, ahead: float) -> None:
        self.ahead = ahead

    def time(self) -> float:
        return time.time() + self.ahead

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


class FakeListing:
    def __init__(self, batches: list[list[msgspec.Raw]], metadata: ListMeta) -> None:
        self._batches = batches
        self.metadata = metadata

    async def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]:
        for batch in self._batches:
            yield batch


class FakeServer:
    """A server with one resource type: objects, a history that can be compacted, and faults.

    Each watch replays the history after its resourceVersion and then ends or fails as scripted.
    When `script` is exhausted, the watch stays open and `idle` is set.
    """

    def __init__(self) -> None:
        self.version = 0
        self.objects: dict[str, dict[str, Any]] = {}
        self.history: list[tuple[int, WatchEvent]] = []
        self.compacted = 0
        self.batch_size = 2
        self.lists: list[str] = []
        self.watches: list[str] = []
        self.list_errors: list[ApiError] = []
        #: Number of future lists that never get a response.
        self.unanswered = 0
        #: One item per future watch: the error that ends it after the replay, or None for a normal
        #: end.
        self.endings: list[Exception | None] = []
        #: Number of events after which every watch ends, or 0 for no limit.
        self.cut_after = 0
        self.reloads = 0
        self.idle = asyncio.Event()
        self._changed = asyncio.Event()

    def put(self, name: str, **fields: Any) -> None:
        self.version += 1
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = obj(name, self.version, **fields)
        self._record(kind, self.objects[name])

    def drop(self, name: str) -> None:
        self.version += 1
        gone = self.objects.pop(name)
        gone["metadata"]["resourceVersion"] = str(self.version)
        self._record("DELETED", gone)

    def bookmark(self) -> None:
        self._record("BOOKMARK", obj("", self.version))

    def compact(self) -> None:
        self.compacted = self.version
        self.history.clear()

    def tell(self, event: WatchEvent) -> None:
        """Send an event that doesn't correspond to the server's objects."""
        self.version += 1
        self.history.append((self.version, event))
        self._changed.set()

    def restore(self, versions: dict[str, int]) -> None:
        """Simulate a restore from a backup: only these objects remain, at earlier versions."""
        self.version = max(versions.values(), default=0)
        self.objects = {name: obj(name, version) for name, version in versions.items()}
        self.compact()

    def cut(self, ending: ApiError | None = None) -> None:
        """End the open watch."""
        self.endings.append(ending)
        self._changed.set()

    def _record(self, kind: str, item: dict[str, Any]) -> None:
        self.history.append((self.version, event(kind, item)))
        self._changed.set()

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[FakeListing, None]:
        self.lists.append(resource_version)
        if self.list_errors:
            raise self.list_errors.pop(0)
        if self.unanswered:
            self.unanswered -= 1
            await asyncio.Event().wait()
        items = [raw(item) for item in self.objects.values()]
        batches = [items[at : at + self.batch_size] for at in range(0, len(items), self.batch_size)]
        yield FakeListing(batches, ListMeta(str(self.version)))

    async def latest(self) -> str:
        return str(self.version)

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        self.watches.append(resource_version)
        if int(resource_version) < self.compacted:
            raise Gone(410, "too old resource version")
        yield self._events(int(resource_version))

    async def _events(self, after: int) -> AsyncGenerator[WatchEvent, None]:
        sent = delivered = 0
        while True:
            for version, item in self.history[sent:]:
                sent += 1
                if version > after:
                    yield item
                    delivered += 1
                if self.cut_after and delivered == self.cut_after:
                    return
            if self.endings:
                ending = self.endings.pop(0)
                if ending is not None:
                    raise ending
                return
            self._changed.clear()
            if sent == len(self.history):
                self.idle.set()
                await self._changed.wait()
                self.idle.clear()

    async def reload(self) -> None:
        self.reloads += 1
