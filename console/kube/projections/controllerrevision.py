"""ControllerRevisions: the templates that StatefulSets and DaemonSets have had.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/. What a
revision holds is read from the object itself.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from console.kube.gvr import CONTROLLER_REVISIONS, GVR
from console.kube.projections.common import Object, Projection, basics, decoder
from console.kube.store import Decode


class ControllerRevision(Projection, frozen=True, gc=False):
    revision: int


class _Revision(Object, gc=False):
    revision: int | None = None


def _project(value: _Revision) -> ControllerRevision:
    return ControllerRevision(**basics(value.metadata), revision=value.revision or 0)


DECODERS: Mapping[GVR, Decode[Any]] = MappingProxyType(
    {CONTROLLER_REVISIONS: decoder(_Revision, _project)}
)
