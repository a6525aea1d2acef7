"""A store that follows the server, and whoever wants to know when it changes.

Promises:
- One reflector for all there is, or one for each namespace that is followed, which lists and replaces the
  objects of that one alone, whatever the number of listeners and readers.
- Per key, listeners hear of changes in order and after the store has them. A key says that something
  changed, not what: read the store.
- A listener that raises is logged and dropped; the store and the other listeners go on.
- `freshness` is true at all times: since when the store may differ from the server, and why. It is that
  of all namespaces together: synced once every one has been listed, stale while one of them cannot be
  followed; then `problem` names it.

Listeners run on the core's thread. They must only mark and return; work belongs to a queue of theirs.
`add_listener` may be called from any thread; keys that changed before it are not repeated.
"""

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Generic, Protocol, TypeVar

import msgspec

from console.kube.clock import Clock, SystemClock
from console.kube.errors import Forbidden
from console.kube.gvr import GVR, Key
from console.kube.listwatch import ListWatch, Source, WatchEvent
from console.kube.reflector import Reflector
from console.kube.sentences import Sentence
from console.kube.store import Decode, Projected, Store, older

log = logging.getLogger(__name__)

#: The namespace of a source that has them all.
EVERYWHERE = ""
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


class Gathering(Protocol):
    """A list on its way into a store, as `Store.replacing` gives one."""

    def add(self, raws: Sequence[msgspec.Raw]) -> None: ...

    def commit(self, resource_version: str) -> Sequence[Key]: ...


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
        self._parts: tuple[_Part[P], ...] = ()
        #: Of each namespace; none while nothing is followed.
        self.reflectors: tuple[Reflector, ...] = ()
        self._followed: tuple[Source, ...] = ()
        self.events = 0
        self.listener_failures = 0

    @property
    def refusal(self) -> Forbidden | None:
        """kube-apiserver's last word, if that was that these objects may not be listed."""
        found = (item.refused for item in self._followed if isinstance(item, ListWatch))
        return next((refused for refused in found if refused is not None), None)

    @property
    def refused_verb(self) -> str:
        """What kube-apiserver has last not allowed."""
        found = [item for item in self._followed if isinstance(item, ListWatch) and item.refused]
        return found[0].refused_verb if found else "list"

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    async def follow(self, sources: Mapping[str, Source]) -> None:
        """Follows the sources, by namespace, until cancelled. May be called again afterwards: nothing
        then goes back to what the server may still remember of an earlier time."""
        oldest = "" if self.freshness.synced else "0"
        self._followed = tuple(sources.values())
        self._parts = tuple(_Part(self, namespace) for namespace in sources)
        self.reflectors = tuple(
            Reflector(part.name, source, part, clock=self._clock, oldest=oldest)
            for part, source in zip(self._parts, sources.values(), strict=True)
        )
        tasks = [asyncio.create_task(reflector.run()) for reflector in self.reflectors]
        try:
            # No TaskGroup: one that is cancelled is left to the garbage collector, with all it knows,
            # and what a first list brought is out of the collector's sight.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            # They know this informer, which would know them.
            self._parts, self.reflectors = (), ()

    def wake(self) -> None:
        """The server may be back: try now. On the core's loop."""
        for part, reflector in zip(self._parts, self.reflectors, strict=True):
            if not part.connected_now:
                reflector.wake()

    def renew(self) -> None:
        """The server is back, and an open watch may be deaf: take it up anew. On the core's loop."""
        for part, reflector in zip(self._parts, self.reflectors, strict=True):
            # What a deaf watch has missed, the next one tells: until then the store stays doubtful.
            if self._doubt is not None:
                part.connected_now = self._connected = False
            reflector.renew()

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

    # The reflectors' sinks.

    def gathering(self, namespace: str) -> Gathering:
        """Takes a namespace's list."""
        return self.store.replacing(namespace)

    def part_listed(self, changed: Sequence[Key]) -> None:
        """One namespace has been listed. Listeners hear of it at once, `synced` is for all."""
        if self.freshness.synced or all(part.listed for part in self._parts):
            self.replaced(changed)
        else:
            for key in changed:
                self._changed(key)

    def part_bookmark(self, resource_version: str) -> None:
        """One namespace is that far; another may have been further."""
        if not older(resource_version, self.store.resource_version):
            self.store.bookmark(resource_version)

    def part_moved(self) -> None:
        """A namespace's connection is good or bad now."""
        bad = next((part for part in self._parts if not part.connected_now), None)
        if bad is None:
            self.connected()
        elif problem := next((part.told for part in self._parts if part.problem), ""):
            self.disconnected(problem)

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
                try:
                    if listener.on_state is not None:
                        listener.on_state()
                except Exception:  # noqa: BLE001  whatever a listener raises is its own
                    self._drop(listener)

    def _changed(self, key: Key) -> None:
        for listener in self._listeners:
            try:
                listener.on_change(key)
            except Exception:  # noqa: BLE001  whatever a listener raises is its own
                self._drop(listener)

    def _drop(self, listener: _Listener) -> None:
        """Called while the exception is handled."""
        log.exception("A listener of %s failed and is dropped", self.gvr.qualified)
        self.listener_failures += 1
        with self._lock:
            self._listeners = tuple(item for item in self._listeners if item is not listener)

    def replace(self, objects: Sequence[msgspec.Raw], resource_version: str) -> None:
        """As if a list had brought these objects, and no others."""
        self.replaced(self.store.replace(objects, resource_version))


class _Part(Generic[P]):
    """The sink of one namespace's reflector."""

    def __init__(self, informer: Informer[P], namespace: str) -> None:
        self._informer = informer
        self._namespace = namespace
        self.name = f"{informer.gvr.qualified} {namespace}".strip()
        self.listed = self.connected_now = False
        self.problem = ""

    @property
    def told(self) -> str:
        """The problem with the namespace that has it."""
        if not self._namespace:
            return self.problem
        place, problem = self._namespace, self.problem
        return Sentence("%(namespace)s: %(problem)s", namespace=place, problem=problem)

    def replacing(self) -> "_Replacing[P]":
        return _Replacing(self._informer, self, self._namespace)

    def event(self, event: WatchEvent) -> str:
        return self._informer.event(event)

    def bookmark(self, resource_version: str) -> None:
        self._informer.part_bookmark(resource_version)

    def connected(self) -> None:
        self.connected_now, self.problem = True, ""
        self._informer.part_moved()

    def disconnected(self, problem: str) -> None:
        self.connected_now, self.problem = False, problem
        self._informer.part_moved()


class _Replacing(Generic[P]):
    """One namespace's list on its way into the informer."""

    def __init__(self, informer: Informer[P], part: _Part[P], namespace: str) -> None:
        self._informer = informer
        self._part = part
        self._gathering = informer.gathering(namespace)

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._gathering.add(raws)

    def commit(self, resource_version: str) -> None:
        changed = self._gathering.commit(resource_version)
        self._part.listed = True
        self._informer.part_listed(changed)
