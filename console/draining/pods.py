"""Disposition of a drained node's pods, with the rules of `kubectl drain --ignore-daemonsets`."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.ui.core.manifests import mapping, mappings_at, text

#: Annotation of mirror pods, which represent static pods in the API.
_MIRROR = "kubernetes.io/config.mirror"


class Disposition(enum.StrEnum):
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
        return self not in (Disposition.DAEMON, Disposition.STATIC)


@dataclass(frozen=True, slots=True)
class NodePod:
    """Pod of the node.

    - `loses_data`: deleting the pod deletes data in its emptyDir volumes.
    - `terminating`: the pod is already terminating.
    """

    key: Key
    uid: str
    fate: Disposition
    loses_data: bool
    terminating: bool


def node_pod_of(pod: Mapping[str, Any]) -> NodePod:
    meta = mapping(pod, "metadata")
    fate = _fate(pod, meta)
    volumes = mappings_at(pod, "spec", "volumes")
    local = fate in (Disposition.MOVES, Disposition.LOST) and any(
        "emptyDir" in one for one in volumes
    )
    key = Key(str(meta.get("namespace", "")), str(meta.get("name", "")))
    return NodePod(key, str(meta.get("uid", "")), fate, local, bool(meta.get("deletionTimestamp")))


def _fate(pod: Mapping[str, Any], meta: Mapping[str, Any]) -> Disposition:
    if _MIRROR in mapping(meta, "annotations"):
        return Disposition.STATIC
    owners = [one for one in mappings_at(meta, "ownerReferences") if one.get("controller") is True]
    if text(mapping(pod, "status").get("phase")) in ("Succeeded", "Failed"):
        return Disposition.ENDED
    if not owners:
        return Disposition.LOST
    return Disposition.DAEMON if owners[0].get("kind") == "DaemonSet" else Disposition.MOVES
