"""Rights as far as a detail has said beforehand that it would ask for them.

Sockets share the drawing of a detail if the rights that it depends on are equal. So nothing may be
drawn from a right that was not compared: to any other question the answer is no.
"""

from collections.abc import Collection
from dataclasses import dataclass

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.kind import ResourceKind
from console.ui.linked import leads_anywhere


@dataclass(frozen=True, slots=True)
class DeclaredAccess:
    """To `kind` what its list and its actions ask; to the types of `needs` whether they may be listed. A
    kind that leads anywhere shares what it shows with nobody, and may ask that of every type."""

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

    def standing(self) -> None:
        """Nobody keeps what one panel was told."""

    def _declared(self, verb: str, gvr: GVR, subresource: str) -> bool:
        if (verb, gvr, subresource) in self.kind.asked:
            return True
        listed = verb == "list" and not subresource
        return listed and (gvr in self.needs or leads_anywhere(self.kind))
