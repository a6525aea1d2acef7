"""Selection of refusals: those of workloads that lack pods, and the latest of all others."""

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

import pytest

from console.kube.errors import Forbidden
from console.kube.gvr import EVENTS, GVR, REPLICA_SETS, STATEFUL_SETS, Key
from console.kube.runtime import Runtime
from tests.workspaces.fakes import TenantRuntime
from workspaces.controllers.quota_events import QuotaEventRecorder
from workspaces.controllers.refused_pods import RefusedRequests

WORDS = "exceeded quota: quarterdeck-workspace, requested: pods={}, used: pods=0, limited: pods=1"
NOW = "2026-03-01T12:00:00Z"


def event(name: str, about: str, requested: int = 2, uid: str = "u") -> dict[str, Any]:
    kind, _, of = about.partition("/")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": name,
            "resourceVersion": "5",
            "creationTimestamp": NOW,
        },
        "involvedObject": {
            "apiVersion": "apps/v1",
            "kind": kind,
            "name": of,
            "namespace": "shop",
            "uid": uid,
        },
        "reason": "FailedCreate",
        "message": f"Error creating: pods is forbidden: {WORDS.format(requested)}",
        "firstTimestamp": NOW,
        "lastTimestamp": NOW,
    }


def workload(name: str, replicas: int, message: str = "", **metadata: str) -> dict[str, Any]:
    condition = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": message,
        "lastTransitionTime": NOW,
    }
    meta = {"name": name, "namespace": "shop", "uid": "u", "resourceVersion": "6", **metadata}
    return {
        "apiVersion": "apps/v1",
        "metadata": meta,
        "spec": {"replicas": replicas},
        "status": {"replicas": 0, "conditions": [condition] if message else []},
    }


def amounts(refused: RefusedRequests, used: int = 0) -> list[int]:
    found = refused.needs("shop", {"pods": Decimal(used)})
    return sorted(int(need.amount) for need in found.get("pods", ()))


def refused_with(**objects: list[dict[str, Any]]) -> RefusedRequests:
    types = {"events": EVENTS, "sets": STATEFUL_SETS, "replicas": REPLICA_SETS}
    runtime = TenantRuntime({types[name]: items for name, items in objects.items()})
    return RefusedRequests(cast(Runtime, runtime))


def test_an_event_counts_while_its_workload_lacks_pods() -> None:
    one = event("one", "StatefulSet/db")
    assert amounts(refused_with(events=[one], sets=[workload("db", 1)]), used=7) == [9]
    assert amounts(refused_with(events=[one], sets=[workload("db", 0)])) == []
    assert amounts(refused_with(events=[one], sets=[workload("db", 1, uid="other")])) == []
    assert amounts(refused_with(events=[one])) == []


def test_a_replica_set_condition_counts_as_refusal() -> None:
    failing = workload("web", 3, WORDS.format(4))
    assert amounts(refused_with(replicas=[failing]), used=5) == [9]
    assert amounts(refused_with(replicas=[workload("web", 0, WORDS.format(4))])) == []


def test_an_event_of_an_unknown_kind_counts_for_a_minute() -> None:
    found = refused_with(events=[event("one", "Robot/r2")])
    assert amounts(found) == [2]
    found._clock.move(seconds=61)  # type: ignore[attr-defined]
    assert amounts(found) == []


def test_only_the_latest_of_many_events_count() -> None:
    many = [event(f"e{at}", f"Robot/r{at}", requested=at, uid=f"u{at}") for at in range(1000)]
    for at, one in enumerate(many):
        one["lastTimestamp"] = f"2026-03-01T11:{at // 60:02}:{at % 60:02}Z"
        one["metadata"]["creationTimestamp"] = one["lastTimestamp"]
    # The order in the list must not matter.
    random.Random(1).shuffle(many)  # noqa: S311
    found = refused_with(events=many)
    found._clock.time = datetime(2026, 3, 1, 11, 16, 40, tzinfo=UTC)  # type: ignore[attr-defined]
    latest = amounts(found)
    assert len(latest) == 59 and latest[-1] == 999
    looked = {one.about for one in found._of("shop", set())}
    assert looked == {f"Event/e{at}" for at in range(800, 1000)}


def test_a_timestamp_in_the_future_does_not_extend_a_need() -> None:
    one = event("one", "Robot/r2")
    one["lastTimestamp"] = "2099-01-01T00:00:00Z"
    found = refused_with(events=[one])
    assert amounts(found) == [2]
    found._clock.move(seconds=61)  # type: ignore[attr-defined]
    assert amounts(found) == []


def test_needs_of_user_requests_expire_separately() -> None:
    early, late = event("early", "ResourceQuota/q", 5), event("late", "ResourceQuota/q", 2)
    early["metadata"]["creationTimestamp"] = early["lastTimestamp"] = "2026-03-01T11:30:00Z"
    found = refused_with(events=[early, late])
    assert amounts(found) == [2]
    found._clock.move(seconds=61)  # type: ignore[attr-defined]
    assert amounts(found) == []


@pytest.mark.parametrize(
    ("gvr", "name", "tells"),
    [
        (EVENTS, "one", True),
        (STATEFUL_SETS, "db", True),
        (STATEFUL_SETS, "other", False),
        (EVENTS, "none", False),
    ],
)
def test_changes_of_waiting_workloads_are_relevant(gvr: Any, name: str, tells: bool) -> None:
    found = refused_with(events=[event("one", "StatefulSet/db")], sets=[workload("db", 1)])
    amounts(found)
    assert found.reports_refusal(gvr, Key("shop", name)) is tells


class Events:
    """Console stand-in. `projects` lists the namespaces of the created events."""

    def __init__(self) -> None:
        self.projects: list[str] = []

    async def create(self, gvr: GVR, _body: Any, *, namespace: str) -> None:
        assert gvr == EVENTS
        self.projects.append(namespace)


def test_a_refused_user_request_creates_an_event_per_project() -> None:
    """A recent refusal in another project must not suppress the event, or the share would not grow."""
    runtime, events = TenantRuntime({}), Events()
    runtime.console = cast(Any, events)
    note = QuotaEventRecorder(cast(Runtime, runtime)).record
    refusal = Forbidden(403, f"pods is forbidden: {WORDS.format(1)}")
    for project in ("shop", "mill", "shop"):
        note(f"/api/v1/namespaces/{project}/pods", refusal)
    assert events.projects == ["shop", "mill"]
    runtime.clock.move(seconds=1)
    note("/api/v1/namespaces/shop/pods", refusal)
    assert events.projects == ["shop", "mill", "shop"]
