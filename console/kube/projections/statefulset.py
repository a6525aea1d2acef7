"""StatefulSets. The status follows `kubectl rollout status` (StatefulSetStatusViewer)."""

import msgspec

from console.kube.gvr import STATEFUL_SETS
from console.kube.projections.common import (
    Decoders,
    Object,
    decoder,
)
from console.kube.projections.workload import (
    NOT_OBSERVED,
    RUNNING,
    SCALED_TO_ZERO,
    Meta,
    Spec,
    Update,
    Workload,
    from_template,
    is_unobserved,
    scaling_status,
    unavailable_status,
    updated_text,
)
from console.kube.status import Severity, Status


class StatefulSet(Workload, frozen=True, gc=False):
    """A StatefulSet.

    `updated` is the number of pods of the latest revision. `service` is the governing Service.
    """

    desired: int
    ready: int
    updated: int
    service: str


class _Spec(Spec, gc=False):
    replicas: int | None = None
    serviceName: str | None = None
    updateStrategy: Update | None = None


class _Status(msgspec.Struct, gc=False):
    observedGeneration: int | None = None
    replicas: int | None = None
    readyReplicas: int | None = None
    updatedReplicas: int | None = None
    currentRevision: str | None = None
    updateRevision: str | None = None


class _StatefulSet(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _StatefulSet) -> StatefulSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = 1 if spec.replicas is None else spec.replicas
    return StatefulSet(
        **from_template(value.metadata, spec, _status(value.metadata, desired, spec, status)),
        desired=desired,
        ready=status.readyReplicas or 0,
        updated=status.updatedReplicas or 0,
        service=spec.serviceName or "",
    )


def _status(meta: Meta, desired: int, spec: _Spec, status: _Status) -> Status:
    current, ready = status.replicas or 0, status.readyReplicas or 0
    if is_unobserved(meta, status.observedGeneration):
        return NOT_OBSERVED
    if not desired and not current:
        return SCALED_TO_ZERO
    # Pods are created in order, so an unready pod blocks the following ones.
    if ready < current:
        return _missing(ready, desired, spec, status)
    if current != desired:
        return scaling_status(current, desired)
    return _rolling(desired, spec, status) or RUNNING


def _missing(ready: int, desired: int, spec: _Spec, status: _Status) -> Status:
    """Return the status when pods are not ready.

    During a rollout one pod at a time may be unready. More unready pods, or no ready pod, are an
    outage.
    """
    rolling = _rolling(desired, spec, status)
    if rolling is not None and ready and ready >= desired - 1:
        return rolling
    return unavailable_status(ready, desired)


def _rolling(desired: int, spec: _Spec, status: _Status) -> Status | None:
    strategy = spec.updateStrategy or Update()
    if not strategy.rolling or status.currentRevision == status.updateRevision:
        return None
    partition = (strategy.rollingUpdate and strategy.rollingUpdate.partition) or 0
    wanted, updated = max(0, desired - partition), status.updatedReplicas or 0
    if updated >= wanted:
        return None
    return Status(Severity.PROGRESS, "Rolling out", updated_text(updated, wanted))


DECODERS: Decoders = {STATEFUL_SETS: decoder(_StatefulSet, _project)}
