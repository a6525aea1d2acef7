"""Decode objects like the cache does."""

from typing import Any

import msgspec

from console.kube.gvr import GVR
from console.kube.projections import DECODERS

META: dict[str, Any] = {
    "name": "example",
    "uid": "u",
    "resourceVersion": "5",
    "creationTimestamp": "2026-01-01T00:00:00Z",
}
DELETED = {"deletionTimestamp": "2026-01-01T01:00:00Z"}


def projected(gvr: GVR, meta: dict[str, Any] | None = None, /, **fields: Any) -> Any:
    """Return the projection of an object named `example` with these fields and this metadata."""
    item = {"metadata": {**META, **(meta or {})}, **fields}
    return DECODERS[gvr](msgspec.json.encode(item))[0]


def said(projection: Any) -> tuple[str, str, str]:
    """Return severity, word and reason of the status."""
    status = projection.status
    return status.severity.value, status.word, status.reason


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}
