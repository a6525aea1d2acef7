"""Cache statistics for metrics and for the cache page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.clock import Clock
from console.kube.gvr import GVR
from console.kube.informer import Freshness, Informer

#: Seconds between two samples of the event rates, and the number of samples: ten minutes.
STEP, KEPT = 5.0, 120


@dataclass(frozen=True, slots=True)
class InformerStats:
    """Statistics of one kind.

    `bytes` is the size of the compressed originals. `lag` is the number of seconds since the
    cache is known to have matched the server, None before the first list. `relists` and
    `restarts` count lists and watches after the first one.
    """

    gvr: GVR
    objects: int
    bytes: int
    events: int
    undecodable: int
    lag: float | None
    relists: int
    restarts: int
    listeners: int
    listener_failures: int
    freshness: Freshness


def stats_of(
    informers: Mapping[GVR, Informer[Any]], *, answered: datetime, now: datetime
) -> list[InformerStats]:
    """Return the statistics of each informer. `answered` is the time of kube-apiserver's last
    response.
    """
    return [_stats(informer, answered, now) for informer in informers.values()]


def _stats(informer: Informer[Any], answered: datetime, now: datetime) -> InformerStats:
    store, freshness = informer.store, informer.freshness
    reflectors = informer.reflectors
    return InformerStats(
        gvr=informer.gvr,
        objects=len(store),
        bytes=store.bytes_packed,
        events=informer.events,
        undecodable=store.undecodable,
        lag=_lag(freshness, answered, now),
        relists=sum(max(0, reflector.lists - 1) for reflector in reflectors),
        restarts=sum(max(0, reflector.watches - 1) for reflector in reflectors),
        listeners=informer.listeners,
        listener_failures=informer.listener_failures,
        freshness=freshness,
    )


def _lag(freshness: Freshness, answered: datetime, now: datetime) -> float | None:
    if not freshness.synced:
        return None
    return max(0.0, (now - (freshness.stale_since or answered)).total_seconds())


class EventRates:
    """Event rates of each kind over the last minutes, for display.

    `sample` must be called from one thread. Everything else may be called from any thread.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[GVR, int] = {}
        self._at = clock.monotonic()
        # Replaced as a whole, so that readers see a consistent state.
        self._seconds: tuple[float, ...] = ()
        self._events: Mapping[GVR, tuple[int, ...]] = {}

    def sample(self, informers: Mapping[GVR, Informer[Any]]) -> None:
        """Record the number of events since the last call. Kinds that are not followed anymore are
        dropped.
        """
        now = self._clock.monotonic()
        seconds = (*self._seconds, now - self._at)[-KEPT:]
        events = {}
        for gvr, informer in informers.items():
            count = informer.events
            before = self._counts.get(gvr, 0)
            # A restarted kind counts from zero.
            came = count - before if count >= before else count
            earlier = self._events.get(gvr, (0,) * (len(seconds) - 1))
            events[gvr] = (*earlier, came)[-KEPT:]
            self._counts[gvr] = count
        self._counts = {gvr: self._counts[gvr] for gvr in informers}
        self._at, self._seconds, self._events = now, seconds, events

    def rates(self, gvr: GVR | None = None) -> Sequence[float]:
        """Return events per second for each sample, oldest first; for all kinds together if `gvr`
        is None.
        """
        seconds, events = self._seconds, self._events
        if gvr is not None:
            counts: Sequence[int] = events.get(gvr, ())
        else:
            counts = [sum(column) for column in zip(*events.values(), strict=False)]
        return [count / span if span > 0 else 0.0 for count, span in _aligned(counts, seconds)]

    def rate(self, gvr: GVR | None = None, *, last: float = 60.0) -> float:
        """Return events per second over about the last `last` seconds."""
        rates, seconds = self.rates(gvr), self._seconds
        total = spent = 0.0
        for rate, span in reversed(_aligned(rates, seconds)):
            if spent >= last:
                break
            total, spent = total + rate * span, spent + span
        return total / spent if spent else 0.0


def _aligned(values: Sequence[float], seconds: Sequence[float]) -> list[tuple[float, float]]:
    """Pair the latest values with their durations."""
    size = min(len(values), len(seconds))
    return list(zip(values[len(values) - size :], seconds[len(seconds) - size :], strict=True))
