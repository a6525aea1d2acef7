"""A model of kube-apiserver for one resource type, driven by a sequence of steps.

Whenever the client sends a request, and between all parts of a response, the model takes steps:
objects change, then the response continues, ends or fails. After the last step there are
no more faults. Nothing waits for real time, so thousands of sequences take seconds.

The model also checks its client: no request may come earlier than permitted after the previous
failure.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from console.kube.errors import Gone, ServerError, Unavailable
from console.kube.liststream import ListMeta
from console.kube.listwatch import WatchEvent
from tests.kube.fakes import FakeClock, FakeListing, event, raw
from tests.kube.server_steps import (
    Again,
    Bookmark,
    Change,
    Compact,
    Course,
    Deliver,
    Drop,
    Elsewhere,
    End,
    Fail,
    Lag,
    Put,
    Restore,
    Slow,
    Step,
    Wake,
)

__all__ = ["Model", "ModelClock"]

#: The shortest delay after a failure without Retry-After: the first backoff of client-go.
SHORTEST = 0.8
#: Number of consecutive server errors after which the client may list again.
HOPELESS = 3
#: A watch that was open this long may be resumed immediately when it ends.
GOOD_WATCH = 10.0

Objects = dict[str, dict[str, Any]]


class ModelClock(FakeClock):
    """A clock that takes steps while the client waits."""

    def __init__(self) -> None:
        super().__init__()
        #: Called with the seconds of a wait. Returns True if the wait was interrupted.
        self.waiting: Callable[[float], bool] = lambda _seconds: False

    async def sleep(self, seconds: float) -> None:
        if self.waiting(seconds):
            # An interruptible wait is cancelled in this case.
            for _ in range(5):
                await asyncio.sleep(0)
        await super().sleep(seconds)


class Model:
    """The source. `idle` is set when the last step was taken and all events were sent."""

    def __init__(self, steps: Iterable[Step], clock: ModelClock) -> None:
        self._steps = iter(steps)
        self._clock = clock
        self.version = 1
        self.objects: Objects = {}
        self._states: dict[int, Objects] = {1: {}}
        self._history: list[tuple[int, WatchEvent]] = []
        self._compacted = 1
        #: The version of the last compacted event.
        self._forgotten = 1
        self._uids = 0
        self._lag = 0
        #: The version that the client has received. After a restore to an earlier version, also the
        #: version that writes must not reach before the client's next request: a server that is
        #: past that version again looks as if it was never restored.
        self._told = 0
        self._known = 0
        #: Number of restores.
        self.era = 0
        #: Callback of the client for the notification that the server is available again.
        self.wake: Callable[[], None] = lambda: None
        self.idle = asyncio.Event()
        # Checks of the client.
        self._not_before = self._asked = 0.0
        self._listed = False
        self._server_errors = 0
        self.lists = self.watches = self.reloads = 0
        #: Number of permitted lists: the first one, and one for each failure that requires a list.
        self.reasons = 1
        clock.waiting = self._waiting

    # The steps.

    def _course(self) -> Course | None:
        """Apply steps that change objects up to the next step that affects the response. Return
        None at the end.
        """
        for step in self._steps:
            if isinstance(step, Deliver | Bookmark | Fail | End):
                return step
            self._change(step)
        return None

    def _waiting(self, seconds: float) -> bool:
        """Apply the steps during a wait of the client, up to the next step for a response, which is
        dropped.
        """
        for step in self._steps:
            if isinstance(step, Wake):
                # The server's Retry-After takes precedence.
                self._not_before = self._asked
                self.wake()
                return True
            if isinstance(step, Deliver | Bookmark | Fail | End):
                return False
            self._change(step)
        return False

    def _change(self, step: Change) -> None:
        match step:
            case Put(name):
                self._put(name)
            case Drop(name):
                self._drop(name)
            case Again(name):
                self._drop(name)
                self._put(name)
            case Elsewhere():
                if not self._blocked:
                    self.version += 1
                    self._states[self.version] = self.objects
            case Compact():
                self._compacted = self.version
                self._forgotten = self._history[-1][0] if self._history else self._forgotten
                self._history.clear()
            case Restore(back):
                self._restore(back)
            case Lag(versions):
                self._lag = versions
            case Slow(seconds):
                self._clock.elapsed += seconds
            case Wake():
                # Only a waiting client can be woken.
                pass

    @property
    def _blocked(self) -> bool:
        return self.version + 2 >= self._known > 0

    def _put(self, name: str) -> None:
        if self._blocked:
            return
        known = self.objects.get(name)
        if known is None:
            self._uids += 1
        uid = known["metadata"]["uid"] if known else f"u{self._uids}"
        self._record("MODIFIED" if known else "ADDED", name, uid)

    def _drop(self, name: str) -> None:
        if name in self.objects and not self._blocked:
            self._record("DELETED", name, self.objects[name]["metadata"]["uid"])

    def _record(self, kind: str, name: str, uid: str) -> None:
        self.version += 1
        metadata = {
            "name": name,
            "namespace": "default",
            "uid": uid,
            "resourceVersion": str(self.version),
            "labels": {"parity": str(self.version % 2)},
        }
        # The era distinguishes objects if a version is assigned twice.
        item = {"metadata": metadata, "spec": {"written": f"{self.era}.{self.version}"}}
        objects = {**self.objects, name: item}
        if kind == "DELETED":
            del objects[name]
        self.objects = self._states[self.version] = objects
        self._history.append((self.version, event(kind, item)))

    def _restore(self, back: int) -> None:
        if self.version - back < 1 or self._known:
            return
        self.version -= back
        self._known = self._told if self._told > self.version else 0
        self.objects = self._states[self.version]
        self._states = {v: o for v, o in self._states.items() if v <= self.version}
        self._history = [one for one in self._history if one[0] <= self.version]
        self._compacted = min(self._compacted, self.version)
        self._forgotten = min(self._forgotten, self.version)
        self.era += 1
        self.reasons += 1

    # The checks.

    def _accept(self, *, listing: bool) -> None:
        """Check that a request is not too early, then accept or fail it."""
        now, era = self._clock.elapsed, self.era
        assert now >= self._not_before, f"asked {self._not_before - now:.2f} s too early"
        course = self._course()
        if era != self.era:
            raise self._failing(Unavailable("the server is being restored"), listing=listing)
        if isinstance(course, Fail):
            raise self._failing(course.error(), listing=listing)
        # A watch directly after a list may be resumed immediately, however it ended.
        self._listed = listing

    def _failing(self, error: Exception, *, listing: bool) -> Exception:
        """Record when the next request may come and whether it may be a list."""
        asked = getattr(error, "retry_after", None) or 0.0
        self._asked = self._clock.elapsed + asked
        self._not_before = self._clock.elapsed + max(SHORTEST, asked)
        if isinstance(error, ServerError):
            self._server_errors += 1
        hopeless = self._server_errors >= HOPELESS
        if hopeless:
            self._server_errors = 0
        if listing or hopeless or isinstance(error, Gone):
            self.reasons += 1
        return error

    # The source.

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[FakeListing, None]:
        self.lists += 1
        self._accept(listing=True)
        self._known = 0
        version = max(1, self.version - self._lag) if resource_version == "0" else self.version
        self._told = version
        items = [raw(item) for item in self._states[version].values()]
        yield _Listing(self, items, version)

    async def latest(self) -> str:
        self._accept(listing=False)
        self._known = 0
        return str(self.version)

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        self.watches += 1
        after_list = self._listed
        self._accept(listing=False)
        if int(resource_version) < self._compacted:
            raise self._failing(Gone(410, "too old"), listing=False)
        yield self._events(int(resource_version), news=after_list)

    async def reload(self) -> None:
        self.reloads += 1

    async def _events(self, position: int, *, news: bool) -> AsyncGenerator[WatchEvent, None]:
        era, began = self.era, self._clock.elapsed
        while True:
            course = self._course()
            if era != self.era:
                raise self._failing(Unavailable("the server was restored"), listing=False)
            if isinstance(course, Fail):
                raise self._failing(course.error(), listing=False)
            if position < self._forgotten:
                raise self._failing(Gone(410, "compacted"), listing=False)
            if isinstance(course, End):
                if not news and self._clock.elapsed - began < GOOD_WATCH:
                    self._not_before = self._clock.elapsed + SHORTEST
                return
            told = [(version, item) for version, item in self._history if version > position]
            for version, item in told if course is None else told[: getattr(course, "count", 0)]:
                self._server_errors = 0
                yield item
                self._told = position = version
                news = True
            if isinstance(course, Bookmark):
                if not told:
                    news = news or self.version > position
                    self._told = position = max(position, self.version)
                self._server_errors = 0
                yield event("BOOKMARK", {"metadata": {"resourceVersion": str(position)}})
            if course is None:
                self.idle.set()
                await asyncio.Event().wait()


class _Listing(FakeListing):
    """A list during which objects change between two batches and the connection may break."""

    def __init__(self, model: Model, items: "list[msgspec.Raw]", version: int) -> None:
        super().__init__([items[at : at + 2] for at in range(0, len(items), 2)], ListMeta())
        self._model, self._version = model, version

    async def __aiter__(self) -> AsyncIterator["list[msgspec.Raw]"]:
        era = self._model.era
        async for batch in super().__aiter__():
            yield batch
            course = self._model._course()
            if isinstance(course, Fail):
                raise self._model._failing(course.error(), listing=True)
            if era != self._model.era:
                raise self._model._failing(Unavailable("restored"), listing=True)
        self.metadata = ListMeta(str(self._version))
