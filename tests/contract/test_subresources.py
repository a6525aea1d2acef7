"""Subresources: status, binding, eviction, and scale."""

import pytest

from tests.contract.client import MERGE_PATCH, STRATEGIC_PATCH, Client, Obj
from tests.contract.objects import create_pod, deployment, path, pod, unique


@pytest.fixture
def at(admin: Client, namespace: str) -> str:
    """Create an unscheduled pod and return its path."""
    name = unique("pod")
    create_pod(admin, namespace, pod(name))
    return path(namespace, "pods", name)


def test_a_status_patch_changes_only_the_status(admin: Client, at: str) -> None:
    body = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"activeDeadlineSeconds": 5},
        "status": {"phase": "Running", "podIP": "10.1.2.3"},
    }
    after = admin.patch(f"{at}/status", body, MERGE_PATCH).ok()
    assert (after["status"]["phase"], after["status"]["podIP"]) == ("Running", "10.1.2.3")
    assert "activeDeadlineSeconds" not in after["spec"]


def test_a_patch_of_the_object_keeps_the_status(admin: Client, at: str) -> None:
    body = {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Running"}}
    after = admin.patch(at, body, MERGE_PATCH).ok()
    assert after["metadata"]["labels"] == {"a": "b"}
    assert after["status"]["phase"] == "Pending"


def test_a_strategic_patch_merges_conditions_by_type(admin: Client, at: str) -> None:
    for kind in ("First", "Second"):
        condition = {"type": f"example.com/{kind}", "status": "True"}
        body = {"status": {"conditions": [condition]}}
        after = admin.patch(f"{at}/status", body, STRATEGIC_PATCH).ok()
    kinds = {condition["type"] for condition in after["status"]["conditions"]}
    assert kinds >= {"example.com/First", "example.com/Second"}


def test_the_status_can_be_replaced(admin: Client, at: str) -> None:
    found = admin.get(at).ok()
    found["status"] = {"phase": "Succeeded"}
    after = admin.put(f"{at}/status", found).ok()
    assert after["status"]["phase"] == "Succeeded"
    assert admin.put(f"{at}/status", found).status == 409


def test_the_status_can_be_read(admin: Client, at: str) -> None:
    assert admin.get(f"{at}/status").ok() == admin.get(at).ok()


def test_a_binding_assigns_a_pod_to_a_node(admin: Client, at: str) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": "some-node"}
    body = {"metadata": {"name": at.rpartition("/")[2]}, "target": target}
    assert admin.post(f"{at}/binding", body).status == 201
    found = admin.get(at).ok()
    assert found["spec"]["nodeName"] == "some-node"
    scheduled = [c["status"] for c in found["status"]["conditions"] if c["type"] == "PodScheduled"]
    assert scheduled == ["True"]
    assert admin.post(f"{at}/binding", body).status == 409
    admin.delete(at, gracePeriodSeconds=0).ok()


def test_a_binding_must_name_the_pod(admin: Client, at: str) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": "some-node"}
    answer = admin.post(f"{at}/binding", {"metadata": {"name": "other"}, "target": target})
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "nodeName" not in admin.get(at).ok()["spec"]


def test_a_scheduled_pod_is_deleted_with_a_grace_period(admin: Client, at: str) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": "some-node"}
    name = at.rpartition("/")[2]
    admin.post(f"{at}/binding", {"metadata": {"name": name}, "target": target}).ok()
    ending = admin.delete(at).ok()["metadata"]
    assert ending["deletionGracePeriodSeconds"] == 30
    assert admin.get(at).ok()["metadata"]["deletionTimestamp"] == ending["deletionTimestamp"]
    assert admin.delete(at, gracePeriodSeconds=0).status == 200
    assert admin.get(at).status == 404


def test_an_eviction_deletes_the_pod(admin: Client, at: str) -> None:
    name = at.rpartition("/")[2]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    answer = admin.post(f"{at}/eviction", body)
    assert (answer.status, answer.json["status"]) == (201, "Success")
    assert admin.get(at).status == 404


def test_the_scale_subresource_changes_replicas(admin: Client, namespace: str) -> None:
    name = unique("scaled")
    where = path(namespace, "deployments", group="apps/v1")
    body = deployment(name, "example/one:1")
    admin.post(where, body).ok()
    scale = admin.get(f"{where}/{name}/scale").ok()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert (scale["spec"], scale["status"]["selector"]) == ({}, f"app={name}")
    after = admin.patch(f"{where}/{name}/scale", {"spec": {"replicas": 1}}, MERGE_PATCH).ok()
    assert after["spec"] == {"replicas": 1}
    found = admin.get(f"{where}/{name}").ok()
    assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (1, 2)
    admin.delete(f"{where}/{name}", propagationPolicy="Background").ok()


@pytest.mark.parametrize(
    ("body", "status", "fields"),
    [
        ({"metadata": {"uid": "another"}, "spec": {"replicas": 3}}, 409, []),
        ({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 3}}, 409, []),
        ({"spec": {"replicas": -1}}, 422, ["spec.replicas"]),
        ({"spec": {"replicas": 10**12}}, 422, ["patch"]),
        ({"spec": {"replicas": "many"}}, 422, ["patch"]),
    ],
)
def test_invalid_scale_values_are_rejected(
    admin: Client, namespace: str, body: Obj, status: int, fields: list[str]
) -> None:
    name = unique("scaled")
    where = path(namespace, "deployments", group="apps/v1")
    admin.post(where, deployment(name, "example/one:1")).ok()
    answer = admin.patch(f"{where}/{name}/scale", body, MERGE_PATCH)
    assert answer.status == status
    causes = answer.json["details"].get("causes", [])
    assert [cause["field"] for cause in causes] == fields
    assert admin.get(f"{where}/{name}").ok()["metadata"]["generation"] == 1


def test_unknown_subresources_return_404(admin: Client, at: str) -> None:
    assert admin.get(f"{at}/nonsense").status == 404
