"""Events of a cluster."""

from typing import Any


def event(name: str, about: str, uid: str, space: str = "shop") -> dict[str, Any]:
    kind, _, of = about.partition("/")
    return {
        "metadata": {"name": name, "namespace": space, "uid": name, "resourceVersion": "1"},
        "involvedObject": {"kind": kind, "name": of, "namespace": space, "uid": uid},
        "type": "Warning",
        "reason": "BackOff",
        "message": f"told by {name}",
        "lastTimestamp": "2026-11-20T12:00:00Z",
    }
