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
        if subresource or not self._declared(verb, gvr):
            return False
        return self.access.can(verb, gvr, namespace=namespace, name=name)

    def namespaces_where(self, verb: str, gvr: GVR) -> frozenset[str] | None:
        return self.access.namespaces_where(verb, gvr) if self._declared(verb, gvr) else frozenset()

    def names_where(self, verb: str, gvr: GVR) -> frozenset[Key]:
        return self.access.names_where(verb, gvr) if self._declared(verb, gvr) else frozenset()

    def standing(self) -> None:
        """Nobody keeps what one panel was told."""

    def _declared(self, verb: str, gvr: GVR) -> bool:
        if gvr == self.kind.gvr:
            return verb == "list" or any(verb == action.verb for action in self.kind.actions)
        return verb == "list" and (gvr in self.needs or leads_anywhere(self.kind))
