"""A scripted source and a clock that waits for nobody."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from console.kube.errors import ApiError, Gone
from console.kube.listwatch import ListMeta, ListPage, WatchEvent


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
    """Sleeping takes no time but moves the clock; `sleeps` are the seconds asked for."""

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


class FakeServer:
    """A server with one resource type: objects, a history that can be compacted, and faults.

    Each watch replays the history after its resourceVersion and then ends, or fails as told; when
    `script` is exhausted the watch stays open for ever and `idle` is set.
    """

    def __init__(self) -> None:
        self.version = 0
        self.objects: dict[str, dict[str, Any]] = {}
        self.history: list[tuple[int, WatchEvent]] = []
        self.compacted = 0
        self.page_size = 2
        self.lists: list[str] = []
        self.watches: list[str] = []
        self.list_errors: list[ApiError] = []
        #: One item per watch to come: what ends it after its replay. None is a normal end.
        self.endings: list[ApiError | None] = []
        #: Ends every watch after that many events; 0 is never.
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

    def _record(self, kind: str, item: dict[str, Any]) -> None:
        self.history.append((self.version, event(kind, item)))
        self._changed.set()

    async def list_page(self, token: str) -> ListPage:
        self.lists.append(token)
        if self.list_errors:
            raise self.list_errors.pop(0)
        start = int(token or 0)
        items = [raw(item) for item in self.objects.values()]
        rest = start + self.page_size < len(items)
        meta = ListMeta(str(self.version), str(start + self.page_size) if rest else "")
        return ListPage(meta, items[start : start + self.page_size])

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
