"""The registered clusters.

Pages, websockets and permissions belong to one cluster, which is part of their URL. Accounts,
platform roles and workspaces are stored on the host cluster only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from console.kube.identity import Identity
from console.kube.prometheus import Prometheus
from console.kube.runtime import Runtime
from console.kube.usage import UsageReader
from console.ui.access import Access
from console.ui.clusterkinds import Kinds

#: Name of the cluster that the console itself is configured with.
HOST = "host"


class Authorizer(Protocol):
    """Authorizer of one cluster."""

    def access_for(self, identity: Identity, cluster: "Cluster") -> Access: ...


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """A cluster with its runtime, authorizer and kinds. `name` is its name in URLs."""

    name: str
    runtime: Runtime
    authorizer: Authorizer
    kinds: Kinds
    prometheus: Prometheus | None = None

    def __repr__(self) -> str:
        # Keep this short: page signatures contain the representation.
        return f"Cluster({self.name!r})"

    @property
    def usage(self) -> UsageReader:
        return self.runtime.usage

    def access_for(self, identity: Identity) -> Access:
        return self.authorizer.access_for(identity, self)


class Clusters:
    """The clusters by name. Only the composition root and tests change them."""

    def __init__(self) -> None:
        self._clusters: dict[str, Cluster] = {}

    @property
    def host(self) -> Cluster:
        """Raise RuntimeError if the host cluster is not registered yet."""
        found = self.get(HOST)
        if found is None:
            raise RuntimeError(
                "the host cluster is not registered; console.asgi registers it at startup"
            )
        return found

    def get(self, name: str) -> Cluster | None:
        return self._clusters.get(name)

    def add(self, cluster: Cluster) -> None:
        """Add a cluster, replacing an existing one of the same name."""
        self._clusters[cluster.name] = cluster

    def remove(self, name: str) -> None:
        self._clusters.pop(name, None)

    def __iter__(self) -> Iterator[Cluster]:
        """Iterate in the order in which the clusters were added."""
        return iter(tuple(self._clusters.values()))


#: The clusters of this process.
clusters = Clusters()
