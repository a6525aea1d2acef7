"""ReplicaSets: revisions of Deployments, and standalone ones."""

import msgspec

from console.kube.gvr import REPLICA_SETS
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    annotation,
    decoder,
    find_condition,
)
from console.kube.projections.workload import (
    RUNNING,
    SCALED_TO_ZERO,
    Meta,
    Spec,
    Workload,
    creation_failure,
    from_template,
    is_unobserved,
    scaling_status,
    unavailable_status,
)
from console.kube.status import Status

_REVISION = "deployment.kubernetes.io/revision"
#: Maximum number of digits of a revision.
_LONGEST = 18


class ReplicaSet(Workload, frozen=True, gc=False):
    """A ReplicaSet.

    `current` is the number of existing pods. `revision` is the Deployment's revision, or None.
    """

    desired: int
    current: int
    ready: int
    revision: int | None


class _Spec(Spec, gc=False):
    replicas: int | None = None


class _Status(msgspec.Struct, gc=False):
    observedGeneration: int | None = None
    replicas: int | None = None
    readyReplicas: int | None = None
    conditions: Conditions | None = None


class _ReplicaSet(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _ReplicaSet) -> ReplicaSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = 1 if spec.replicas is None else spec.replicas
    revision = annotation(value.metadata, _REVISION)
    known = revision.isascii() and revision.isdigit() and len(revision) <= _LONGEST
    return ReplicaSet(
        **from_template(value.metadata, spec, _status(value.metadata, desired, status)),
        desired=desired,
        current=status.replicas or 0,
        ready=status.readyReplicas or 0,
        revision=int(revision) if known else None,
    )


def _status(meta: Meta, desired: int, status: _Status) -> Status:
    current, ready = status.replicas or 0, status.readyReplicas or 0
    if failed := creation_failure(find_condition(status.conditions, "ReplicaFailure")):
        return failed
    if not desired and not current:
        return SCALED_TO_ZERO
    if is_unobserved(meta, status.observedGeneration) or current != desired:
        return scaling_status(current, desired)
    return RUNNING if ready >= desired else unavailable_status(ready, desired)


DECODERS: Decoders = {REPLICA_SETS: decoder(_ReplicaSet, _project)}
