"""DaemonSets. The status follows `kubectl rollout status` (DaemonSetStatusViewer)."""

import msgspec

from console.kube.gvr import DAEMON_SETS
from console.kube.messages import Message
from console.kube.projections.common import (
    Decoders,
    Object,
    decoder,
    pairs_text,
)
from console.kube.projections.workload import (
    NOT_OBSERVED,
    RUNNING,
    Meta,
    Spec,
    Update,
    Workload,
    from_template,
    interned,
    is_unobserved,
    unavailable_status,
    updated_text,
)
from console.kube.status import Severity, Status


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


class _Spec(Spec, gc=False):
    updateStrategy: Update | None = None


class _Status(msgspec.Struct, gc=False):
    observedGeneration: int | None = None
    desiredNumberScheduled: int | None = None
    currentNumberScheduled: int | None = None
    numberReady: int | None = None
    updatedNumberScheduled: int | None = None
    numberAvailable: int | None = None
    numberMisscheduled: int | None = None


class _DaemonSet(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _DaemonSet) -> DaemonSet:
    spec, status = value.spec or _Spec(), value.status or _Status()
    return DaemonSet(
        **from_template(value.metadata, spec, _status(value.metadata, spec, status)),
        desired=status.desiredNumberScheduled or 0,
        current=status.currentNumberScheduled or 0,
        ready=status.numberReady or 0,
        updated=status.updatedNumberScheduled or 0,
        available=status.numberAvailable or 0,
        nodes=interned.intern(pairs_text(spec.template.node_selector if spec.template else None)),
    )


def _status(meta: Meta, spec: _Spec, status: _Status) -> Status:
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


DECODERS: Decoders = {DAEMON_SETS: decoder(_DaemonSet, _project)}
