"""What becomes of the pods of a node that is drained: as `kubectl drain --ignore-daemonsets` has it."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.ui.manifests import listed, mapping, text

#: On the pods that kube-apiserver shows of what a kubelet runs by itself.
_MIRROR = "kubernetes.io/config.mirror"


class Fate(enum.StrEnum):
    #: Something controls it and makes another one elsewhere.
    MOVES = "moves"
    #: Nothing does.
    LOST = "lost"
    ENDED = "ended"
    #: Of a DaemonSet, which would place another one there at once.
    DAEMON = "daemon"
    #: The kubelet runs it whatever the API says.
    STATIC = "static"

    @property
    def leaves(self) -> bool:
        return self not in (Fate.DAEMON, Fate.STATIC)


@dataclass(frozen=True, slots=True)
class Guest:
    """A pod of the node. `loses_data`: what it has in emptyDir volumes goes with it. `ending`: it is
    being deleted already."""

    key: Key
    uid: str
    fate: Fate
    loses_data: bool
    ending: bool


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
