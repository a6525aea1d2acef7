"""Shared informers, each followed from first use until it has been unused for a while.

- `get` may be called from any thread. The returned informer is followed for at least `idle`
  seconds, and as long as it has listeners. Kinds passed to `pin` never stop.
- A stopped kind restarts on next use with a new informer and a new list. Holders of the old
  informer can see that it is not followed: its `freshness` is stale and contains the reason.
- A kind whose type was deleted stops immediately and drops its objects. If the type is created
  again while listeners remain, the same informer continues with a fresh list.
- An internal error in one kind does not stop the others. `freshness` reports it, and it is
  retried.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol

from console.kube.clock import Clock
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.messages import Message

log = logging.getLogger(__name__)

#: Seconds without readers and listeners after which a kind is not followed anymore.
IDLE = 600.0
#: Seconds until a kind that stopped with an internal error is retried.
RETRY = 10.0

IDLED = Message("The watch was stopped because this resource type has not been viewed for a while")
VANISHED = Message("The cluster no longer has this resource type")
BROKEN = Message("Internal error in the console. See the console's log")


class UnknownKind(LookupError):
    """The cache has no projection for this type, and the cluster does not define it."""


class NeverCached(UnknownKind):
    """Objects of this type are only read on behalf of the user (see `console.kube.livelist`)."""


class InformerBuilder(Protocol):
    def make(self, gvr: GVR) -> Informer[Any]:
        """Return an informer for a type. Raise `UnknownKind`."""
        ...

    async def follow(self, informer: Informer[Any]) -> None:
        """Follow the server until cancelled."""
        ...


@dataclass(slots=True, eq=False)
class _Kind:
    """The state of one kind.

    `own` is the number of listeners of the core itself. `ending` is the reason to stop, or "".
    `followed` is True until the task that follows the kind has ended.
    """

    informer: Informer[Any]
    used: float
    own: int = 0
    kept: bool = False
    ending: str = ""
    followed: bool = False
    run: "asyncio.Task[None] | None" = None

    @property
    def listened(self) -> bool:
        return self.informer.listeners > self.own


class InformerFactory:
    """Create, start and stop the shared informers.

    `notify` maps kinds to listeners of the core itself. These listeners do not keep a kind
    alive.
    """

    def __init__(
        self,
        builder: InformerBuilder,
        spawn: Callable[[Coroutine[Any, Any, None]], Any],
        clock: Clock,
        *,
        idle: float = IDLE,
        notify: Mapping[GVR, Callable[[Key], None]] = MappingProxyType({}),
    ) -> None:
        self._builder = builder
        self._spawn = spawn
        self._clock = clock
        self._idle = idle
        self._notify = notify
        self._lock = Lock()
        self._kinds: dict[GVR, _Kind] = {}
        # Replaced, not modified, when `_kinds` changes: every page reads it without the lock.
        self._informers: Mapping[GVR, Informer[Any]] = MappingProxyType({})
        # Kinds whose type was deleted and that still have listeners. Core thread only.
        self._vanished: dict[GVR, _Kind] = {}

    # Any thread.

    def get(self, gvr: GVR) -> Informer[Any]:
        """Return the shared informer of a type and start it if necessary. Raise `UnknownKind`."""
        return self._use(gvr).informer

    def pin(self, gvr: GVR) -> Informer[Any]:
        """Like `get`, but the informer never stops."""
        kind = self._use(gvr)
        kind.kept = True
        return kind.informer

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        """Return the followed informers. This does not count as use."""
        return self._informers

    def _use(self, gvr: GVR) -> _Kind:
        # While the lock is held, a kind is either followed for `idle` more seconds or not at all.
        with self._lock:
            kind = self._kinds.get(gvr)
            if kind is not None:
                kind.used = self._clock.monotonic()
                return kind
        return self._start(gvr)

    def _start(self, gvr: GVR) -> _Kind:
        informer = self._builder.make(gvr)
        with self._lock:
            found = self._kinds.get(gvr)
            if found is not None:
                return found
            kind = self._kinds[gvr] = _Kind(informer, self._clock.monotonic())
            self._recount()
            if gvr in self._notify:
                kind.own = 1
                informer.add_listener(self._notify[gvr])
            self._begin(kind)
        return kind

    def _recount(self) -> None:
        """Update `_informers`. Call it with the lock held."""
        found = {gvr: kind.informer for gvr, kind in self._kinds.items()}
        self._informers = MappingProxyType(found)

    def _begin(self, kind: _Kind) -> None:
        kind.followed = True
        self._spawn(self._follow(kind))

    # Core thread only.

    def sweep(self) -> None:
        """Stop kinds that have been unused for `idle` seconds."""
        now = self._clock.monotonic()
        with self._lock:
            for kind in self._kinds.values():
                if kind.kept or kind.listened:
                    kind.used = now
            idle = [gvr for gvr, kind in self._kinds.items() if now - kind.used >= self._idle]
            stopped = [self._kinds.pop(gvr) for gvr in idle]
            self._recount()
        for kind in stopped:
            self._end(kind, IDLED)
        for gvr in [gvr for gvr, kind in self._vanished.items() if not kind.listened]:
            del self._vanished[gvr]

    def type_deleted(self, gvr: GVR) -> None:
        """Stop a kind whose type was deleted."""
        with self._lock:
            kind = self._kinds.pop(gvr, None)
            self._recount()
        if kind is None:
            return
        self._end(kind, VANISHED)
        if kind.listened:
            self._vanished[gvr] = kind

    def type_created(self, gvr: GVR) -> None:
        """Resume a kind whose type was created again."""
        kind = self._vanished.pop(gvr, None)
        if kind is None or not kind.listened:
            return
        with self._lock:
            if gvr in self._kinds:
                return
            kind.ending, kind.used = "", self._clock.monotonic()
            self._kinds[gvr] = kind
            self._recount()
            if not kind.followed:
                self._begin(kind)

    def deleted_types(self) -> Collection[GVR]:
        """Return the deleted types that still have listeners."""
        return self._vanished.keys()

    def relist(self, gvr: GVR) -> None:
        """List the kind again because its type was redefined."""
        with self._lock:
            kind = self._kinds.get(gvr)
        if kind is not None and kind.run is not None:
            kind.run.cancel()

    def _end(self, kind: _Kind, why: str) -> None:
        kind.ending = why
        if kind.run is not None:
            kind.run.cancel()

    async def _follow(self, kind: _Kind) -> None:
        """Follow the kind until it is stopped. The inner task can be cancelled or restarted
        separately.
        """
        while not kind.ending:
            kind.run = asyncio.create_task(self._builder.follow(kind.informer))
            try:
                await asyncio.wait((kind.run,))
            except asyncio.CancelledError:
                kind.run.cancel()
                await asyncio.wait((kind.run,))
                raise
            if not kind.run.cancelled():
                error = kind.run.exception()
                log.error("Following %s failed", kind.informer.gvr.qualified, exc_info=error)
                kind.informer.disconnected(BROKEN)
                await self._clock.sleep(RETRY)
        kind.run, kind.followed = None, False
        if kind.ending == VANISHED:
            kind.informer.replace([], kind.informer.store.resource_version)
        kind.informer.disconnected(kind.ending)
