"""The cache in numbers: one set of them for machines and for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.gvr import GVR
from console.kube.informer import Freshness, Informer


@dataclass(frozen=True, slots=True)
class InformerStats:
    """One kind. `bytes`: of the compressed originals. `lag`: seconds for which nothing has shown that
    the cache equals the server, None before the first list. `relists` and `restarts`: lists and
    watches after the first."""

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
    """`answered`: when kube-apiserver last gave a sign of life."""
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
