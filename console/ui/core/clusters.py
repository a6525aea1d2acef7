"""The clusters of this process, their kinds, and the converter for cluster names in URLs."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.urls import register_converter
from django.urls.converters import StringConverter

from console.kube.gvr import BUILT_IN_GROUPS, GVR
from console.kube.identity import Identity
from console.kube.projections import DECODERS
from console.kube.prometheus import Prometheus
from console.kube.runtime import Runtime
from console.kube.served_types import ServedTypes
from console.kube.usage import UsageReader
from console.ui.core.access import Access
from console.ui.core.custom_kinds import CustomKinds
from console.ui.core.gpus import GpuKind
from console.ui.core.kind import ResourceKind, segment_of
from console.ui.core.registry import Registry


class Kinds:
    """The built-in kinds (`declared`), and the kinds of the cluster's other types (`customs`)."""

    def __init__(self, declared: Registry, served: ServedTypes) -> None:
        self.declared = declared
        self.served = served
        self.customs = CustomKinds(self._declares, served)
        self._offered: tuple[Hashable, tuple[ResourceKind, ...]] = None, ()

    @property
    def offered(self) -> tuple[ResourceKind, ...]:
        """Return the built-in kinds, except those that are not installed on the cluster."""
        state = self.served.state
        if self._offered[0] != state:
            found = (one for one in self.declared if self.served.serves(one.gvr) is not False)
            self._offered = state, tuple(found)
        return self._offered[1]

    @property
    def creatable(self) -> tuple[ResourceKind, ...]:
        """Return the offered kinds, and those whose wizard creates other objects without the type."""
        return tuple(
            one
            for one in self.declared
            if self.served.serves(one.gvr) is not False
            or (one.wizard is not None and one.wizard.is_main_optional)
        )

    def installed(self, gvr: GVR) -> bool:
        """Return True if the cluster serves the type. While this is unknown, only Kubernetes' own
        types count as installed.
        """
        serves = self.served.serves(gvr)
        return gvr.group in BUILT_IN_GROUPS if serves is None else serves

    def find(self, segment: str) -> ResourceKind | None:
        """Return the kind for a URL segment, `plural` or `plural.group`."""
        declared = self.declared.by_segment(segment)
        if declared is not None and self.served.serves(declared.gvr) is not False:
            return declared
        # The cluster may serve another version of the type than the console's own kind uses.
        other = self.customs.find(declared.gvr.qualified if declared is not None else segment)
        return other or declared

    def _declares(self, group: str, plural: str) -> bool:
        """Return True if a built-in kind exists for the type and the cluster serves its version."""
        kind = self.declared.by_segment(segment_of(GVR(group, "", plural)))
        if kind is None or (kind.gvr.group, kind.gvr.resource) != (group, plural):
            return False
        return self.served.serves(kind.gvr) is not False

    def by_group_kind(self, word: str) -> ResourceKind | None:
        """Return the kind of a `Kind.group` (see `console.kube.group_kind`)."""
        return self.declared.by_group_kind(word) or self.customs.by_group_kind(word)

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
    """A cluster with its runtime, authorizer and kinds. `name` is its name in URLs. `gpu_kinds` returns
    the types of GPUs that its configuration names.
    """

    name: str
    runtime: Runtime
    authorizer: Authorizer
    kinds: Kinds
    prometheus: Prometheus | None = None
    gpu_kinds: Callable[[], Sequence[GpuKind]] = tuple

    def __repr__(self) -> str:
        # Keep this short: page signatures contain the representation.
        return f"Cluster({self.name!r})"

    @property
    def usage(self) -> UsageReader:
        return self.runtime.usage

    @property
    def cached_customs(self) -> tuple[ResourceKind, ...]:
        """The kinds of custom resources that are checked for problems and loaded in the cache.

        The cache contains the types that users viewed in the last minutes. Other types are not
        loaded to check them, because a cluster may have many.
        """
        informers = self.runtime.informers()
        found = (
            self.kinds.of(gvr)
            for gvr in sorted(informers.keys() - DECODERS.keys())
            if informers[gvr].freshness.synced
        )
        return tuple(kind for kind in found if kind is not None and kind.checked_for_problems)

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
