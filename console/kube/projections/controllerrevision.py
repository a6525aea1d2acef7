"""ControllerRevisions: the template history of StatefulSets and DaemonSets.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/.
The template itself is read from the original object.
"""

from console.kube.gvr import CONTROLLER_REVISIONS
from console.kube.projections.common import Decoders, Object, Projection, basics, decoder


class ControllerRevision(Projection, frozen=True, gc=False):
    revision: int


class _Revision(Object, gc=False):
    revision: int | None = None


def _project(value: _Revision) -> ControllerRevision:
    return ControllerRevision(**basics(value.metadata), revision=value.revision or 0)


DECODERS: Decoders = {CONTROLLER_REVISIONS: decoder(_Revision, _project)}
