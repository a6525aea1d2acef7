"""Disposition of a drained node's pods, with the rules of `kubectl drain --ignore-daemonsets`."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.ui.manifests import listed, mapping, text

#: Annotation of mirror pods, which represent static pods in the API.
_MIRROR = "kubernetes.io/config.mirror"


class Fate(enum.StrEnum):
    #: A controller recreates the pod on another node.
    MOVES = "moves"
    #: No controller recreates the pod.
    LOST = "lost"
    ENDED = "ended"
    #: A DaemonSet would immediately recreate the pod on the node.
    DAEMON = "daemon"
    #: Static pod, which the kubelet runs independently of the API.
    STATIC = "static"

    @property
    def is_evicted(self) -> bool:
        return self not in (Fate.DAEMON, Fate.STATIC)


@dataclass(frozen=True, slots=True)
class Guest:
    """Pod of the node.

    - `loses_data`: deleting the pod deletes data in its emptyDir volumes.
    - `ending`: the pod is already terminating.
    """

    key: Key
    uid: str
    fate: Fate
    loses_data: bool
    terminating: bool


def guest_of(pod: Mapping[str, Any]) -> Guest:
    meta = mapping(pod, "metadata")
    fate = _fate(pod, meta)
    volumes = listed(pod, "spec", "volumes")
    local = fate in (Fate.MOVES, Fate.LOST) and any("emptyDir" in one for one in volumes)
    key = Key(str(meta.get("namespace", "")), str(meta.get("name", "")))
    return Guest(key, str(meta.get("uid", "")), fate, local, bool(meta.get("deletionTimestamp")))


def _fate(pod: Mapping[str, Any], meta: Mapping[str, Any]) -> Fate:
    if _MIRROR in mapping(meta, "annotations"):
        return Fate.STATIC
    owners = [one for one in listed(meta, "ownerReferences") if one.get("controller") is True]
    if text(mapping(pod, "status").get("phase")) in ("Succeeded", "Failed"):
        return Fate.ENDED
    if not owners:
        return Fate.LOST
    return Fate.DAEMON if owners[0].get("kind") == "DaemonSet" else Fate.MOVES
