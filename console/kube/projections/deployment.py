"""Deployments.

The status follows `kubectl rollout status` (DeploymentStatusViewer in kubectl's
polymorphichelpers) and the conditions:
https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
"""

from datetime import datetime

import msgspec

from console.kube.gvr import DEPLOYMENTS
from console.kube.messages import Message
from console.kube.projections.common import Condition, Decoders, Object, decoder, find_condition
from console.kube.projections.timestamps import valid_time
from console.kube.projections.workload import (
    NOT_OBSERVED,
    RUNNING,
    SCALED_TO_ZERO,
    Meta,
    Spec,
    Update,
    Workload,
    creation_failure,
    from_template,
    is_unobserved,
    ready_text,
    scaling_status,
    unavailable_status,
    updated_text,
)
from console.kube.status import Severity, Status


class Deployment(Workload, frozen=True, gc=False):
    """A Deployment.

    `ready`, `updated` and `available` count pods. `paused` is True if template changes are not
    rolled out. `changed` is the time of the last rollout progress.
    """

    desired: int
    ready: int
    updated: int
    available: int
    paused: bool
    strategy: str
    changed: datetime | None


class _Condition(Condition, gc=False):
    lastUpdateTime: datetime | None = None


class _Spec(Spec, gc=False):
    replicas: int | None = None
    paused: bool | None = None
    strategy: Update | None = None


class _Status(msgspec.Struct, gc=False):
    observedGeneration: int | None = None
    replicas: int | None = None
    updatedReplicas: int | None = None
    readyReplicas: int | None = None
    availableReplicas: int | None = None
    conditions: tuple[_Condition, ...] | None = None


class _Deployment(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _Deployment) -> Deployment:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = _desired(spec)
    moments = [
        valid_time(c.lastUpdateTime) for c in status.conditions or () if c.type == "Progressing"
    ]
    return Deployment(
        **from_template(value.metadata, spec, _status(value.metadata, spec, status)),
        desired=desired,
        ready=status.readyReplicas or 0,
        updated=status.updatedReplicas or 0,
        available=status.availableReplicas or 0,
        paused=bool(spec.paused),
        strategy=(spec.strategy and spec.strategy.type) or "",
        changed=next(iter(moments), None),
    )


def _desired(spec: _Spec) -> int:
    return 1 if spec.replicas is None else spec.replicas


def _status(meta: Meta, spec: _Spec, status: _Status) -> Status:
    desired, progressing = _desired(spec), find_condition(status.conditions, "Progressing")
    if failed := creation_failure(find_condition(status.conditions, "ReplicaFailure")):
        return failed
    if progressing is not None and progressing.reason == "ProgressDeadlineExceeded":
        return Status(Severity.ERROR, "Stuck rollout", progressing.text)
    if is_unobserved(meta, status.observedGeneration):
        return NOT_OBSERVED
    if not desired and not status.replicas:
        return SCALED_TO_ZERO
    if spec.paused:
        return _paused(desired, status)
    return _rollout(desired, status, progressing) or RUNNING


def _paused(desired: int, status: _Status) -> Status:
    """Return the status of a paused deployment. A pause only stops rollouts; unavailable pods are
    reported.
    """
    available = find_condition(status.conditions, "Available")
    if available is not None and available.status == "False":
        return unavailable_status(status.availableReplicas or 0, desired, available)
    text = updated_text(status.updatedReplicas or 0, desired)
    return Status(Severity.PAUSED, "Paused", text)


def _rollout(desired: int, status: _Status, progressing: Condition | None) -> Status | None:
    """Return the status of a rollout, or None if it is complete and all pods are available."""
    done = progressing is not None and progressing.reason == "NewReplicaSetAvailable"
    # After the rollout is complete, pods are only created or removed by scaling.
    word = "Scaling" if done else "Rolling out"
    updated, available = status.updatedReplicas or 0, status.availableReplicas or 0
    old = (status.replicas or 0) - updated
    if updated < desired:
        return Status(Severity.PROGRESS, word, updated_text(updated, desired))
    if old > 0:
        text = Message("Old pods pending termination: %(n)s", n=old)
        return Status(Severity.PROGRESS, word, text)
    if updated > desired:
        return scaling_status(updated, desired)
    if available < desired and not done:
        return Status(Severity.PROGRESS, word, ready_text(available, desired))
    if available < desired:
        return unavailable_status(
            available, desired, find_condition(status.conditions, "Available")
        )
    return None


DECODERS: Decoders = {DEPLOYMENTS: decoder(_Deployment, _project)}
