"""How old what is shown may be, as pages and sockets say it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.informer import Informer


@dataclass(frozen=True, slots=True)
class LiveState:
    """`state`: "live"; "stale" since `since` (UTC); "off" while there is nothing to show yet.

    `problem`: why, as the core says it, or "". Show it by `spoken`.
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
