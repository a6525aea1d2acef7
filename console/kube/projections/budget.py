"""PodDisruptionBudgets: https://kubernetes.io/docs/tasks/run-application/configure-pdb/"""

import msgspec

from console.kube.gvr import POD_DISRUPTION_BUDGETS
from console.kube.messages import Message
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    Selector,
    basics,
    decoder,
    find_condition,
    selector_text,
    terminating_or,
)
from console.kube.projections.workload import Meta, interned, is_unobserved
from console.kube.status import Severity, Status


class Budget(Projection, frozen=True, gc=False):
    """A PodDisruptionBudget.

    `least` (minAvailable) or `most` (maxUnavailable) is a number, a percentage, or "" if not
    set. `allowed` is the number of pods that may be evicted now. `healthy` of `expected` pods
    are healthy; `needed` must be.
    """

    status: Status
    selector: str
    least: str
    most: str
    allowed: int
    healthy: int
    needed: int
    expected: int


class _Spec(msgspec.Struct, gc=False):
    minAvailable: int | str | None = None
    maxUnavailable: int | str | None = None
    selector: Selector | None = None


class _Status(msgspec.Struct, gc=False):
    observedGeneration: int | None = None
    disruptionsAllowed: int | None = None
    currentHealthy: int | None = None
    desiredHealthy: int | None = None
    expectedPods: int | None = None
    conditions: Conditions | None = None


class _Budget(Object, gc=False):
    metadata: Meta
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _Budget) -> Budget:
    spec, status = value.spec or _Spec(), value.status or _Status()
    return Budget(
        **basics(value.metadata),
        status=interned.intern(terminating_or(value.metadata, _status(value.metadata, status))),
        selector=selector_text(spec.selector),
        least="" if spec.minAvailable is None else str(spec.minAvailable),
        most="" if spec.maxUnavailable is None else str(spec.maxUnavailable),
        allowed=status.disruptionsAllowed or 0,
        healthy=status.currentHealthy or 0,
        needed=status.desiredHealthy or 0,
        expected=status.expectedPods or 0,
    )


def _status(meta: Meta, status: _Status) -> Status:
    allowed = find_condition(status.conditions, "DisruptionAllowed")
    if allowed is not None and allowed.reason == "SyncFailed":
        return Status(Severity.ERROR, "Not enforced", allowed.text)
    if is_unobserved(meta, status.observedGeneration):
        return Status(Severity.PROGRESS, "Waiting")
    if not status.expectedPods:
        return Status(Severity.PAUSED, "No matching pods")
    if not status.disruptionsAllowed:
        healthy, needed = status.currentHealthy or 0, status.desiredHealthy or 0
        text = Message("Healthy pods: %(n)s, required: %(needed)s", n=healthy, needed=needed)
        return Status(Severity.WARN, "Blocks eviction", text)
    return Status(Severity.OK, "Allows eviction")


DECODERS: Decoders = {POD_DISRUPTION_BUDGETS: decoder(_Budget, _project)}
