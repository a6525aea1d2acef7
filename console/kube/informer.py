"""A store that follows the server, and whoever wants to know when it changes.

Promises:
- One reflector, so one list and one watch, whatever the number of listeners and readers.
- Per key, listeners hear of changes in order and after the store has them. A key says that something
  changed, not what: read the store.
- A listener that raises is logged and dropped; the store and the other listeners go on.
- `freshness` is true at all times: since when the store may differ from the server, and why.

Listeners run on the core's thread. They must only mark and return; work belongs to a queue of theirs.
`add_listener` may be called from any thread; keys that changed before it are not repeated.
"""

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, Generic, TypeVar

import msgspec

from console.kube.clock import Clock, SystemClock
from console.kube.errors import Forbidden
from console.kube.gvr import GVR, Key
from console.kube.listwatch import Source, WatchEvent
from console.kube.projections import DECODERS
from console.kube.reflector import Reflector
from console.kube.sentences import Sentence
from console.kube.store import Decode, Projected, Replacement, Store

log = logging.getLogger(__name__)

#: Objects of a first list from which on the collector never looks at them again.
MANY = 1_000

P = TypeVar("P", bound=Projected)
OnChange = Callable[[Key], None]
OnState = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Freshness:
    """`synced`: a list has arrived. `stale_since` (UTC): the last moment that the store is known to
    have followed the server; None while it does. `problem`: why, or ""."""

    synced: bool = False
    stale_since: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    on_change: OnChange
    on_state: OnState | None


class Informer(Generic[P]):
    def __init__(self, gvr: GVR, decode: Decode[P], *, clock: Clock | None = None) -> None:
        self.gvr = gvr
        self.store: Store[P] = Store(decode)
        self.freshness = Freshness()
        self._clock = clock or SystemClock()
        self._lock = Lock()
        self._listeners: tuple[_Listener, ...] = ()
        self._connected = False
        self._doubt: datetime | None = None
        self._reflector: Reflector | None = None
        self.events = 0
        self.listener_failures = 0

    @property
    def refusal(self) -> Forbidden | None:
        """kube-apiserver's last word, if that was that these objects may not be listed."""
        return None

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    @property
    def reflector(self) -> Reflector | None:
        return self._reflector

    async def run(self, source: Source) -> None:
        """Follows `source` until cancelled."""
        # Nothing that was shown goes back to what the server may still remember of before.
        oldest = "" if self.freshness.synced else "0"
        self._reflector = Reflector(
            self.gvr.qualified, source, self, clock=self._clock, oldest=oldest
        )
        await self._reflector.run()

    def wake(self) -> None:
        """The server may be back: try now. On the core's loop."""
        if self._reflector is not None and not self._connected:
            self._reflector.wake()

    def renew(self) -> None:
        """The server is back, and an open watch may be deaf: take it up anew. On the core's loop."""
        if self._reflector is not None:
            # What a deaf watch has missed, the next one tells: until then the store stays doubtful.
            self._connected = self._connected and self._doubt is None
            self._reflector.renew()

    def doubt(self, since: datetime | None) -> None:
        """The server has not answered a probe since then, though the watch is open; None: it has."""
        if since != self._doubt:
            self._doubt = since
            self._restate()

    def add_listener(
        self, on_change: OnChange, on_state: OnState | None = None
    ) -> Callable[[], None]:
        """Calls `on_change(key)` for every change and `on_state()` when `freshness` changes.

        Returns a function that removes the listener; calling it twice is harmless.
        """
        listener = _Listener(on_change, on_state)
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def remove() -> None:
            with self._lock:
                self._listeners = tuple(item for item in self._listeners if item is not listener)

        return remove

    # The reflector's sink.

    def replacing(self, namespace: str = "") -> "InformerReplacement[P]":
        """Takes a list: of all there is, or of one namespace."""
        return InformerReplacement(self, self.store.replacing(namespace))

    def replaced(self, changed: Sequence[Key]) -> None:
        if not self.freshness.synced and len(changed) >= MANY:
            # They stay. Without this the collector would look at all of them again and again, and every
            # page would wait for it. What is garbage now would stay as well.
            gc.collect()
            gc.freeze()
        self._restate(synced=True)
        for key in changed:
            self._changed(key)

    def event(self, event: WatchEvent) -> str:
        self.events += 1
        key, version = self.store.apply(event.type, event.object)
        if key is not None:
            self._changed(key)
        return version

    def bookmark(self, resource_version: str) -> None:
        self.store.bookmark(resource_version)

    def connected(self) -> None:
        self._connected = True
        self._restate()

    def disconnected(self, problem: str) -> None:
        self._connected = False
        self._restate(problem=problem)

    def _restate(self, *, synced: bool = False, problem: str = "") -> None:
        """Works out `freshness` anew and tells the listeners if it changed."""
        old = self.freshness
        stale_since = None
        if not self._connected and (old.synced or problem):
            stale_since = old.stale_since or self._doubt or self._clock.now()
            problem = problem or old.problem
        elif self._doubt is not None:
            stale_since = self._doubt
            problem = problem or Sentence("The Kubernetes API does not answer")
        # Between the first list and its watch the store is as fresh as it gets.
        if synced and not old.synced:
            stale_since, problem = None, ""
        self.freshness = Freshness(synced or old.synced, stale_since, problem)
        if self.freshness != old:
            for listener in self._listeners:
                if listener.on_state is not None:
                    self._call(listener, listener.on_state)

    def _changed(self, key: Key) -> None:
        for listener in self._listeners:
            try:
                listener.on_change(key)
            except Exception:  # noqa: BLE001  whatever a listener raises is its own
                self._drop(listener)

    def _call(self, listener: _Listener, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception:  # noqa: BLE001  whatever a listener raises is its own
            self._drop(listener)

    def _drop(self, listener: _Listener) -> None:
        """Called while the exception is handled."""
        log.exception("A listener of %s failed and is dropped", self.gvr.qualified)
        self.listener_failures += 1
        with self._lock:
            self._listeners = tuple(item for item in self._listeners if item is not listener)

    # Without a server.

    @classmethod
    def preloaded(cls, gvr: GVR, objects: Sequence[dict[str, Any]] = ()) -> "Informer[Any]":
        """A synced informer of these objects, for tests of whatever reads one."""
        informer: Informer[Any] = Informer(gvr, DECODERS[gvr])
        informer.replace([_raw(item) for item in objects], "1")
        informer.connected()
        return informer

    def replace(self, objects: Sequence[msgspec.Raw], resource_version: str) -> None:
        """As if a list had brought these objects, and no others."""
        self.replaced(self.store.replace(objects, resource_version))

    def apply(self, item: dict[str, Any]) -> None:
        """As if the watch had brought this object."""
        self.event(WatchEvent("MODIFIED", _raw(item)))

    def remove(self, item: dict[str, Any]) -> None:
        """As if the watch had brought this object's end."""
        self.event(WatchEvent("DELETED", _raw(item)))

    def set_stale(self, since: datetime | None, problem: str = "") -> None:
        """As if the connection had been lost, or was back."""
        self._connected = since is None
        self.freshness = Freshness(self.freshness.synced, self.freshness.stale_since, problem)
        self._doubt = since
        self._restate(problem=problem)


class InformerReplacement(Generic[P]):
    """A list on its way into an informer. Nobody sees anything of it before `commit`."""

    def __init__(self, informer: Informer[P], replacement: Replacement[P]) -> None:
        self._informer = informer
        self._replacement = replacement

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._replacement.add(raws)

    def commit(self, resource_version: str) -> None:
        self._informer.replaced(self._replacement.commit(resource_version))


def _raw(item: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(item))


class ChangeSignal:
    """Waits on one loop for an informer that lives on another. Use as a context manager."""

    def __init__(self, informer: Informer[Any], loop: asyncio.AbstractEventLoop) -> None:
        self._event = asyncio.Event()
        self._loop = loop
        self._informer = informer
        self._remove: Callable[[], None] = lambda: None

    def __enter__(self) -> asyncio.Event:
        def signal() -> None:
            self._loop.call_soon_threadsafe(self._event.set)

        self._remove = self._informer.add_listener(lambda _key: signal(), signal)
        return self._event

    def __exit__(self, *_: object) -> None:
        self._remove()
