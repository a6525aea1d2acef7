"""What the objects of a list use, for one viewer.

Usage is no part of an object: it is measured every half minute for all of them at once, and whoever may
list pods may still not know what they use. So a list's columns of usage are there only where somebody
measures and the viewer may know, and are told the numbers of one reading.
"""

from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR, NODES
from console.kube.metricslist import Problem, Used
from console.kube.store import Entry
from console.kube.usage import Reading, Usage
from console.ui.access import Access
from console.ui.kind import ResourceKind
from console.ui.metered import DENIED, NotMetered, sees_node_usage, usage_namespaces, why_not


@dataclass(frozen=True, slots=True)
class Reach:
    """Whose usage a viewer may know: of objects in these namespaces, None for all.

    Equal for viewers who may know the same of the same usage.
    """

    gvr: GVR
    usage: Usage
    namespaces: frozenset[str] | None

    def now(self) -> "Meter":
        return Meter(self, self.usage.read())


@dataclass(frozen=True, slots=True)
class Meter:
    """One reading for one viewer."""

    reach: Reach
    reading: Reading

    @property
    def problem(self) -> Problem | None:
        """Why nothing is known."""
        found = self.reading
        return found.node_problem if self.reach.gvr == NODES else found.problem

    @property
    def note(self) -> NotMetered | None:
        """The same in words; None where there are numbers."""
        return DENIED if self.reach.namespaces == frozenset() else why_not(self.problem)

    @property
    def works(self) -> bool:
        """There are numbers that the viewer may know."""
        return self.problem is None and self.reach.namespaces != frozenset()

    def used(self, entry: Entry[Any]) -> Used | None:
        """What the object uses, None where that is not known to the viewer."""
        key = entry.key
        if not self.works:
            return None
        if self.reach.gvr == NODES:
            return self.reading.nodes.get(key.name)
        allowed = self.reach.namespaces
        return self.reading.pods.get(key) if allowed is None or key.namespace in allowed else None


def reach_of(kind: ResourceKind, access: Access) -> Reach | None:
    """None for kinds whose usage nobody measures. Decided anew at each call."""
    if kind.metrics is None:
        return None
    usage = access.cluster.usage
    if kind.gvr == NODES:
        return Reach(NODES, usage, None if sees_node_usage(access) else frozenset())
    return Reach(kind.gvr, usage, usage_namespaces(access))
