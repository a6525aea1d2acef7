"""Permissions of a tenant in a shared cluster, for accounts whose name starts with `tenant-`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.podspec import NAMESPACES, namespace_name
from console.kube.gvr import GVR, PODS, Key
from console.kube.identity import Identity
from console.ui.core.access import Access
from rbac.authorizer import Authorizer

if TYPE_CHECKING:
    # Django isn't set up in the benchmark process.
    from console.ui.core.clusters import Cluster

PREFIX = "tenant-"
#: Three of all namespaces, far apart in sort order.
OWN = frozenset(namespace_name(number) for number in (1, NAMESPACES // 2, NAMESPACES - 1))

_READS = frozenset({"get", "list", "watch"})


@dataclass(frozen=True, slots=True)
class TenantAccess:
    """May only read pods in `OWN`."""

    identity: Identity
    cluster: "Cluster"

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return namespace in OWN and not subresource and bool(self.namespaces_where(verb, gvr))

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return OWN if verb in _READS and gvr == PODS else frozenset()

    def rights_version(self) -> str:
        return self.identity.name

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        return frozenset()


class TenantAuthorizer(Authorizer):
    """Uses the console's authorizer for all other users."""

    # The return type is wider than in the base class, because callers use only the protocol.
    def access_for(self, identity: Identity, cluster: Any = None) -> Access:  # type: ignore[override]
        if identity.name.startswith(PREFIX):
            return TenantAccess(identity, cluster)
        return super().access_for(identity, cluster)
