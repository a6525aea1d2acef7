"""Plan of a drain: effect on each pod of the node, computed from the cache."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.group_kind import group_of
from console.kube.gvr import POD_DISRUPTION_BUDGETS, PODS, Key
from console.kube.indexes import indexes_of
from console.kube.store import Entry
from console.ui.core.manifests import mapping, mappings_at, text
from console.ui.core.subject import Subject
from console.ui.details.relations.owners import selecting
from console.ui.details.relations.visible_type import ObjectLine, VisibleType

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
    owner = owners[0]
    daemon = (group_of(text(owner.get("apiVersion"))), owner.get("kind")) == ("apps", "DaemonSet")
    return Disposition.DAEMON if daemon else Disposition.MOVES


#: Maximum number of pods shown per group.
MAX_PODS_SHOWN = 50

_TITLES: dict[Disposition, tuple[str | Promise, str | Promise]] = {
    Disposition.LOST: (
        gettext_lazy("Pods that will be lost"),
        gettext_lazy("These pods have no controller, so they are not recreated on another node."),
    ),
    Disposition.MOVES: (
        gettext_lazy("Pods that will be evicted"),
        gettext_lazy("The controllers of these pods create replacements on other nodes."),
    ),
    Disposition.ENDED: (gettext_lazy("Finished pods"), gettext_lazy("These pods will be deleted.")),
    Disposition.DAEMON: (
        gettext_lazy("DaemonSet pods (not evicted)"),
        gettext_lazy("A DaemonSet would immediately recreate its pods on this node."),
    ),
    Disposition.STATIC: (
        gettext_lazy("Static pods (not evicted)"),
        gettext_lazy("The kubelet runs these pods from local manifest files."),
    ),
}


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods with the same disposition. `lines` contains the first of `total` pods."""

    title: str | Promise
    hint: str | Promise
    total: int
    lines: Sequence[ObjectLine]

    @property
    def more(self) -> int:
        return self.total - len(self.lines)


@dataclass(frozen=True, slots=True)
class DrainPlan:
    """Effects of a drain.

    - `lost`: number of pods without a controller.
    - `losing_data`: number of pods that lose data in emptyDir volumes; `emptied_lines` contains the
      first of them.
    - `blocking`: disruption budgets visible to the viewer that currently allow no eviction.
    """

    groups: Sequence[PodGroup]
    lost: int
    losing_data: int
    emptied_lines: Sequence[ObjectLine]
    blocking: Sequence[ObjectLine]


def plan_of(subject: Subject) -> DrainPlan | None:
    """Return the plan, or None if the pods are not loaded."""
    seeing = VisibleType(subject, PODS)
    if seeing.informer is None:
        return None
    entries = indexes_of(seeing.informer.store).by_node.get(subject.key.name)
    # Draining requires permission to list pods in all namespaces.
    pods = sorted(seeing.only_visible(entries), key=lambda entry: entry.key)
    found = [(node_pod_of(pod.original()), pod) for pod in pods]
    emptied = [one for guest, one in found if guest.loses_data and not guest.terminating]
    return DrainPlan(
        groups=[
            PodGroup(
                title, hint, len(chosen), [seeing.line(one) for one in chosen[:MAX_PODS_SHOWN]]
            )
            for fate, (title, hint) in _TITLES.items()
            if (chosen := [one for guest, one in found if guest.fate is fate])
        ],
        lost=sum(guest.fate is Disposition.LOST and not guest.terminating for guest, _one in found),
        losing_data=len(emptied),
        emptied_lines=[seeing.line(one) for one in emptied[:MAX_PODS_SHOWN]],
        blocking=_blocking(subject, [one for guest, one in found if _is_asked_for(guest)]),
    )


def _is_asked_for(guest: NodePod) -> bool:
    """Return True if the eviction is subject to disruption budgets."""
    return guest.fate in (Disposition.LOST, Disposition.MOVES) and not guest.terminating


def _blocking(subject: Subject, pods: Iterable[Entry[Any]]) -> list[ObjectLine]:
    seeing = VisibleType(subject, POD_DISRUPTION_BUDGETS)
    if seeing.informer is None:
        return []
    found = {
        budget.key: budget
        for pod in pods
        for budget in selecting(seeing.informer, pod.key.namespace, pod.projection.labels)
        if not budget.projection.allowed
    }
    return [seeing.line(one) for one in seeing.only_visible(found.values())[:MAX_PODS_SHOWN]]
