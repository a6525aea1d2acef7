"""Which kinds are followed, from their first use until nobody has looked at them for a while.

Promises:
- `get` may be called from any thread. What it returns is followed for at least `idle` seconds more,
  and for as long as it has listeners; kept kinds never stop.
- A kind that stopped starts anew at its next use, with an informer and a list of its own. Whoever still
  holds the old informer can see that nobody follows it: its `freshness` is stale and says why.
- A kind whose type is gone stops at once and forgets its objects. If its type comes back while somebody
  listens, that very informer goes on, with a fresh list.
- An error of our own in a kind stops no other, is shown by its `freshness`, and is tried again.
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
from console.kube.sentences import Sentence

log = logging.getLogger(__name__)

#: Seconds without a reader and without a listener after which a kind is not followed any more.
IDLE = 600.0
#: Seconds until a kind is tried again that an error of our own has stopped.
RETRY = 10.0

IDLED = Sentence("Nobody has looked at this kind for a while, so it is not followed any more")
VANISHED = Sentence("The cluster does not have this type any more")
BROKEN = Sentence("The console made a mistake; the log says which")


class UnknownKind(LookupError):
    """The cache has no projection for this type, and the cluster does not define it."""


class NeverCached(UnknownKind):
    """Objects of this type are read as the viewer alone: see `console.kube.livelist`."""


class InformerBuilder(Protocol):
    def make(self, gvr: GVR) -> Informer[Any]:
        """An informer for a type; raises `UnknownKind`."""
        ...

    async def follow(self, informer: Informer[Any]) -> None:
        """Follows the server until cancelled."""
        ...


@dataclass(slots=True, eq=False)
class _Kind:
    """`own`: listeners that the core itself has. `ending`: why it is to stop, or "". `followed`: the
    loop that follows it has not ended."""

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


class Factory:
    """`notify`: whom of the core itself to tell of changes of a kind, while that is followed. This is
    no use that would keep it."""

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
        # Replaced whenever `_kinds` changes: every page asks for it.
        self._informers: Mapping[GVR, Informer[Any]] = MappingProxyType({})
        # Those whose type is gone and whom somebody listens to. The core's thread alone.
        self._vanished: dict[GVR, _Kind] = {}

    # Any thread.

    def get(self, gvr: GVR) -> Informer[Any]:
        """The shared informer of a type, started if nobody follows it. Raises `UnknownKind`."""
        return self._use(gvr).informer

    def keep(self, gvr: GVR) -> Informer[Any]:
        """As `get`, and from now on it never stops."""
        kind = self._use(gvr)
        kind.kept = True
        return kind.informer

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        """Those that are followed. Looking at them is no use that would keep one."""
        return self._informers

    def _use(self, gvr: GVR) -> _Kind:
        # With the lock held a kind is either followed for `idle` seconds from now, or not at all.
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
        """With the lock held."""
        found = {gvr: kind.informer for gvr, kind in self._kinds.items()}
        self._informers = MappingProxyType(found)

    def _begin(self, kind: _Kind) -> None:
        kind.followed = True
        self._spawn(self._follow(kind))

    # The core's thread.

    def sweep(self) -> None:
        """Stops what nobody has used for long enough."""
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

    def vanish(self, gvr: GVR) -> None:
        """The type is gone."""
        with self._lock:
            kind = self._kinds.pop(gvr, None)
            self._recount()
        if kind is None:
            return
        self._end(kind, VANISHED)
        if kind.listened:
            self._vanished[gvr] = kind

    def appear(self, gvr: GVR) -> None:
        """The type is there, or there again."""
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

    def vanished(self) -> Collection[GVR]:
        """Types that are gone and that somebody listens to all the same."""
        return self._vanished.keys()

    def renew(self, gvr: GVR) -> None:
        """The type is not the one it was: lists it anew."""
        with self._lock:
            kind = self._kinds.get(gvr)
        if kind is not None and kind.run is not None:
            kind.run.cancel()

    def _end(self, kind: _Kind, why: str) -> None:
        kind.ending = why
        if kind.run is not None:
            kind.run.cancel()

    async def _follow(self, kind: _Kind) -> None:
        """Until the kind is to end. A task of its own can be ended, or begun anew, by itself."""
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
                log.error("Following %s ended", kind.informer.gvr.qualified, exc_info=error)
                kind.informer.disconnected(BROKEN)
                await self._clock.sleep(RETRY)
        kind.run, kind.followed = None, False
        if kind.ending == VANISHED:
            kind.informer.replace([], kind.informer.store.resource_version)
        kind.informer.disconnected(kind.ending)
