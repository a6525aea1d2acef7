"""The clusters of this process, their kinds, and the converter for cluster names in URLs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from django.urls import register_converter
from django.urls.converters import StringConverter

from console.kube.custom_types import CustomTypes
from console.kube.gvr import GVR
from console.kube.identity import Identity
from console.kube.prometheus import Prometheus
from console.kube.runtime import Runtime
from console.kube.usage import UsageReader
from console.ui.core.access import Access
from console.ui.core.custom_kinds import CustomKinds
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import Registry


class Kinds:
    """The built-in kinds (`declared`) and the custom resources of the cluster (`customs`)."""

    def __init__(self, declared: Registry, types: CustomTypes) -> None:
        self.declared = declared
        self.customs = CustomKinds(declared.declares, types)

    def find(self, segment: str) -> ResourceKind | None:
        """Return the kind for a URL segment, `plural` or `plural.group`."""
        return self.declared.by_segment(segment) or self.customs.find(segment)

    def of(self, gvr: GVR) -> ResourceKind | None:
        """Return the kind of a type, or None if no kind exists for this version."""
        declared = self.declared.by_type(gvr)
        if declared is not None:
            return declared
        custom = self.customs.find(gvr.qualified)
        return custom if custom is not None and custom.gvr == gvr else None


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


class ClusterConverter(StringConverter):
    """Converter for `<cluster:cluster>`.

    An unknown name becomes None and still matches, so that users who are not signed in get the
    same response for every name. Middleware turns None into a 404.
    """

    def to_python(self, value: str) -> Cluster | None:  # type: ignore[override]
        return clusters.get(value)

    def to_url(self, value: Cluster | str) -> str:
        """Accept a cluster or its name."""
        return value.name if isinstance(value, Cluster) else value


register_converter(ClusterConverter, "cluster")
