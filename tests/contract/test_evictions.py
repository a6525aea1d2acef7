"""Pod evictions and disruption budgets."""

from typing import Any

import pytest

from tests.contract.client import Client, Obj
from tests.contract.evictions import (
    BUDGETS,
    budget,
    pod_exists,
    running,
    set_running,
    wait_for_budget_status,
)
from tests.contract.objects import create_pod, deployment, path, pod, unique
from tests.controlplane.waiting import eventually


def evict(admin: Client, made: Obj, **options: Any) -> Any:
    about = made["metadata"]
    where = path(about["namespace"], "pods", about["name"])
    body = {"apiVersion": BUDGETS, "kind": "Eviction", "metadata": {"name": about["name"]}}
    return admin.post(f"{where}/eviction", {**body, "deleteOptions": options})


def test_evictions_are_limited_by_the_budget(admin: Client, namespace: str) -> None:
    app = unique("app")
    first, second = (running(admin, namespace, app) for _ in range(2))
    at = budget(admin, namespace, app, minAvailable=1)
    status = wait_for_budget_status(admin, at, 2, 1, 1, 2)
    assert [(c["type"], c["status"], c["reason"]) for c in status["conditions"]] == [
        ("DisruptionAllowed", "True", "SufficientPods")
    ]
    assert evict(admin, first, dryRun=["All"]).status == 201 and pod_exists(admin, first)
    answer = evict(admin, first)
    assert (answer.status, answer.json["status"]) == (201, "Success")
    assert not pod_exists(admin, first)
    status = wait_for_budget_status(admin, at, 1, 1, 0, 1)
    assert [(c["status"], c["reason"]) for c in status["conditions"]] == [
        ("False", "InsufficientPods")
    ]
    answer = evict(admin, second)
    assert (answer.status, answer.reason) == (429, "TooManyRequests")
    assert "retry-after" not in answer.headers
    name = at.rpartition("/")[2]
    text = f"The disruption budget {name} needs 1 healthy pods and has 1 currently"
    assert answer.json["details"]["causes"] == [{"reason": "DisruptionBudget", "message": text}]
    assert pod_exists(admin, second)


def test_eviction_checks_the_uid(admin: Client, namespace: str) -> None:
    made = running(admin, namespace, unique("app"))
    answer = evict(admin, made, preconditions={"uid": "another"})
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert pod_exists(admin, made)
    assert evict(admin, made, preconditions={"uid": made["metadata"]["uid"]}).status == 201


def test_pending_pods_are_evicted_regardless_of_the_budget(admin: Client, namespace: str) -> None:
    app = unique("app")
    at = budget(admin, namespace, app, minAvailable=1)
    waiting = create_pod(admin, namespace, pod(unique("pod"), {"app": app}))
    wait_for_budget_status(admin, at, 0, 1, 0, 1)
    assert evict(admin, waiting).status == 201


@pytest.mark.parametrize(("policy", "code"), [("AlwaysAllow", 201), ("IfHealthyBudget", 429)])
def test_the_unhealthy_pod_eviction_policy_applies_to_unready_pods(
    admin: Client, namespace: str, policy: str, code: int
) -> None:
    app = unique("app")
    made = running(admin, namespace, app, ready=False)
    at = budget(admin, namespace, app, minAvailable=1, unhealthyPodEvictionPolicy=policy)
    wait_for_budget_status(admin, at, 0, 1, 0, 1)
    assert evict(admin, made).status == code


def test_a_pod_with_two_budgets_cannot_be_evicted(admin: Client, namespace: str) -> None:
    app = unique("app")
    made = running(admin, namespace, app)
    for _ in range(2):
        wait_for_budget_status(admin, budget(admin, namespace, app, minAvailable=0), 1, 0, 1, 1)
    answer = evict(admin, made)
    assert answer.status == 500
    assert "more than one PodDisruptionBudget" in answer.json["message"]
    assert pod_exists(admin, made)


@pytest.mark.parametrize(
    ("spec", "needed"),
    [({"maxUnavailable": "25%"}, 2), ({"minAvailable": "50%"}, 2), ({"maxUnavailable": 2}, 1)],
)
def test_percentages_refer_to_the_replicas_of_the_controller(
    admin: Client, namespace: str, spec: Obj, needed: int
) -> None:
    name = unique("web")
    body = deployment(name, "example/one:1", replicas=3)
    body["spec"]["template"]["spec"]["schedulerName"] = "nobody"
    at = budget(admin, namespace, name, **spec)
    where = path(namespace, "deployments", group="apps/v1")
    admin.post(where, body).ok()
    wait_for_budget_status(admin, at, 0, needed, 0, 3)
    admin.delete(f"{where}/{name}", propagationPolicy="Background").ok()


def test_a_budget_without_a_scalable_controller_reports_a_failed_sync(
    admin: Client, namespace: str
) -> None:
    app = unique("app")
    named = {"metadata": {"name": unique("owner")}}
    owner = admin.post(path(namespace, "configmaps"), named).ok()["metadata"]
    body = pod(unique("pod"), {"app": app})
    body["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["name"],
            "uid": owner["uid"],
            "controller": True,
        }
    ]
    made = create_pod(admin, namespace, body)
    set_running(admin, namespace, made["metadata"]["name"])
    at = budget(admin, namespace, app, maxUnavailable=1)

    def failed() -> bool:
        conditions = admin.get(at).ok().get("status", {}).get("conditions", [])
        return [one["reason"] for one in conditions] == ["SyncFailed"]

    eventually(failed, f"{at} cannot be worked out")
    answer = evict(admin, made)
    assert (answer.status, answer.reason) == (429, "TooManyRequests")
    assert at.rpartition("/")[2] in answer.json["details"]["causes"][0]["message"]
