"""The clusters that this console shows.

Pages, sockets and rights are of one of them, which their address names. Accounts, platform roles and
workspaces are kept on the host alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from console.kube.identity import Identity
from console.kube.prometheus import Prometheus
from console.kube.runtime import Runtime
from console.kube.usage import Usage
from console.ui.access import Access
from console.ui.clusterkinds import Kinds

#: The name of the cluster that the console itself is pointed at.
HOST = "host"


class Authorizes(Protocol):
    """Decides who may do what in one cluster."""

    def access_for(self, identity: Identity, cluster: "Cluster") -> Access: ...


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """One cluster: what is known of it, and who may see that. `name`: the one in addresses."""

    name: str
    runtime: Runtime
    authorizer: Authorizes
    kinds: Kinds
    prometheus: Prometheus | None = None

    def __repr__(self) -> str:
        # The name alone: what pages are compared by is made of such texts.
        return f"Cluster({self.name!r})"

    @property
    def usage(self) -> Usage:
        return self.runtime.usage

    def access_for(self, identity: Identity) -> Access:
        """What somebody may do there."""
        return self.authorizer.access_for(identity, self)


class Clusters:
    """Those there are now, by their names. Changed by the composition root alone, and tests."""

    def __init__(self) -> None:
        self._clusters: dict[str, Cluster] = {}

    @property
    def host(self) -> Cluster:
        """Raises RuntimeError as long as there is none."""
        found = self.get(HOST)
        if found is None:
            raise RuntimeError("no host cluster: console.asgi has not started one")
        return found

    def get(self, name: str) -> Cluster | None:
        return self._clusters.get(name)

    def add(self, cluster: Cluster) -> None:
        """Takes the place of one of the same name."""
        self._clusters[cluster.name] = cluster

    def remove(self, name: str) -> None:
        self._clusters.pop(name, None)

    def __iter__(self) -> Iterator[Cluster]:
        """In the order in which they were added."""
        return iter(tuple(self._clusters.values()))


#: The clusters of this process.
clusters = Clusters()
