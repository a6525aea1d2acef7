"""Diagnoses and conditions in plain words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from console.kube.status import Severity
from console.ui.core.podspecs import containers_of, probes_of, resources_of
from console.ui.diagnosis.conditions import conditions_of
from console.ui.diagnosis.diagnosis import diagnose
from console.ui.fragments.placeholders import age_text

ENDED = datetime(2020, 11, 20, 10, tzinfo=UTC)
CRASHED = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": ENDED.isoformat()}}


def a_pod(
    state: dict[str, Any], *, last: Any = None, restarts: int = 0, **spec: Any
) -> dict[str, Any]:
    status = {"name": "app", "state": state, "lastState": last or {}, "restartCount": restarts}
    return {
        "spec": {"containers": [{"name": "app", "image": "shop/app:1", **spec}]},
        "status": {"containerStatuses": [{**status, "ready": False}]},
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def unschedulable(message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"status": {"phase": "Pending", "conditions": [{**condition, "message": message}]}}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint "
            "{node-role.kubernetes.io/control-plane: }, 8 Insufficient memory. preemption: 0/12 nodes "
            "are available: 12 Preemption is not helpful for scheduling.",
            (
                "None of the 12 nodes can run this pod: cordoned (1), the taint "
                "node-role.kubernetes.io/control-plane that the pod does not tolerate (3), "
                "not enough memory (8)."
            ),
        ),
        (
            "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu.",
            (
                "The only node cannot run this pod: not enough CPU (1), not enough nvidia.com/gpu (1)."
            ),
        ),
        (
            "0/3 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, "
            "1 node(s) had untolerated taint {dedicated: db}",
            (
                "None of the 3 nodes can run this pod: node selector or affinity does not match (2), "
                "the taint dedicated=db that the pod does not tolerate (1)."
            ),
        ),
        (
            "0/2 nodes are available: 2 out of moonlight, and 3 moons.",
            "None of the 2 nodes can run this pod: out of moonlight, and 3 moons (2).",
        ),
        (
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            "No node found: a PersistentVolumeClaim of this pod is not bound yet.",
        ),
        (
            'persistentvolumeclaim "cold" not found',
            "No node found: the PersistentVolumeClaim cold does not exist.",
        ),
        ("no nodes available to schedule pods", "No node found: the cluster has no nodes."),
        ("0/3 nodes are available: the moon is new", "Not scheduled to a node."),
        ("", "Not scheduled to a node."),
    ],
)
def test_unschedulable_pod_is_explained(message: str, text: str) -> None:
    cause = diagnose(unschedulable(message))
    assert cause is not None
    assert cause.text == text
    assert message in cause.reason


@pytest.mark.parametrize(
    ("manifest", "text", "reason"),
    [
        (
            a_pod(
                waiting("CrashLoopBackOff"),
                last=CRASHED,
                restarts=1400,
                resources={"limits": {"memory": "512Mi"}},
            ),
            (
                "Container app is in a crash loop: it exceeded its memory limit (512Mi) "
                "and was killed. The container was restarted 1,400 times and will be restarted "
                "after a delay."
            ),
            "exit 137, OOMKilled",
        ),
        (
            a_pod(waiting("ImagePullBackOff", "not found")),
            "Could not pull the image of container app: shop/app:1",
            "ImagePullBackOff: not found",
        ),
        (
            a_pod(waiting("CreateContainerConfigError", 'secret "db" not found')),
            (
                "Could not create container app: an object that the container refers to is "
                "invalid or missing."
            ),
            'CreateContainerConfigError: secret "db" not found',
        ),
        (
            a_pod({"terminated": {"exitCode": 127, "reason": "Error"}}),
            "Container app failed: its command was not found.",
            "exit 127, Error",
        ),
        (
            a_pod({"running": {}}, readinessProbe={"tcpSocket": {"port": 80}}),
            "Container app is running, but its readiness probe fails.",
            "",
        ),
        (
            a_pod({"running": {}}, last=CRASHED, restarts=3),
            "Container app is running, but is not ready yet. The container was restarted 3 times, "
            f"most recently {age_text(ENDED)} ago: it ran out of memory and was killed.",
            "exit 137, OOMKilled",
        ),
        (
            {
                "status": {
                    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "R"}]
                }
            },
            "Not scheduled to a node.",
            "R",
        ),
        (
            {"metadata": {"deletionTimestamp": "2026-11-20T10:00:00Z", "finalizers": ["a/b"]}},
            "The object is being deleted and is waiting for its finalizers.",
            "a/b",
        ),
        (
            {"status": {"reason": "Evicted", "message": "low on memory"}},
            "The node ran low on resources and evicted the pod.",
            "low on memory",
        ),
    ],
)
def test_diagnosis_is_as_expected(manifest: dict[str, Any], text: str, reason: str) -> None:
    found = diagnose(manifest)
    assert found is not None
    assert (found.text, found.reason) == (text, reason)


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"spec": None, "status": []},
        {"spec": {"containers": "x"}, "status": {"conditions": [None, 1, {"type": 1}]}},
        a_pod({"running": None, "waiting": None}),
        {"status": {"conditions": [{"type": "Odd", "status": "False"}]}},
    ],
)
def test_object_without_a_problem_has_no_diagnosis(manifest: dict[str, Any]) -> None:
    assert diagnose(manifest) is None


def test_conditions_are_rated_by_type_and_sorted_by_severity() -> None:
    told = [("Ready", "True"), ("DiskPressure", "True"), ("MemoryPressure", "False")]
    told += [("Odd", "True"), ("Failed", "True"), ("Available", "Unknown")]
    items = [{"type": kind, "status": status} for kind, status in told]
    found = conditions_of({"status": {"conditions": items}})
    assert [(one.severity, one.state) for one in found] == [
        (Severity.ERROR, "Failed=True"),
        (Severity.WARN, "DiskPressure=True"),
        (Severity.UNKNOWN, "Available=Unknown"),
        (Severity.OK, "Ready=True"),
        (Severity.OK, "MemoryPressure=False"),
        ("", "Odd=True"),
    ]


def test_failed_condition_of_a_job_is_listed_before_failure_target() -> None:
    items = [{"type": kind, "status": "True"} for kind in ("FailureTarget", "Failed")]
    assert [one.state for one in conditions_of({"status": {"conditions": items}})] == [
        "Failed=True",
        "FailureTarget=True",
    ]


def test_completed_pod_need_not_be_ready() -> None:
    item = {"type": "Ready", "status": "False", "reason": "PodCompleted"}
    [found] = conditions_of({"status": {"conditions": [item]}})
    assert not found.is_problem


def test_containers_of_templates_have_no_state() -> None:
    spec = {
        "initContainers": [{"name": "net", "restartPolicy": "Always"}],
        "containers": [
            {
                "name": "app",
                "resources": {"requests": {"cpu": "250m"}, "limits": {"cpu": 1, "memory": "1Gi"}},
                "livenessProbe": {"exec": {"command": ["sh", "-c", "true"]}, "periodSeconds": 5},
                "readinessProbe": {"httpGet": {"port": "web", "path": "/ok"}},
            }
        ],
    }
    sidecar, app = containers_of({"spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}})
    assert (sidecar.role, sidecar.word, sidecar.restarts) == ("Sidecar", "", None)
    assert resources_of(app.spec) == [
        ("cpu", "request 250m, limit 1"),
        ("memory", "limit 1Gi"),
    ]
    assert [text for _label, text in probes_of(app.spec)] == [
        "HTTP GET :web/ok · every 10s, fails after 3 consecutive failures · timeout: 1s",
        "sh -c true · every 5s, fails after 3 consecutive failures · timeout: 1s",
    ]
