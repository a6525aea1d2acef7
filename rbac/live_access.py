"""Permissions of a long-lived connection, such as a websocket.

A request uses the groups at the time of the request. For a websocket, the groups are looked up
at each check: a user who leaves a group loses its permissions with the next check, and a user
who joins a group doesn't have to reconnect.
"""

from collections.abc import Hashable

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.kube.runtime import Reads
from console.ui.core.access import Access, ConfirmableAccess
from console.ui.core.clusters import Cluster
from rbac.memberships import groups_of


class LiveAccess:
    """Implementation of `console.ui.core.access.Access` for one cluster. Groups are read from `source`,
    the host cluster.
    """

    def __init__(self, name: str, cluster: Cluster, source: Reads) -> None:
        self.cluster = cluster
        self._name, self._source = name, source

    @property
    def identity(self) -> Identity:
        return Identity(self._name, groups_of(self._source, self._name))

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return self._current_access.can(
            verb, gvr, namespace=namespace, name=name, subresource=subresource
        )

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return self._current_access.namespaces_where(verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        return self._current_access.names_where(verb, gvr, subresource)

    def rights_version(self) -> Hashable:
        return self._current_access.rights_version()

    def permissions_stale(self) -> bool:
        """Implement `console.ui.core.access.ConfirmableAccess`."""
        now = self._current_access
        return isinstance(now, ConfirmableAccess) and now.permissions_stale()

    @property
    def _current_access(self) -> Access:
        return self.cluster.access_for(self.identity)
