"""HorizontalPodAutoscalers (autoscaling/v2).

Metrics are formatted like kubectl (formatHPAMetrics in Kubernetes' printers), with `?` for an
unknown value. For the meaning of the conditions, see
https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale-walkthrough/#status-conditions
"""

from datetime import datetime

import msgspec

from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    Reference,
    basics,
    decoder,
    find_condition,
    terminating_or,
    valid_time,
)
from console.kube.projections.workload import interned, scaling_status
from console.kube.status import Severity, Status


class Autoscaler(Projection, frozen=True, gc=False):
    """A HorizontalPodAutoscaler.

    `target` is the scaled object as `Kind.group/name`. `metrics` are formatted as `cpu: 45%/80%`.
    """

    status: Status
    target: str
    metrics: tuple[str, ...]
    least: int
    most: int
    current: int
    desired: int
    last_scaled: datetime | None


class _Amount(msgspec.Struct, gc=False):
    """A target or a current value. Exactly one of the fields is set."""

    averageUtilization: int | None = None
    averageValue: str | None = None
    value: str | None = None

    def like(self, target: "_Amount") -> str:
        """Format this value in the unit of `target`."""
        if target.averageUtilization is not None:
            percent = self.averageUtilization
            return "?" if percent is None else f"{percent}%"
        if target.averageValue is not None:
            return self.averageValue or "?"
        return self.value or "?"


class _Metric(msgspec.Struct, gc=False):
    """A metric. A resource metric has `name`, pod and object metrics have `metric`."""

    name: str | None = None
    metric: Reference | None = None
    target: _Amount | None = None
    current: _Amount | None = None

    @property
    def title(self) -> str:
        return self.name or (self.metric and self.metric.name) or ""


class _Source(msgspec.Struct, gc=False):
    type: str = ""
    resource: _Metric | None = None
    containerResource: _Metric | None = None
    pods: _Metric | None = None
    object: _Metric | None = None
    external: _Metric | None = None

    @property
    def metric(self) -> _Metric:
        found = (self.resource, self.containerResource, self.pods, self.object, self.external)
        return next((metric for metric in found if metric is not None), _Metric())


class _Spec(msgspec.Struct, gc=False):
    scaleTargetRef: Reference | None = None
    minReplicas: int | None = None
    maxReplicas: int | None = None
    metrics: tuple[_Source, ...] | None = None


class _Status(msgspec.Struct, gc=False):
    currentReplicas: int | None = None
    desiredReplicas: int | None = None
    currentMetrics: tuple[_Source | None, ...] | None = None
    lastScaleTime: datetime | None = None
    conditions: Conditions | None = None


class _Autoscaler(Object, gc=False):
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _Autoscaler) -> Autoscaler:
    spec, status = value.spec or _Spec(), value.status or _Status()
    target = spec.scaleTargetRef
    return Autoscaler(
        **basics(value.metadata),
        status=interned.intern(terminating_or(value.metadata, _status(status))),
        target=f"{target.group_kind}/{target.name or ''}" if target else "",
        metrics=_metrics(spec, status),
        least=1 if spec.minReplicas is None else spec.minReplicas,
        most=spec.maxReplicas or 0,
        current=status.currentReplicas or 0,
        desired=status.desiredReplicas or 0,
        last_scaled=valid_time(status.lastScaleTime),
    )


def _metrics(spec: _Spec, status: _Status) -> tuple[str, ...]:
    """Format the metrics. Current values are matched to targets by position, like in kubectl."""
    values = status.currentMetrics or ()
    texts = []
    for at, source in enumerate(spec.metrics or ()):
        value = values[at] if at < len(values) else None
        same = value is not None and value.type == source.type
        current = value.metric.current if same and value is not None else None
        texts.append(_text(source.metric, current or _Amount()))
    return tuple(texts)


def _text(metric: _Metric, current: _Amount) -> str:
    target = metric.target or _Amount()
    return f"{metric.title}: {current.like(target)}/{target.like(target)}"


def _status(status: _Status) -> Status:
    able = find_condition(status.conditions, "AbleToScale")
    active = find_condition(status.conditions, "ScalingActive")
    limited = find_condition(status.conditions, "ScalingLimited")
    if able is not None and able.status == "False":
        return Status(Severity.ERROR, "Cannot scale", able.text)
    if active is not None and active.status == "False":
        # The target has zero replicas, which is the usual way to disable an autoscaler.
        if active.reason == "ScalingDisabled":
            return Status(Severity.PAUSED, "Disabled", active.text)
        return Status(Severity.ERROR, "No metrics", active.text)
    if able is None and active is None:
        return Status(Severity.PROGRESS, "Waiting")
    current, desired = status.currentReplicas or 0, status.desiredReplicas or 0
    if limited is not None and limited.status == "True" and limited.reason == "TooManyReplicas":
        return Status(Severity.WARN, "At its maximum", limited.text)
    if current != desired:
        return scaling_status(current, desired)
    return Status(Severity.OK, "Active")


DECODERS: Decoders = {HORIZONTAL_POD_AUTOSCALERS: decoder(_Autoscaler, _project)}
