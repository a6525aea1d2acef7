"""The status of workloads, for statuses as their controllers write them."""

from typing import Any

import msgspec
import pytest

from console.kube.gvr import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    GVR,
    JOBS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from console.kube.projections import DECODERS
from console.kube.status import Severity

Obj = dict[str, Any]
ERROR, WARN, PROGRESS = Severity.ERROR, Severity.WARN, Severity.PROGRESS
OK, PAUSED, DONE, ENDING = Severity.OK, Severity.PAUSED, Severity.DONE, Severity.ENDING


def project(gvr: GVR, spec: Obj, status: Obj, **meta: Any) -> Any:
    named = {"name": "x", "namespace": "ns", "uid": "u", "resourceVersion": "5", **meta}
    obj = {"metadata": named, "spec": spec, "status": status}
    return DECODERS[gvr](msgspec.json.encode(obj))[0]


def condition(kind: str, value: str, reason: str = "", message: str = "", **more: Any) -> Obj:
    return {"type": kind, "status": value, "reason": reason, "message": message, **more}


def counts(replicas: int, updated: int, ready: int, *conditions: Obj) -> Obj:
    return {
        "observedGeneration": 1,
        "replicas": replicas,
        "updatedReplicas": updated,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "conditions": list(conditions),
    }


DONE_ROLLOUT = condition("Progressing", "True", "NewReplicaSetAvailable")
GOING_ON = condition("Progressing", "True", "ReplicaSetUpdated")
UNAVAILABLE = condition("Available", "False", "MinimumReplicasUnavailable", "no minimum")
LATE = condition("Progressing", "False", "ProgressDeadlineExceeded", "has timed out")
QUOTA = condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")

Case = tuple[Obj, Obj, Severity, str, str]
THREE: Obj = {"replicas": 3}

DEPLOYMENT_CASES: list[Case] = [
    (THREE, counts(3, 3, 3, DONE_ROLLOUT), OK, "Running", ""),
    (THREE, counts(4, 1, 3, GOING_ON), PROGRESS, "Rolling out", "1 of 3 updated"),
    (THREE, counts(4, 3, 3, GOING_ON), PROGRESS, "Rolling out", "Old pods pending termination: 1"),
    (THREE, counts(3, 3, 2, GOING_ON), PROGRESS, "Rolling out", "2 of 3 ready"),
    (THREE, counts(3, 3, 2), PROGRESS, "Rolling out", "2 of 3 ready"),
    (THREE, counts(2, 2, 2, DONE_ROLLOUT), PROGRESS, "Scaling", "2 of 3 updated"),
    (THREE, counts(5, 5, 5, DONE_ROLLOUT), PROGRESS, "Scaling", "Pods: 5, desired: 3"),
    (THREE, counts(3, 3, 2, DONE_ROLLOUT), WARN, "Degraded", "2 of 3 ready"),
    (
        THREE,
        counts(3, 3, 1, DONE_ROLLOUT, UNAVAILABLE),
        WARN,
        "Degraded",
        "MinimumReplicasUnavailable: no minimum",
    ),
    (THREE, counts(3, 3, 0, DONE_ROLLOUT, UNAVAILABLE), ERROR, "Not available", "Minimum"),
    (THREE, counts(4, 1, 3, LATE), ERROR, "Stuck rollout", "ProgressDeadlineExceeded: has timed"),
    (THREE, counts(0, 0, 0, QUOTA, LATE), ERROR, "Cannot create pods", "FailedCreate: exceeded"),
    ({**THREE, "paused": True}, counts(3, 1, 3), PAUSED, "Paused", "1 of 3 updated"),
    ({**THREE, "paused": True}, counts(3, 1, 0, UNAVAILABLE), ERROR, "Not available", ""),
    ({"replicas": 0}, counts(0, 0, 0, DONE_ROLLOUT), PAUSED, "Scaled to zero", ""),
    ({"replicas": 0}, counts(2, 2, 2, DONE_ROLLOUT), PROGRESS, "Scaling", "Pods: 2, desired: 0"),
    ({}, {}, PROGRESS, "Rolling out", ""),
    ({}, counts(1, 1, 1, DONE_ROLLOUT), OK, "Running", ""),
]
REPLICA_SET_CASES: list[Case] = [
    (THREE, counts(3, 0, 3), OK, "Running", ""),
    (THREE, counts(3, 0, 1), WARN, "Degraded", "1 of 3 ready"),
    (THREE, counts(3, 0, 0), ERROR, "Not available", "0 of 3 ready"),
    (THREE, counts(1, 0, 1), PROGRESS, "Scaling", "Pods: 1, desired: 3"),
    (THREE, counts(0, 0, 0, QUOTA), ERROR, "Cannot create pods", "FailedCreate"),
    ({"replicas": 0}, counts(0, 0, 0), PAUSED, "Scaled to zero", ""),
]
SAME: Obj = {"currentRevision": "a", "updateRevision": "a"}
OTHER: Obj = {"currentRevision": "a", "updateRevision": "b"}
PART: Obj = {
    **THREE,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
}
BY_HAND: Obj = {**THREE, "updateStrategy": {"type": "OnDelete"}}
STATEFUL_SET_CASES: list[Case] = [
    (THREE, {**counts(3, 3, 3), **SAME}, OK, "Running", ""),
    (THREE, {**counts(3, 1, 3), **OTHER}, PROGRESS, "Rolling out", "1 of 3 updated"),
    (THREE, {**counts(3, 1, 2), **OTHER}, PROGRESS, "Rolling out", "1 of 3 updated"),
    (THREE, {**counts(3, 1, 1), **OTHER}, WARN, "Degraded", "1 of 3 ready"),
    (THREE, {**counts(3, 1, 0), **OTHER}, ERROR, "Not available", ""),
    (PART, {**counts(3, 1, 3), **OTHER}, OK, "Running", ""),
    (PART, {**counts(3, 0, 3), **OTHER}, PROGRESS, "Rolling out", "0 of 1 updated"),
    (BY_HAND, {**counts(3, 1, 3), **OTHER}, OK, "Running", ""),
    (THREE, {**counts(2, 2, 2), **SAME}, PROGRESS, "Scaling", "Pods: 2, desired: 3"),
    (THREE, {**counts(1, 1, 0), **SAME}, ERROR, "Not available", "0 of 3 ready"),
    ({"replicas": 0}, counts(0, 0, 0), PAUSED, "Scaled to zero", ""),
]


def daemons(desired: int, updated: int, available: int, misplaced: int = 0) -> Obj:
    return {
        "observedGeneration": 1,
        "desiredNumberScheduled": desired,
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberMisscheduled": misplaced,
    }


DAEMON_SET_CASES: list[Case] = [
    ({}, daemons(4, 4, 4), OK, "Running", ""),
    ({}, daemons(4, 2, 3), PROGRESS, "Rolling out", "2 of 4 updated"),
    ({"updateStrategy": {"type": "OnDelete"}}, daemons(4, 2, 4), OK, "Running", ""),
    ({}, daemons(4, 4, 3), WARN, "Degraded", "3 of 4 ready"),
    ({}, daemons(4, 4, 0), ERROR, "Not available", "0 of 4 ready"),
    (
        {},
        daemons(4, 4, 4, 1),
        WARN,
        "Misscheduled pods",
        "Pods on nodes that should not run the DaemonSet: 1",
    ),
    ({}, daemons(0, 0, 0), PAUSED, "No matching nodes", ""),
]
LIMIT = condition("Failed", "True", "BackoffLimitExceeded", "reached the limit")
JOB_CASES: list[Case] = [
    ({}, {"conditions": [condition("Complete", "True")]}, DONE, "Completed", ""),
    ({}, {"conditions": [LIMIT]}, ERROR, "Failed", "BackoffLimitExceeded: reached the limit"),
    ({}, {"conditions": [condition("FailureTarget", "True", "x")]}, ERROR, "Failed", "x"),
    ({"suspend": True}, {}, PAUSED, "Suspended", ""),
    ({}, {"conditions": [condition("Suspended", "True")]}, PAUSED, "Suspended", ""),
    ({}, {"conditions": [condition("Suspended", "False")], "active": 1}, OK, "Running", ""),
    ({}, {"active": 2, "ready": 0}, PROGRESS, "Creating", ""),
    ({}, {"active": 2, "ready": 1, "failed": 3}, WARN, "Retrying", "Failed pods: 3"),
    ({}, {}, PROGRESS, "Waiting", ""),
]
EARLY, LATER = "2026-11-20T08:00:00Z", "2026-11-20T09:00:00Z"
CRON_CASES: list[Case] = [
    ({}, {"lastScheduleTime": EARLY, "lastSuccessfulTime": LATER}, OK, "Scheduled", ""),
    ({}, {"lastScheduleTime": LATER, "lastSuccessfulTime": EARLY}, ERROR, "Last run failed", ""),
    ({}, {"lastScheduleTime": LATER}, ERROR, "Last run failed", ""),
    ({}, {"lastScheduleTime": LATER, "active": [{}]}, OK, "Running", "Active jobs: 1"),
    ({"suspend": True}, {"lastScheduleTime": LATER}, PAUSED, "Suspended", ""),
    ({}, {}, OK, "Scheduled", ""),
]
ALL = {
    DEPLOYMENTS: DEPLOYMENT_CASES,
    REPLICA_SETS: REPLICA_SET_CASES,
    STATEFUL_SETS: STATEFUL_SET_CASES,
    DAEMON_SETS: DAEMON_SET_CASES,
    JOBS: JOB_CASES,
    CRON_JOBS: CRON_CASES,
}


@pytest.mark.parametrize(
    ("gvr", "case"),
    [(gvr, case) for gvr, cases in ALL.items() for case in cases],
    ids=lambda value: value.resource if isinstance(value, GVR) else value[3],
)
def test_workload_status(gvr: GVR, case: Case) -> None:
    spec, status, severity, word, reason = case
    found = project(gvr, spec, status, generation=1).status
    assert (found.severity, found.word) == (severity, word)
    assert found.reason.startswith(reason) if reason else True


@pytest.mark.parametrize("gvr", ALL, ids=lambda gvr: gvr.resource)
def test_deleted_workload_is_terminating(gvr: GVR) -> None:
    found = project(gvr, {}, {}, deletionTimestamp="2026-11-20T10:00:00Z").status
    assert (found.severity, found.word) == (ENDING, "Terminating")


@pytest.mark.parametrize("gvr", [DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS], ids=str)
def test_unobserved_spec_is_rolling_out(gvr: GVR) -> None:
    found = project(gvr, THREE, counts(3, 3, 3), generation=2).status
    assert (found.severity, found.word) == (PROGRESS, "Rolling out")


def test_containers_and_images_are_interned() -> None:
    spec = {"template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}}
    first, second = (project(DEPLOYMENTS, spec, {}, name=name) for name in "ab")
    assert first.images == ("i",)
    assert first.images is second.images
    assert first.containers is second.containers
    assert first.status is second.status


def test_job_duration_ends_when_it_succeeds_or_fails() -> None:
    done = {"startTime": EARLY, "completionTime": "2026-11-20T08:03:12Z"}
    assert project(JOBS, {}, done).seconds == 192
    given_up = {"startTime": EARLY, "conditions": [{**LIMIT, "lastTransitionTime": LATER}]}
    assert project(JOBS, {}, given_up).seconds == 3600
    assert project(JOBS, {}, {"startTime": EARLY, "active": 1}).seconds is None


@pytest.mark.parametrize(
    ("text", "revision"), [("41", 41), ("", None), ("x", None), ("٤", None), ("9" * 40, None)]
)
def test_revision_is_a_number_or_none(text: str, revision: int | None) -> None:
    annotations = {"deployment.kubernetes.io/revision": text}
    assert project(REPLICA_SETS, {}, {}, annotations=annotations).revision == revision
