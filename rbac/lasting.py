"""The rights of somebody who stays, as a socket does.

A request has the groups of its moment. A socket lives on, so its groups are looked up at each question:
whoever leaves a group has lost its rights with the next one, and whoever joins need not come again.
"""

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.kube.runtime import Reads
from rbac.authorizer import Authorizer, RoleAccess
from rbac.memberships import groups_of
from rbac.resolver import Rights


class LastingAccess:
    """A `console.ui.access.Access`."""

    def __init__(self, name: str, authorizer: Authorizer, source: Reads) -> None:
        self._name, self._authorizer, self._source = name, authorizer, source

    @property
    def identity(self) -> Identity:
        return Identity(self._name, groups_of(self._source, self._name))

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return self._now.can(verb, gvr, namespace=namespace, name=name, subresource=subresource)

    def namespaces_where(self, verb: str, gvr: GVR) -> frozenset[str] | None:
        return self._now.namespaces_where(verb, gvr)

    def names_where(self, verb: str, gvr: GVR) -> frozenset[Key]:
        return self._now.names_where(verb, gvr)

    def standing(self) -> tuple[Rights, bool] | None:
        return self._now.standing()

    @property
    def _now(self) -> RoleAccess:
        return self._authorizer.access_for(self.identity)
