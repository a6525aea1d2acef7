"""Types that are served in more than one shape: events of two APIs, autoscalers of two versions.

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
    """From the stored shape, which is core v1's."""
    return {_RENAMED.get(key, key): value for key, value in obj.items()}


def from_events_v1(obj: Obj) -> Obj:
    """To the stored shape."""
    return {_BACK.get(key, key): value for key, value in obj.items()}


_TARGET = "targetCPUUtilizationPercentage"


def to_autoscaling_v1(obj: Obj) -> Obj:
    """From v2, which is stored. Version 1 knows one metric: the use of the CPU."""
    spec = {name: value for name, value in (obj.get("spec") or {}).items() if name != "metrics"}
    spec.pop("behavior", None)
    for metric in dicts(dig(obj, "spec.metrics")):
        wanted = dig(metric, "resource.target.averageUtilization")
        if dig(metric, "resource.name") == "cpu" and wanted is not None:
            spec[_TARGET] = wanted
    return {**obj, "spec": spec}


def from_autoscaling_v1(obj: Obj) -> Obj:
    """To v2."""
    spec = dict(obj.get("spec") or {})
    wanted = spec.pop(_TARGET, None)
    if wanted is not None:
        target = {"type": "Utilization", "averageUtilization": wanted}
        resource = {"name": "cpu", "target": target}
        spec["metrics"] = [{"type": "Resource", "resource": resource}]
    return {**obj, "spec": spec}
