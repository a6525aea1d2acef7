"""Autoscalers, disruption budgets, nodes, namespaces and events: statuses and other derived fields."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from console.kube.gvr import (
    EVENTS,
    GVR,
    HORIZONTAL_POD_AUTOSCALERS,
    NAMESPACES,
    NODES,
    POD_DISRUPTION_BUDGETS,
)
from console.kube.projections import DECODERS
from console.kube.status import Severity

Obj = dict[str, Any]
ERROR, WARN, PROGRESS, OK = Severity.ERROR, Severity.WARN, Severity.PROGRESS, Severity.OK
PAUSED, ENDING, UNKNOWN = Severity.PAUSED, Severity.ENDING, Severity.UNKNOWN
GONE = "2026-11-20T10:00:00Z"


def project(gvr: GVR, meta: Obj | None = None, /, **fields: Any) -> Any:
    named = {"name": "x", "uid": "u", "resourceVersion": "5", **(meta or {})}
    return DECODERS[gvr](msgspec.json.encode({"metadata": named, **fields}))[0]


def conditions(*told: tuple[str, str, str]) -> list[Obj]:
    return [{"type": kind, "status": value, "reason": reason} for kind, value, reason in told]


ABLE, ACTIVE = ("AbleToScale", "True", "ReadyForNewScale"), ("ScalingActive", "True", "")


@pytest.mark.parametrize(
    ("told", "replicas", "severity", "word", "reason"),
    [
        ((ABLE, ACTIVE), (3, 3), OK, "Active", ""),
        ((ABLE, ACTIVE), (3, 5), PROGRESS, "Scaling", "Pods: 3, desired: 5"),
        (
            (ABLE, ACTIVE, ("ScalingLimited", "True", "TooManyReplicas")),
            (5, 5),
            WARN,
            "At its maximum",
            "TooManyReplicas",
        ),
        ((ABLE, ACTIVE, ("ScalingLimited", "True", "TooFewReplicas")), (1, 1), OK, "Active", ""),
        (
            (ABLE, ("ScalingActive", "False", "FailedGetResourceMetric")),
            (1, 0),
            ERROR,
            "No metrics",
            "FailedGetResourceMetric",
        ),
        (
            (ABLE, ("ScalingActive", "False", "ScalingDisabled")),
            (0, 0),
            PAUSED,
            "Disabled",
            "ScalingDisabled",
        ),
        ((("AbleToScale", "False", "FailedGetScale"),), (0, 0), ERROR, "Cannot scale", "Failed"),
        ((), (0, 0), PROGRESS, "Waiting", ""),
    ],
)
def test_autoscaler_status(
    told: tuple[tuple[str, str, str], ...],
    replicas: tuple[int, int],
    severity: Severity,
    word: str,
    reason: str,
) -> None:
    status = {
        "currentReplicas": replicas[0],
        "desiredReplicas": replicas[1],
        "conditions": conditions(*told),
    }
    found = project(HORIZONTAL_POD_AUTOSCALERS, status=status).status
    assert (found.severity, found.word) == (severity, word)
    assert found.reason.startswith(reason)


def _source(kind: str, field: str, **metric: Any) -> Obj:
    return {"type": kind, field: metric}


@pytest.mark.parametrize(
    ("target", "current", "text"),
    [
        (
            _source("Resource", "resource", name="cpu", target={"averageUtilization": 80}),
            _source("Resource", "resource", name="cpu", current={"averageUtilization": 0}),
            "cpu: 0%/80%",
        ),
        (
            _source("Resource", "resource", name="memory", target={"averageValue": "1Gi"}),
            _source("Resource", "resource", name="memory", current={"averageValue": "200Mi"}),
            "memory: 200Mi/1Gi",
        ),
        (
            _source("Object", "object", metric={"name": "hits"}, target={"value": "2k"}),
            _source("Object", "object", metric={"name": "hits"}, current={"value": "10"}),
            "hits: 10/2k",
        ),
        # A metric without a value is written as an empty entry or omitted.
        (
            _source("Resource", "resource", name="cpu", target={"averageUtilization": 80}),
            {},
            "cpu: ?/80%",
        ),
        (
            _source("External", "external", metric={"name": "q"}, target={"value": "30"}),
            None,
            "q: ?/30",
        ),
    ],
)
def test_autoscaler_metrics_show_current_and_target_values(
    target: Obj, current: Obj | None, text: str
) -> None:
    found = project(
        HORIZONTAL_POD_AUTOSCALERS,
        spec={"metrics": [target]},
        status={"currentMetrics": [current]},
    )
    assert found.metrics == (text,)


@pytest.mark.parametrize(
    ("status", "severity", "word", "reason"),
    [
        ({"expectedPods": 3, "disruptionsAllowed": 1}, OK, "Allows eviction", ""),
        (
            {"expectedPods": 3, "currentHealthy": 3, "desiredHealthy": 3},
            WARN,
            "Blocks eviction",
            "Healthy pods: 3, required: 3",
        ),
        ({}, PAUSED, "No matching pods", ""),
        (
            {"conditions": conditions(("DisruptionAllowed", "False", "SyncFailed"))},
            ERROR,
            "Not enforced",
            "SyncFailed",
        ),
    ],
)
def test_disruption_budget_status(status: Obj, severity: Severity, word: str, reason: str) -> None:
    found = project(POD_DISRUPTION_BUDGETS, status=status).status
    assert (found.severity, found.word, found.reason) == (severity, word, reason)


READY = ("Ready", "True", "KubeletReady")


@pytest.mark.parametrize(
    ("told", "cordoned", "severity", "word", "reason"),
    [
        ((READY,), False, OK, "Ready", ""),
        ((READY,), True, PAUSED, "Cordoned", "SchedulingDisabled"),
        ((("Ready", "False", "KubeletNotReady"),), False, ERROR, "Not ready", "KubeletNotReady"),
        (
            (("Ready", "Unknown", "NodeStatusUnknown"),),
            True,
            ERROR,
            "Not ready",
            "Cordoned. NodeStatusUnknown",
        ),
        ((READY, ("MemoryPressure", "True", "Low")), False, WARN, "Low memory", "Low"),
        ((READY, ("DiskPressure", "True", "Disk")), True, WARN, "Low disk space", "Cordoned. Disk"),
        ((READY, ("PIDPressure", "True", "Pids")), False, WARN, "Too many processes", "Pids"),
        ((READY, ("NetworkUnavailable", "True", "NoRoute")), False, WARN, "No network", "NoRoute"),
        ((READY, ("MemoryPressure", "False", "Fine")), False, OK, "Ready", ""),
        ((), True, UNKNOWN, "Unknown", "Cordoned"),
        ((), False, UNKNOWN, "Unknown", ""),
    ],
)
def test_node_status(
    told: tuple[tuple[str, str, str], ...],
    cordoned: bool,
    severity: Severity,
    word: str,
    reason: str,
) -> None:
    spec = {"unschedulable": cordoned}
    found = project(NODES, spec=spec, status={"conditions": conditions(*told)})
    assert (found.status.severity, found.status.word) == (severity, word)
    assert found.status.reason == reason
    assert found.cordoned is cordoned


def test_node_roles_match_kubectl() -> None:
    labels = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/control-plane": "true",
        "kubernetes.io/role": "gpu",
        "node-role.kubernetes.io/": "",
    }
    assert project(NODES, {"labels": labels}).roles == ("control-plane", "gpu", "worker")


def test_nodes_name_their_devices() -> None:
    amounts = {"cpu": "4", "nvidia.com/gpu": "2", "amd.com/gpu": "0", "example.com/fpga": "1"}
    found = project(NODES, status={"allocatable": amounts})
    assert found.devices == ("example.com/fpga", "nvidia.com/gpu")


BLOCKED = ("NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed")
CONTENT = ("NamespaceContentRemaining", "True", "SomeResourcesRemain")
FINALIZERS = ("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain")


@pytest.mark.parametrize(
    ("deleted", "told", "severity", "word", "reason"),
    [
        (False, (), OK, "Active", ""),
        (True, (), ENDING, "Terminating", ""),
        (True, (CONTENT,), ENDING, "Terminating", "SomeResourcesRemain"),
        (True, (CONTENT, FINALIZERS), ENDING, "Terminating", "SomeFinalizersRemain"),
        (True, (CONTENT, BLOCKED), WARN, "Deletion blocked", "DiscoveryFailed"),
        (True, ((BLOCKED[0], "False", "Fine"),), ENDING, "Terminating", ""),
    ],
)
def test_namespace_status(
    deleted: bool,
    told: tuple[tuple[str, str, str], ...],
    severity: Severity,
    word: str,
    reason: str,
) -> None:
    phase = "Terminating" if deleted else "Active"
    meta = {"deletionTimestamp": GONE} if deleted else {}
    found = project(NAMESPACES, meta, status={"phase": phase, "conditions": conditions(*told)})
    assert (found.status.severity, found.status.word) == (severity, word)
    assert found.status.reason == reason


@pytest.mark.parametrize(
    ("kind", "severity", "word"),
    [("Warning", WARN, "Warning"), ("Normal", OK, "Normal"), ("x", UNKNOWN, "Unknown")],
)
def test_event_status(kind: str, severity: Severity, word: str) -> None:
    found = project(EVENTS, type=kind, reason="BackOff").status
    assert (found.severity, found.word, found.reason) == (severity, word, "BackOff")


T1, T2, T3 = (f"2026-11-20T0{hour}:00:00Z" for hour in (1, 2, 3))


def _at(hour: int) -> datetime:
    return datetime(2026, 11, 20, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "count", "first", "last"),
    [
        ({"firstTimestamp": T1, "lastTimestamp": T2, "count": 7}, 7, _at(1), _at(2)),
        ({"eventTime": T2}, 1, _at(2), _at(2)),
        ({"eventTime": T1, "series": {"count": 4, "lastObservedTime": T3}}, 4, _at(1), _at(3)),
        ({"count": 0, "lastTimestamp": None}, 1, _at(1), _at(1)),
        # Out-of-range times that no time zone can display.
        ({"eventTime": "9999-12-31T23:59:59Z"}, 1, _at(1), _at(1)),
        ({"firstTimestamp": "0001-01-01T00:00:00+14:00"}, 1, _at(1), _at(1)),
    ],
)
def test_event_count_and_times(fields: Obj, count: int, first: datetime, last: datetime) -> None:
    found = project(EVENTS, {"creationTimestamp": T1}, **fields)
    assert (found.count, found.first, found.last) == (count, first, last)


def test_event_source_and_object() -> None:
    about = {"kind": "Pod", "name": "web-1", "namespace": "shop", "uid": "p-1"}
    found = project(EVENTS, involvedObject=about, source={"component": "kubelet", "host": "n1"})
    assert (found.about, found.about_uid, found.source) == ("Pod/web-1", "p-1", "kubelet, n1")
    about = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
    assert project(EVENTS, involvedObject=about).about == "StatefulSet.apps/db"
    assert project(EVENTS, reportingComponent="scheduler", source={}).source == "scheduler"
