"""Older Kubernetes releases that the embedded cluster can imitate.

Tests use this to check clients with releases that can't be built. The table contains the features that
clients notice; the rest behaves like the newest release.

https://kubernetes.io/docs/reference/using-api/deprecation-guide/
https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from devcluster.objects import Obj
from devcluster.resources import ResourceType, Subresource, Version

NEWEST = 36

#: The minor version since which a type is served as the newest release serves it.
_TYPES = {
    "validatingadmissionpolicies.admissionregistration.k8s.io": 30,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": 30,
    "mutatingadmissionpolicies.admissionregistration.k8s.io": 36,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": 36,
    "selfsubjectreviews.authentication.k8s.io": 28,
    "csistoragecapacities.storage.k8s.io": 24,
    "volumeattributesclasses.storage.k8s.io": 34,
    "flowschemas.flowcontrol.apiserver.k8s.io": 29,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": 29,
    "ipaddresses.networking.k8s.io": 33,
    "servicecidrs.networking.k8s.io": 33,
    "deviceclasses.resource.k8s.io": 34,
    "resourceclaims.resource.k8s.io": 34,
    "resourceclaimtemplates.resource.k8s.io": 34,
    "resourceslices.resource.k8s.io": 34,
}
#: The minor version since which a version of a type is served, and the version that it replaced.
_VERSIONS = {"horizontalpodautoscalers.autoscaling": ("v2", 23, "v2beta2")}
#: Subresources of pods.
_SUBRESOURCES = {"ephemeralcontainers": 23}
_EVICTION_V1 = 22
#: Fields that are dropped.
_FIELDS = {"certificatesigningrequests.certificates.k8s.io": ("spec.expirationSeconds", 22)}


@dataclass(frozen=True, slots=True)
class Release:
    """Kubernetes 1.`minor`."""

    minor: int = NEWEST

    @property
    def version(self) -> Obj:
        """Return the response of `/version`."""
        return {
            "major": "1",
            "minor": str(self.minor),
            "gitVersion": "v1.36.2" if self.minor == NEWEST else f"v1.{self.minor}.0",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "2026-06-01T00:00:00Z",
            "goVersion": "",
            "compiler": "",
            "platform": "linux/amd64",
        }

    @property
    def has_aggregated_discovery(self) -> bool:
        return self.minor >= 27

    @property
    def has_openapi_v3(self) -> bool:
        return self.minor >= 24

    @property
    def has_field_validation(self) -> bool:
        """False if unknown and duplicate fields are dropped without an error."""
        return self.minor >= 25

    @property
    def closes_streams(self) -> bool:
        """True if exec and attach support version 5 of the stream protocol."""
        return self.minor >= 30

    @property
    def forwards_spdy(self) -> bool:
        """True if port-forward supports SPDY in a websocket."""
        return self.minor >= 31

    def types(self, types: Iterable[ResourceType]) -> Iterator[ResourceType]:
        """Yield the built-in types as this release serves them."""
        for one in types:
            if self.minor >= _TYPES.get(one.qualified, 0):
                yield self._older(one)

    def _older(self, declared: ResourceType) -> ResourceType:
        name, since, before = _VERSIONS.get(declared.qualified, ("", 0, ""))
        if self.minor < since:
            versions = [Version(before) if v.name == name else v for v in declared.versions]
            struct = declared.struct
            declared = replace(declared, versions=tuple(versions), stored_struct=struct)
        if declared.qualified == "pods":
            found = [self._subresource(one) for one in declared.subresources]
            declared = replace(declared, subresources=tuple(one for one in found if one))
        field, since = _FIELDS.get(declared.qualified, ("", 0))
        return replace(declared, dropped=(field,)) if self.minor < since else declared

    def _subresource(self, one: Subresource) -> Subresource | None:
        if self.minor < _SUBRESOURCES.get(one.name, 0):
            return None
        if one.name == "eviction" and self.minor < _EVICTION_V1:
            return replace(one, version="v1beta1")
        return one
