"""The status of a pod, for statuses as kubelets write them."""

from typing import Any

import msgspec
import pytest

from console.kube.projections.pod import decode
from console.kube.status import Severity


def pod(
    *,
    phase: str = "Running",
    containers: tuple[dict[str, Any], ...] = ({},),
    init: tuple[dict[str, Any], ...] = (),
    conditions: dict[str, dict[str, Any]] | None = None,
    node: str = "n1",
    deleted: bool = False,
    **status: Any,
) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "5"}
    meta["creationTimestamp"] = "2026-01-01T00:00:00Z"
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T01:00:00Z"
    body: dict[str, Any] = {"phase": phase, **status}
    body["containerStatuses"] = [{"name": f"c{i}", **c} for i, c in enumerate(containers)]
    body["initContainerStatuses"] = [{"name": f"i{i}", **c} for i, c in enumerate(init)]
    body["conditions"] = [{"type": key, **value} for key, value in (conditions or {}).items()]
    spec = {
        "nodeName": node,
        "containers": [{"name": f"c{i}", "image": "img"} for i in range(len(containers))],
        "initContainers": [{"name": f"i{i}", "image": "img"} for i in range(len(init))],
    }
    return {"metadata": meta, "spec": spec, "status": body}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason, "message": message}}, **more}


def terminated(code: int, reason: str = "Error", **more: Any) -> dict[str, Any]:
    return {"state": {"terminated": {"exitCode": code, "reason": reason}}, **more}


RUNNING: dict[str, Any] = {
    "ready": True,
    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
}
READY = {"Ready": {"status": "True"}}
OOM: dict[str, Any] = {"lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}

CASES: list[tuple[str, dict[str, Any], Severity, str, str]] = [
    ("running", pod(containers=(RUNNING,), conditions=READY), Severity.OK, "Running", ""),
    (
        "crash loop",
        pod(containers=(waiting("CrashLoopBackOff", **OOM),)),
        Severity.ERROR,
        "Crash loop",
        "exit 137, OOMKilled",
    ),
    (
        "crash loop without history",
        pod(containers=(waiting("CrashLoopBackOff"),)),
        Severity.ERROR,
        "Crash loop",
        "CrashLoopBackOff",
    ),
    (
        "image",
        pod(phase="Pending", containers=(waiting("ImagePullBackOff", "not found"),)),
        Severity.ERROR,
        "Image pull failed",
        "ImagePullBackOff: not found",
    ),
    (
        "config",
        pod(
            phase="Pending",
            containers=(waiting("CreateContainerConfigError", 'secret "x" not found'),),
        ),
        Severity.ERROR,
        "Config error",
        'CreateContainerConfigError: secret "x" not found',
    ),
    (
        "creating",
        pod(phase="Pending", containers=(waiting("ContainerCreating"),)),
        Severity.PROGRESS,
        "Creating",
        "ContainerCreating",
    ),
    (
        "oom now",
        pod(containers=(terminated(137, "OOMKilled"),)),
        Severity.ERROR,
        "Out of memory",
        "exit 137, OOMKilled",
    ),
    ("exit", pod(containers=(RUNNING, terminated(2))), Severity.ERROR, "Failed", "exit 2"),
    (
        "worst wins",
        pod(containers=(waiting("ContainerCreating"), waiting("CrashLoopBackOff"))),
        Severity.ERROR,
        "Crash loop",
        "CrashLoopBackOff",
    ),
    (
        "unschedulable",
        pod(
            phase="Pending",
            containers=(),
            node="",
            conditions={
                "PodScheduled": {
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/3 nodes",
                }
            },
        ),
        Severity.WARN,
        "Unschedulable",
        "0/3 nodes",
    ),
    (
        "gated",
        pod(
            phase="Pending",
            containers=(),
            node="",
            conditions={"PodScheduled": {"status": "False", "reason": "SchedulingGated"}},
        ),
        Severity.PAUSED,
        "Paused",
        "SchedulingGated",
    ),
    (
        "waiting for a node",
        pod(phase="Pending", containers=(), node=""),
        Severity.PROGRESS,
        "Waiting",
        "",
    ),
    (
        "not ready",
        pod(
            containers=({"ready": False, "state": {"running": {}}},),
            conditions={
                "Ready": {
                    "status": "False",
                    "reason": "ContainersNotReady",
                    "message": "containers with unready status: [api]",
                }
            },
        ),
        Severity.WARN,
        "Not ready",
        "containers with unready status: [api]",
    ),
    (
        "init runs",
        pod(
            phase="Pending",
            containers=(waiting("PodInitializing"),),
            init=(terminated(0, "Completed"), {"state": {"running": {}}}),
        ),
        Severity.PROGRESS,
        "Initializing",
        "Init:1/2",
    ),
    (
        "init failed",
        pod(phase="Pending", containers=(waiting("PodInitializing"),), init=(terminated(1),)),
        Severity.ERROR,
        "Init failed",
        "Init:Error, exit 1",
    ),
    (
        "init crash loop",
        pod(
            phase="Pending",
            containers=(waiting("PodInitializing"),),
            init=(waiting("CrashLoopBackOff", **OOM),),
        ),
        Severity.ERROR,
        "Crash loop",
        "Init:exit 137, OOMKilled",
    ),
    (
        "completed",
        pod(phase="Succeeded", containers=(terminated(0, "Completed"),)),
        Severity.DONE,
        "Completed",
        "",
    ),
    (
        "evicted",
        pod(phase="Failed", containers=(), reason="Evicted", message="low on disk"),
        Severity.ERROR,
        "Evicted",
        "low on disk",
    ),
    (
        "failed job pod",
        pod(phase="Failed", containers=(terminated(3),)),
        Severity.ERROR,
        "Failed",
        "exit 3",
    ),
    (
        "deleted when it had failed",
        pod(phase="Failed", containers=(terminated(3),), deleted=True),
        Severity.ERROR,
        "Failed",
        "exit 3",
    ),
    (
        "deleted when it was done",
        pod(phase="Succeeded", containers=(terminated(0, "Completed"),), deleted=True),
        Severity.DONE,
        "Completed",
        "",
    ),
    (
        "terminating",
        pod(containers=(RUNNING,), conditions=READY, deleted=True),
        Severity.ENDING,
        "Terminating",
        "",
    ),
    (
        "node lost",
        pod(containers=(RUNNING,), deleted=True, reason="NodeLost"),
        Severity.UNKNOWN,
        "Unknown",
        "NodeLost",
    ),
    ("no status yet", {"metadata": {"name": "p"}}, Severity.PROGRESS, "Waiting", ""),
]


@pytest.mark.parametrize(
    ("item", "severity", "word", "reason"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_pod_status(item: dict[str, Any], severity: Severity, word: str, reason: str) -> None:
    projection, _, _ = decode(msgspec.json.encode(item))
    assert projection.status.severity is severity
    assert (projection.status.word, projection.status.reason) == (word, reason)


def test_started_sidecar_does_not_affect_the_status() -> None:
    item = pod(containers=(RUNNING,), conditions=READY, init=({"started": True, **RUNNING},))
    item["spec"]["initContainers"][0]["restartPolicy"] = "Always"
    projection, _, _ = decode(msgspec.json.encode(item))
    assert projection.status.word == "Running"


def test_ready_containers_and_restarts_are_counted() -> None:
    item = pod(containers=({**RUNNING, "restartCount": 3}, {"restartCount": 4, **OOM}))
    item["status"]["containerStatuses"][1]["lastState"]["terminated"]["finishedAt"] = (
        "2026-01-01T02:00:00Z"
    )
    projection, version, _ = decode(msgspec.json.encode(item))
    assert (projection.ready, projection.containers, projection.restarts) == (1, 2, 7)
    assert projection.last_restart is not None
    assert version == "5"


_DONE = terminated(0, "Completed", restartCount=2)
_SIDECAR = {**RUNNING, "started": True, "restartCount": 5}
_RUNNING_APP = {**RUNNING, "restartCount": 1}


@pytest.mark.parametrize(
    ("init", "sidecars", "initialized", "counts"),
    [
        ((_SIDECAR,), (0,), "True", (2, 2, 6)),
        (({**_SIDECAR, "ready": False},), (0,), "True", (1, 2, 6)),
        ((_DONE, _SIDECAR, _SIDECAR), (1, 2), "True", (3, 3, 11)),
        (({**_SIDECAR, "ready": False, "started": False},), (0,), "False", (0, 2, 5)),
        ((_DONE, {"state": {"running": {}}, "restartCount": 3}), (), "False", (0, 1, 5)),
        ((_DONE,), (), "True", (1, 1, 1)),
        ((_SIDECAR, waiting("CrashLoopBackOff", restartCount=4)), (0,), "False", (1, 2, 9)),
    ],
)
def test_ready_and_restarts_are_counted_like_kubectl_with_init_containers(
    init: tuple[dict[str, Any], ...],
    sidecars: tuple[int, ...],
    initialized: str,
    counts: tuple[int, int, int],
) -> None:
    item = pod(
        containers=(_RUNNING_APP,), init=init, conditions={"Initialized": {"status": initialized}}
    )
    for index in sidecars:
        item["spec"]["initContainers"][index]["restartPolicy"] = "Always"
    found, _, _ = decode(msgspec.json.encode(item))
    assert (found.ready, found.containers, found.restarts) == counts
