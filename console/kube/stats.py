"""Cache statistics for metrics and for the cache page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.gvr import GVR
from console.kube.informer import Freshness, Informer


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
