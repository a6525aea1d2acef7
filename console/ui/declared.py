"""Restricted access: only the permissions that a detail page declared in advance.

Websockets share a rendered page if the permissions it depends on are equal. A permission that
was not compared must not influence the output, so every undeclared check returns False.
"""

from collections.abc import Collection
from dataclasses import dataclass

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.kind import ResourceKind
from console.ui.linked import has_dynamic_links


@dataclass(frozen=True, slots=True)
class RestrictedAccess:
    """Access limited to declared permissions.

    On `kind`: the permissions that its list and its actions check. On the types in `needs`: the
    permission to list. A kind that can link to any type is never shared between users, so it may
    check list permissions on every type.
    """

    access: Access
    kind: ResourceKind
    needs: Collection[GVR]

    @property
    def identity(self) -> Identity:
        return self.access.identity

    @property
    def cluster(self) -> Cluster:
        return self.access.cluster

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        if not self._declared(verb, gvr, subresource):
            return False
        return self.access.can(verb, gvr, namespace=namespace, name=name, subresource=subresource)

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        if not self._declared(verb, gvr, subresource):
            return frozenset()
        return self.access.namespaces_where(verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        if not self._declared(verb, gvr, subresource):
            return frozenset()
        return self.access.names_where(verb, gvr, subresource)

    def rights_version(self) -> None:
        """Return None: the results for one panel are not cached."""

    def _declared(self, verb: str, gvr: GVR, subresource: str) -> bool:
        if (verb, gvr, subresource) in self.kind.checked_permissions:
            return True
        listed = verb == "list" and not subresource
        return listed and (gvr in self.needs or has_dynamic_links(self.kind))
