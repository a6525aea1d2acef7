"""Workloads of the API group apps: Deployments, ReplicaSets, StatefulSets and DaemonSets.

Statuses follow `kubectl rollout status` (kubectl's polymorphichelpers) and the conditions:
https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
"""

from datetime import datetime

import msgspec

from console.kube.gvr import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from console.kube.messages import Message
from console.kube.projections.common import (
    Condition,
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
    find_condition,
    pairs_text,
    valid_time,
)
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
    interned,
    is_unobserved,
    ready_text,
    scaling_status,
    unavailable_status,
    updated_text,
)
from console.kube.status import Severity, Status

_REVISION = "deployment.kubernetes.io/revision"
#: Maximum number of digits of a revision.
_LONGEST = 18


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


class ReplicaSet(Workload, frozen=True, gc=False):
    """A ReplicaSet.

    `current` is the number of existing pods. `revision` is the Deployment's revision, or None.
    """

    desired: int
    current: int
    ready: int
    revision: int | None


class StatefulSet(Workload, frozen=True, gc=False):
    """A StatefulSet.

    `updated` is the number of pods of the latest revision. `service` is the governing Service.
    """

    desired: int
    ready: int
    updated: int
    service: str


class DaemonSet(Workload, frozen=True, gc=False):
    """A DaemonSet.

    `desired` is the number of nodes that should have a pod, `current` the number of them that
    have one. `nodes` is the node selector, or "" for all nodes.
    """

    desired: int
    current: int
    ready: int
    updated: int
    available: int
    nodes: str


class ControllerRevision(Projection, frozen=True, gc=False):
    """A revision of a StatefulSet or DaemonSet. Its template is read from the original object."""

    revision: int


class _Condition(Condition, gc=False):
    lastUpdateTime: datetime | None = None


class _Spec(Spec, gc=False):
    """The fields of all kinds together."""

    replicas: int | None = None
    paused: bool | None = None
    serviceName: str | None = None
    strategy: Update | None = None
    updateStrategy: Update | None = None

    @property
    def desired(self) -> int:
        return 1 if self.replicas is None else self.replicas


class _Status(msgspec.Struct, gc=False):
    """The fields of all kinds together. Those of a DaemonSet have `Number` or `number` in their name."""

    observedGeneration: int | None = None
    replicas: int | None = None
    updatedReplicas: int | None = None
    readyReplicas: int | None = None
    availableReplicas: int | None = None
    currentRevision: str | None = None
    updateRevision: str | None = None
    desiredNumberScheduled: int | None = None
    currentNumberScheduled: int | None = None
    updatedNumberScheduled: int | None = None
    numberReady: int | None = None
    numberAvailable: int | None = None
    numberMisscheduled: int | None = None
    conditions: tuple[_Condition, ...] | None = None


class _Read(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


class _Revision(Object, gc=False):
    revision: int | None = None


def _deployment(value: _Read) -> Deployment:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = spec.desired
    moments = [
        valid_time(c.lastUpdateTime) for c in status.conditions or () if c.type == "Progressing"
    ]
    return Deployment(
        **from_template(value.metadata, spec, _deployment_status(value.metadata, spec, status)),
        desired=desired,
        ready=status.readyReplicas or 0,
        updated=status.updatedReplicas or 0,
        available=status.availableReplicas or 0,
        paused=bool(spec.paused),
        strategy=(spec.strategy and spec.strategy.type) or "",
        changed=next(iter(moments), None),
    )


def _deployment_status(meta: Meta, spec: _Spec, status: _Status) -> Status:
    desired, progressing = spec.desired, find_condition(status.conditions, "Progressing")
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


def _replica_set(value: _Read) -> ReplicaSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = spec.desired
    revision = annotation(value.metadata, _REVISION)
    known = revision.isascii() and revision.isdigit() and len(revision) <= _LONGEST
    return ReplicaSet(
        **from_template(value.metadata, spec, _replica_set_status(value.metadata, desired, status)),
        desired=desired,
        current=status.replicas or 0,
        ready=status.readyReplicas or 0,
        revision=int(revision) if known else None,
    )


def _replica_set_status(meta: Meta, desired: int, status: _Status) -> Status:
    current, ready = status.replicas or 0, status.readyReplicas or 0
    if failed := creation_failure(find_condition(status.conditions, "ReplicaFailure")):
        return failed
    if not desired and not current:
        return SCALED_TO_ZERO
    if is_unobserved(meta, status.observedGeneration) or current != desired:
        return scaling_status(current, desired)
    return RUNNING if ready >= desired else unavailable_status(ready, desired)


def _stateful_set(value: _Read) -> StatefulSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    desired = spec.desired
    return StatefulSet(
        **from_template(
            value.metadata, spec, _stateful_set_status(value.metadata, desired, spec, status)
        ),
        desired=desired,
        ready=status.readyReplicas or 0,
        updated=status.updatedReplicas or 0,
        service=spec.serviceName or "",
    )


def _stateful_set_status(meta: Meta, desired: int, spec: _Spec, status: _Status) -> Status:
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


def _daemon_set(value: _Read) -> DaemonSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    return DaemonSet(
        **from_template(value.metadata, spec, _daemon_set_status(value.metadata, spec, status)),
        desired=status.desiredNumberScheduled or 0,
        current=status.currentNumberScheduled or 0,
        ready=status.numberReady or 0,
        updated=status.updatedNumberScheduled or 0,
        available=status.numberAvailable or 0,
        nodes=interned.intern(pairs_text(spec.template.node_selector if spec.template else None)),
    )


def _daemon_set_status(meta: Meta, spec: _Spec, status: _Status) -> Status:
    desired, available = status.desiredNumberScheduled or 0, status.numberAvailable or 0
    if is_unobserved(meta, status.observedGeneration):
        return NOT_OBSERVED
    updated = status.updatedNumberScheduled or 0
    if updated < desired and (spec.updateStrategy or Update()).rolling:
        return Status(Severity.PROGRESS, "Rolling out", updated_text(updated, desired))
    if available < desired:
        return unavailable_status(available, desired)
    if status.numberMisscheduled:
        text = Message(
            "Pods on nodes that should not run the DaemonSet: %(n)s", n=status.numberMisscheduled
        )
        return Status(Severity.WARN, "Misscheduled pods", text)
    return RUNNING if desired else Status(Severity.PAUSED, "No matching nodes")


def _controller_revision(value: _Revision) -> ControllerRevision:
    return ControllerRevision(**basics(value.metadata), revision=value.revision or 0)


DECODERS: Decoders = {
    DEPLOYMENTS: decoder(_Read, _deployment),
    REPLICA_SETS: decoder(_Read, _replica_set),
    STATEFUL_SETS: decoder(_Read, _stateful_set),
    DAEMON_SETS: decoder(_Read, _daemon_set),
    CONTROLLER_REVISIONS: decoder(_Revision, _controller_revision),
}
