"""A store that follows the server and notifies listeners of changes.

- One reflector follows all namespaces, or one reflector follows each namespace and replaces only
  the objects of that namespace. The number of listeners and readers does not matter.
- For each key, listeners are notified of changes in order, after the store has them. A key only
  says that the object changed; read the store for its state.
- A listener that raises an exception is logged and removed. The store and other listeners
  continue.
- `freshness` is always current: since when the store may differ from the server, and why. It
  covers all namespaces together: synced after every namespace has been listed, stale while any
  of them cannot be followed, with the reason in `problem`.

Listeners run on the core thread. They must only mark work and return; the work belongs in a
queue of the listener. `add_listener` may be called from any thread. Earlier changes are not
replayed.
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
from console.kube.messages import Message
from console.kube.reflector import Reflector
from console.kube.store import Decode, Projected, Store, is_older

log = logging.getLogger(__name__)

#: The namespace of a source that covers all namespaces.
EVERYWHERE = ""
#: Number of objects in an initial list above which the objects are frozen for the garbage
#: collector.
MANY = 1_000

#: The problem of an informer whose type the cluster does not serve. It is not retried.
NOT_INSTALLED = Message("This resource type is not installed on this cluster")

P = TypeVar("P", bound=Projected)
OnChange = Callable[[Key], None]
OnState = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Freshness:
    """How current a store is.

    `synced` is True after the first list. `stale_since` (UTC) is the last time the store is
    known to have matched the server, or None while it does. `problem` is the reason, or "".
    """

    synced: bool = False
    stale_since: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    on_change: OnChange
    on_state: OnState | None


class ListReceiver(Protocol):
    """A list that is being received into a store (see `Store.replacing`)."""

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
        #: One per namespace. Empty while the informer does not follow the server.
        self.reflectors: tuple[Reflector, ...] = ()
        self._followed: tuple[Source, ...] = ()
        self.events = 0
        self.listener_failures = 0

    @property
    def refusal(self) -> Forbidden | None:
        """Return the error if kube-apiserver's last response was that these objects may not be
        listed.
        """
        found = (item.refused for item in self._followed if isinstance(item, ListWatch))
        return next((refused for refused in found if refused is not None), None)

    @property
    def not_installed(self) -> bool:
        """Return True while the cluster does not serve the type."""
        return self.freshness.problem == NOT_INSTALLED

    @property
    def refused_verb(self) -> str:
        """Return the verb that kube-apiserver last refused."""
        found = [item for item in self._followed if isinstance(item, ListWatch) and item.refused]
        return found[0].refused_verb if found else "list"

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    async def follow(self, sources: Mapping[str, Source]) -> None:
        """Follow the sources (by namespace) until cancelled.

        It may be called again afterwards. The store then never returns to an older state, even
        if the server's cache is behind.
        """
        oldest = "" if self.freshness.synced else "0"
        self._followed = tuple(sources.values())
        self._parts = tuple(_Part(self, namespace) for namespace in sources)
        self.reflectors = tuple(
            Reflector(part.name, source, part, clock=self._clock, oldest=oldest)
            for part, source in zip(self._parts, sources.values(), strict=True)
        )
        tasks = [asyncio.create_task(reflector.run()) for reflector in self.reflectors]
        try:
            # A cancelled TaskGroup is only freed by the garbage collector, with everything it
            # references, and the objects of an initial list are frozen for the collector.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            # Parts and reflectors reference this informer. Break the reference cycle.
            self._parts, self.reflectors = (), ()

    def wake(self) -> None:
        """Retry disconnected reflectors now because the server may be reachable again. Core thread
        only.
        """
        for part, reflector in zip(self._parts, self.reflectors, strict=True):
            if not part.connected_now:
                reflector.wake()

    def restart_watches(self) -> None:
        """Restart open watches, which may have missed events while the server was away. Core thread
        only.
        """
        for part, reflector in zip(self._parts, self.reflectors, strict=True):
            # The new watch delivers the missed events. Until then the store stays stale.
            if self._doubt is not None:
                part.connected_now = self._connected = False
            reflector.restart()

    def set_unresponsive_since(self, since: datetime | None) -> None:
        """Mark the store as stale because the server has not answered probes since `since`. None
        clears it.
        """
        if since != self._doubt:
            self._doubt = since
            self._restate()

    def add_listener(
        self, on_change: OnChange, on_state: OnState | None = None
    ) -> Callable[[], None]:
        """Call `on_change(key)` for every change and `on_state()` when `freshness` changes.

        Return a function that removes the listener. It may be called more than once.
        """
        listener = _Listener(on_change, on_state)
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def remove() -> None:
            with self._lock:
                self._listeners = tuple(item for item in self._listeners if item is not listener)

        return remove

    # The reflectors' sinks.

    def receive_list(self, namespace: str) -> ListReceiver:
        """Start to receive the list of a namespace."""
        return self.store.receive_list(namespace)

    def part_listed(self, changed: Sequence[Key]) -> None:
        """Notify listeners after the list of one namespace. `synced` waits for all namespaces."""
        if self.freshness.synced or all(part.listed for part in self._parts):
            self.replaced(changed)
        else:
            for key in changed:
                self._changed(key)

    def part_bookmark(self, resource_version: str) -> None:
        """Advance the store's resourceVersion, unless another namespace is further ahead."""
        if not is_older(resource_version, self.store.resource_version):
            self.store.bookmark(resource_version)

    def part_connection_changed(self) -> None:
        """Update `freshness` after the connection of a namespace changed."""
        bad = next((part for part in self._parts if not part.connected_now), None)
        if bad is None:
            self.connected()
        elif problem := next((part.told for part in self._parts if part.problem), ""):
            self.disconnected(problem)

    def replaced(self, changed: Sequence[Key]) -> None:
        if not self.freshness.synced and len(changed) >= MANY:
            # These objects are long-lived. Without freezing, every full collection traverses all of
            # them and delays pages. Collect first, because garbage would be frozen too.
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
        """Recompute `freshness` and notify listeners if it changed."""
        old = self.freshness
        stale_since = None
        if not self._connected and (old.synced or problem):
            stale_since = old.stale_since or self._doubt or self._clock.now()
            problem = problem or old.problem
        elif self._doubt is not None:
            stale_since = self._doubt
            problem = problem or Message("The Kubernetes API is not responding")
        # The store is fresh between the first list and its watch.
        if synced and not old.synced:
            stale_since, problem = None, ""
        self.freshness = Freshness(synced or old.synced, stale_since, problem)
        if self.freshness != old:
            for listener in self._listeners:
                try:
                    if listener.on_state is not None:
                        listener.on_state()
                except Exception:  # noqa: BLE001  listeners may raise any exception
                    self._drop(listener)

    def _changed(self, key: Key) -> None:
        for listener in self._listeners:
            try:
                listener.on_change(key)
            except Exception:  # noqa: BLE001  listeners may raise any exception
                self._drop(listener)

    def _drop(self, listener: _Listener) -> None:
        """Remove a failed listener. Call it in an exception handler."""
        log.exception("A listener of %s failed and was removed", self.gvr.qualified)
        self.listener_failures += 1
        with self._lock:
            self._listeners = tuple(item for item in self._listeners if item is not listener)

    def replace(self, objects: Sequence[msgspec.Raw], resource_version: str) -> None:
        """Replace all objects, like a list would."""
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
        """Return the problem, prefixed with the namespace."""
        if not self._namespace:
            return self.problem
        place, problem = self._namespace, self.problem
        return Message("%(namespace)s: %(problem)s", namespace=place, problem=problem)

    def replacing(self) -> "_Replacing[P]":
        return _Replacing(self._informer, self, self._namespace)

    def event(self, event: WatchEvent) -> str:
        return self._informer.event(event)

    def bookmark(self, resource_version: str) -> None:
        self._informer.part_bookmark(resource_version)

    def connected(self) -> None:
        self.connected_now, self.problem = True, ""
        self._informer.part_connection_changed()

    def disconnected(self, problem: str) -> None:
        self.connected_now, self.problem = False, problem
        self._informer.part_connection_changed()


class _Replacing(Generic[P]):
    """A namespace's list that is being received into the informer."""

    def __init__(self, informer: Informer[P], part: _Part[P], namespace: str) -> None:
        self._informer = informer
        self._part = part
        self._gathering = informer.receive_list(namespace)

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._gathering.add(raws)

    def commit(self, resource_version: str) -> None:
        changed = self._gathering.commit(resource_version)
        self._part.listed = True
        self._informer.part_listed(changed)
