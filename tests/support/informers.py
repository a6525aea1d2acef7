"""Informers without a server."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from console.kube.gvr import GVR
from console.kube.informer import Freshness, Informer
from console.kube.listwatch import WatchEvent
from console.kube.projections import DECODERS


def preloaded(gvr: GVR, objects: Sequence[dict[str, Any]] = ()) -> Informer[Any]:
    """Return a synced informer with these objects."""
    informer: Informer[Any] = Informer(gvr, DECODERS[gvr])
    informer.replace([_raw(item) for item in objects], "1")
    informer.connected()
    return informer


def bring(informer: Informer[Any], item: dict[str, Any]) -> None:
    """Simulate a MODIFIED watch event for the object."""
    informer.event(WatchEvent("MODIFIED", _raw(item)))


def take_away(informer: Informer[Any], item: dict[str, Any]) -> None:
    """Simulate a DELETED watch event for the object."""
    informer.event(WatchEvent("DELETED", _raw(item)))


def set_stale(informer: Informer[Any], since: datetime | None, problem: str = "") -> None:
    """Simulate a lost connection since `since`, or a restored one if it is None."""
    informer._connected = since is None
    informer.freshness = Freshness(
        informer.freshness.synced, informer.freshness.stale_since, problem
    )
    informer._doubt = since
    informer._restate(problem=problem)


def _raw(item: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(item))
