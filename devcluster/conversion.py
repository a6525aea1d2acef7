"""Conversion between API versions: core v1 and events.k8s.io/v1 events, autoscaling v1 and v2.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ and
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/
"""

from devcluster.objects import Obj, dicts, dig

# core v1 name -> events.k8s.io/v1 name
_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_BACK = {new: old for old, new in _RENAMED.items()}


def to_events_v1(obj: Obj) -> Obj:
    """Convert a stored event (core v1) to events.k8s.io/v1."""
    return {_RENAMED.get(key, key): value for key, value in obj.items()}


def from_events_v1(obj: Obj) -> Obj:
    """Convert an event from events.k8s.io/v1 to the stored version (core v1)."""
    return {_BACK.get(key, key): value for key, value in obj.items()}


_TARGET = "targetCPUUtilizationPercentage"


def to_autoscaling_v1(obj: Obj) -> Obj:
    """Convert a stored autoscaler (v2) to v1, which supports CPU utilization as the only metric."""
    spec = {name: value for name, value in (obj.get("spec") or {}).items() if name != "metrics"}
    spec.pop("behavior", None)
    for metric in dicts(dig(obj, "spec.metrics")):
        wanted = dig(metric, "resource.target.averageUtilization")
        if dig(metric, "resource.name") == "cpu" and wanted is not None:
            spec[_TARGET] = wanted
    return {**obj, "spec": spec}


def from_autoscaling_v1(obj: Obj) -> Obj:
    """Convert an autoscaler from v1 to the stored version (v2)."""
    spec = dict(obj.get("spec") or {})
    wanted = spec.pop(_TARGET, None)
    if wanted is not None:
        target = {"type": "Utilization", "averageUtilization": wanted}
        resource = {"name": "cpu", "target": target}
        spec["metrics"] = [{"type": "Resource", "resource": resource}]
    return {**obj, "spec": spec}
