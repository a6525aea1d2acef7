"""Plan of a drain: effect on each pod of the node, computed from the cache."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.draining.guests import Fate, Guest, guest_of
from console.kube.gvr import POD_DISRUPTION_BUDGETS, PODS
from console.kube.indexes import indexes_of
from console.kube.store import Entry
from console.ui.relations.seeing import Line, Seeing
from console.ui.relations.selecting import selecting
from console.ui.subject import Subject

#: Maximum number of pods shown per group.
MOST = 50

_TITLES: dict[Fate, tuple[str | Promise, str | Promise]] = {
    Fate.LOST: (
        gettext_lazy("Pods that will be lost"),
        gettext_lazy("These pods have no controller, so they are not recreated on another node."),
    ),
    Fate.MOVES: (
        gettext_lazy("Pods that will be evicted"),
        gettext_lazy("The controllers of these pods create replacements on other nodes."),
    ),
    Fate.ENDED: (gettext_lazy("Finished pods"), gettext_lazy("These pods will be deleted.")),
    Fate.DAEMON: (
        gettext_lazy("DaemonSet pods (not evicted)"),
        gettext_lazy("A DaemonSet would immediately recreate its pods on this node."),
    ),
    Fate.STATIC: (
        gettext_lazy("Static pods (not evicted)"),
        gettext_lazy("The kubelet runs these pods from local manifest files."),
    ),
}


@dataclass(frozen=True, slots=True)
class Sort:
    """Pods with the same disposition. `lines` contains the first of `total` pods."""

    title: str | Promise
    hint: str | Promise
    total: int
    lines: Sequence[Line]

    @property
    def more(self) -> int:
        return self.total - len(self.lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """Effects of a drain.

    - `lost`: number of pods without a controller.
    - `emptied`: number of pods that lose data in emptyDir volumes; `emptied_lines` contains the
      first of them.
    - `blocking`: disruption budgets visible to the viewer that currently allow no eviction.
    """

    groups: Sequence[Sort]
    lost: int
    losing_data: int
    emptied_lines: Sequence[Line]
    blocking: Sequence[Line]


def plan_of(subject: Subject) -> Plan | None:
    """Return the plan, or None if the pods are not loaded."""
    seeing = Seeing(subject, PODS)
    if seeing.informer is None:
        return None
    entries = indexes_of(seeing.informer.store).by_node.get(subject.key.name)
    # Draining requires permission to list pods in all namespaces.
    pods = sorted(seeing.only_visible(entries), key=lambda entry: entry.key)
    found = [(guest_of(pod.original()), pod) for pod in pods]
    emptied = [one for guest, one in found if guest.loses_data and not guest.terminating]
    return Plan(
        groups=[
            _sort(fate, seeing, chosen)
            for fate in _TITLES
            if (chosen := [one for guest, one in found if guest.fate is fate])
        ],
        lost=sum(guest.fate is Fate.LOST and not guest.terminating for guest, _one in found),
        losing_data=len(emptied),
        emptied_lines=[seeing.line(one) for one in emptied[:MOST]],
        blocking=_blocking(subject, [one for guest, one in found if _is_asked_for(guest)]),
    )


def _is_asked_for(guest: Guest) -> bool:
    """Return True if the eviction is subject to disruption budgets."""
    return guest.fate in (Fate.LOST, Fate.MOVES) and not guest.terminating


def _sort(fate: Fate, seeing: Seeing, entries: Sequence[Entry[Any]]) -> Sort:
    title, hint = _TITLES[fate]
    return Sort(title, hint, len(entries), [seeing.line(one) for one in entries[:MOST]])


def _blocking(subject: Subject, pods: Iterable[Entry[Any]]) -> list[Line]:
    seeing = Seeing(subject, POD_DISRUPTION_BUDGETS)
    if seeing.informer is None:
        return []
    found = {
        budget.key: budget
        for pod in pods
        for budget in selecting(seeing.informer, pod.key.namespace, pod.projection.labels)
        if not budget.projection.allowed
    }
    return [seeing.line(one) for one in seeing.only_visible(found.values())[:MOST]]
