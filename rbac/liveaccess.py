"""The rights of somebody who stays, as a socket does.

A request has the groups of its moment. A socket lives on, so its groups are looked up at each question:
whoever leaves a group has lost its rights with the next one, and whoever joins need not come again.
"""

from collections.abc import Hashable

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.kube.runtime import Reads
from console.ui.access import Access, Doubting
from console.ui.clusters import Cluster
from rbac.memberships import groups_of


class LiveAccess:
    """A `console.ui.access.Access` in one cluster. `source`: where groups are, which is the host."""

    def __init__(self, name: str, cluster: Cluster, source: Reads) -> None:
        self.cluster = cluster
        self._name, self._source = name, source

    @property
    def identity(self) -> Identity:
        return Identity(self._name, groups_of(self._source, self._name))

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return self._now.can(verb, gvr, namespace=namespace, name=name, subresource=subresource)

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return self._now.namespaces_where(verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        return self._now.names_where(verb, gvr, subresource)

    def standing(self) -> Hashable:
        return self._now.standing()

    def in_doubt(self) -> bool:
        """Of `console.ui.access.Doubting`."""
        now = self._now
        return isinstance(now, Doubting) and now.in_doubt()

    @property
    def _now(self) -> Access:
        return self.cluster.access_for(self.identity)
