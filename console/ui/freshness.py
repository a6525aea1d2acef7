"""Freshness of the displayed data."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.informer import Informer


@dataclass(frozen=True, slots=True)
class LiveState:
    """`state` is "live", "stale" since `since` (UTC), or "off" if no data was loaded yet.

    `problem` is the untranslated reason or "". Use `spoken` to display it.
    """

    state: str
    since: datetime | None = None
    problem: str = ""


LIVE = LiveState("live")


def live_state(informer: Informer[Any]) -> LiveState:
    freshness = informer.freshness
    if not freshness.synced:
        return LiveState("off", freshness.stale_since, freshness.problem)
    if freshness.stale_since is not None:
        return LiveState("stale", freshness.stale_since, freshness.problem)
    return LIVE
