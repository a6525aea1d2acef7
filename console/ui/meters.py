"""Resource usage of the objects of a list, for one viewer.

Usage is not part of the objects. All usage is measured together every 30 seconds, and viewers
who can list pods may not have permission to see their usage. A list's usage columns are
therefore shown only if metrics exist and the viewer can see them, and all cells use the same
reading.
"""

from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR, NODES
from console.kube.metricslist import ResourceUsage, UsageProblem
from console.kube.store import Entry
from console.kube.usage import UsageReader, UsageSample
from console.ui.access import Access
from console.ui.kind import ResourceKind
from console.ui.metered import DENIED, UsageNote, can_see_node_usage, usage_namespaces, usage_note


@dataclass(frozen=True, slots=True)
class UsageAccess:
    """The objects whose usage a viewer can see: those in `namespaces`, or all if None.

    Instances are equal for viewers who can see the same usage.
    """

    gvr: GVR
    usage: UsageReader
    namespaces: frozenset[str] | None

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
        allowed = self.reach.namespaces
        return self.reading.pods.get(key) if allowed is None or key.namespace in allowed else None


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
