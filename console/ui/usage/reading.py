"""Current usage, limited to a viewer's usage access, and messages for missing usage data.

The numbers come from kube-apiserver. They are visible to viewers who can list `metrics.k8s.io`,
that is, users who could run `kubectl top`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, NODE_METRICS, NODES, POD_METRICS
from console.kube.metrics_server import ContainerKey, ResourceUsage, UsageProblem
from console.kube.store import Entry
from console.kube.usage import UsageReader, UsageSample
from console.kube.usage_history import UsageHistory
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.usage.gauges import Gauge, Plot

#: Documentation of metrics-server.
DOCS = "https://github.com/kubernetes-sigs/metrics-server#readme"


@dataclass(frozen=True, slots=True)
class UsageNote:
    """Message about missing usage data. `url` is the documentation, or ""."""

    text: str | Promise
    url: str = ""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A selectable time range of a plot, with the URL that shows it."""

    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class CapacityView:
    """Template context of a capacity panel.

    `note` is the reason why usage is missing, or None. `spans` are the selectable time ranges,
    if any.
    """

    gauges: tuple[Gauge, ...]
    plots: tuple[Plot, ...]
    note: UsageNote | None
    spans: tuple[TimeRange, ...] = ()


DENIED = UsageNote(
    gettext_lazy("You don't have permission to view resource usage (list metrics.k8s.io).")
)
_TEXTS = {
    UsageProblem.ABSENT: gettext_lazy(
        "Resource usage is not available because metrics-server is not installed in the cluster."
    ),
    UsageProblem.FORBIDDEN: gettext_lazy(
        "The console does not have permission to read resource usage (list metrics.k8s.io)."
    ),
    UsageProblem.UNAVAILABLE: gettext_lazy(
        "Resource usage is currently not available because metrics-server is not responding."
    ),
    UsageProblem.UNREADABLE: gettext_lazy(
        "Resource usage is not available because the response from metrics-server could not be "
        "parsed."
    ),
}
_NOTES = {
    UsageProblem.WAITING: UsageNote(gettext_lazy("Loading resource usage.")),
    **{problem: UsageNote(text, DOCS) for problem, text in _TEXTS.items()},
}
_PAST = {
    UsageProblem.UNAVAILABLE: UsageNote(gettext_lazy("Prometheus is not responding.")),
    UsageProblem.UNREADABLE: UsageNote(
        gettext_lazy("The response from Prometheus could not be parsed.")
    ),
}


def history_note(problem: UsageProblem | None) -> UsageNote | None:
    """Return the message for a problem with the usage history, or None without a problem."""
    return None if problem is None else _PAST[problem]


def usage_note(problem: UsageProblem | None) -> UsageNote | None:
    """Return the message for a problem with current usage, or None without a problem."""
    return None if problem is None else _NOTES[problem]


def can_see_node_usage(access: Access) -> bool:
    return access.can("list", NODE_METRICS)


def usage_namespaces(access: Access) -> frozenset[str] | None:
    """Return the namespaces in which the viewer can see pod usage, or None for all."""
    return access.namespaces_where("list", POD_METRICS)


@dataclass(frozen=True, slots=True)
class UsageAccess:
    """The objects whose usage a viewer can see: those in `namespaces`, or all if None.

    Instances are equal for viewers who can see the same usage.
    """

    gvr: GVR
    usage: UsageReader
    namespaces: frozenset[str] | None

    def covers(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces

    def read(self) -> "UsageReading":
        return UsageReading(self, self.usage.read())


@dataclass(frozen=True, slots=True)
class UsageReading:
    """One usage reading, restricted to one viewer's usage access."""

    reach: UsageAccess
    reading: UsageSample

    @property
    def problem(self) -> UsageProblem | None:
        """Reason for the missing usage, or None."""
        found = self.reading
        return found.node_problem if self.reach.gvr == NODES else found.problem

    @property
    def note(self) -> UsageNote | None:
        """Message for the missing usage, or None if usage is available."""
        return DENIED if self.reach.namespaces == frozenset() else usage_note(self.problem)

    @property
    def available(self) -> bool:
        """True if usage is available to the viewer."""
        return self.problem is None and self.reach.namespaces != frozenset()

    def used(self, entry: Entry[Any]) -> ResourceUsage | None:
        """Return the object's usage, or None if it is not available to the viewer."""
        key = entry.key
        if not self.available:
            return None
        if self.reach.gvr == NODES:
            return self.reading.nodes.get(key.name)
        return self.reading.pods.get(key) if self.reach.covers(key.namespace) else None

    def container(self, key: ContainerKey) -> ResourceUsage | None:
        """Return the usage of a pod's container, or None if it is not available to the viewer."""
        if not self.available or not self.reach.covers(key.pod.namespace):
            return None
        return self.reach.usage.containers.now(key)

    def history(self, keys: Iterable[ContainerKey]) -> UsageHistory:
        """Return the total of the containers whose usage is available to the viewer."""
        return self.reach.usage.containers.total(
            [key for key in keys if self.reach.covers(key.pod.namespace)]
        )


def usage_access_of(kind: ResourceKind, access: Access) -> UsageAccess | None:
    """Return the viewer's current usage access for a kind, or None if the kind has no usage
    metrics.
    """
    if kind.metrics is None:
        return None
    usage = access.cluster.usage
    if kind.gvr == NODES:
        return UsageAccess(NODES, usage, None if can_see_node_usage(access) else frozenset())
    return UsageAccess(kind.gvr, usage, usage_namespaces(access))
