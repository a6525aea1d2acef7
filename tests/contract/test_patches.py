"""JSON merge patches, strategic merge patches, and JSON patches."""

import pytest

from tests.contract.client import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Client, Obj
from tests.contract.objects import config_map, deployment, path, unique


@pytest.fixture
def where(admin: Client, namespace: str) -> str:
    """Create a ConfigMap with two labels and two data keys, and return its path."""
    body = config_map(unique("patched"), a="1", b="2")
    body["metadata"]["labels"] = {"one": "1", "two": "2"}
    name = admin.post(path(namespace, "configmaps"), body).ok()["metadata"]["name"]
    return path(namespace, "configmaps", name)


@pytest.fixture
def workload(admin: Client, namespace: str) -> str:
    """Create a Deployment with the containers c0 and c1, and return its path."""
    body = deployment(unique("patched"), "example/zero:1", "example/one:1")
    made = admin.post(path(namespace, "deployments", group="apps/v1"), body).ok()
    return path(namespace, "deployments", made["metadata"]["name"], group="apps/v1")


def images(workload: Obj) -> dict[str, str]:
    containers = workload["spec"]["template"]["spec"]["containers"]
    return {container["name"]: container["image"] for container in containers}


def containers_patch(*containers: Obj) -> Obj:
    return {"spec": {"template": {"spec": {"containers": list(containers)}}}}


def test_a_merge_patch_merges_maps(admin: Client, where: str) -> None:
    body = {"data": {"a": None, "b": "3", "c": "4"}, "metadata": {"labels": {"one": None}}}
    found = admin.patch(where, body, MERGE_PATCH).ok()
    assert found["data"] == {"b": "3", "c": "4"}
    assert found["metadata"]["labels"] == {"two": "2"}


def test_a_merge_patch_replaces_lists(admin: Client, workload: str) -> None:
    body = containers_patch({"name": "c1", "image": "example/one:2"})
    found = admin.patch(workload, body, MERGE_PATCH).ok()
    assert images(found) == {"c1": "example/one:2"}


def test_a_strategic_patch_merges_lists_by_key(admin: Client, workload: str) -> None:
    body = containers_patch({"name": "c1", "image": "example/one:2"})
    found = admin.patch(workload, body, STRATEGIC_PATCH).ok()
    assert images(found) == {"c0": "example/zero:1", "c1": "example/one:2"}


def test_a_strategic_patch_removes_list_items(admin: Client, workload: str) -> None:
    body = containers_patch({"name": "c1", "$patch": "delete"})
    found = admin.patch(workload, body, STRATEGIC_PATCH).ok()
    assert images(found) == {"c0": "example/zero:1"}


def test_a_strategic_patch_adds_list_items(admin: Client, workload: str) -> None:
    body = containers_patch({"name": "c2", "image": "example/two:1"})
    found = admin.patch(workload, body, STRATEGIC_PATCH).ok()
    assert images(found).keys() == {"c0", "c1", "c2"}


def test_a_strategic_patch_merges_environment_variables_by_name(
    admin: Client, workload: str
) -> None:
    for name, value in (("A", "1"), ("B", "2"), ("A", "3")):
        body = containers_patch({"name": "c0", "env": [{"name": name, "value": value}]})
        found = admin.patch(workload, body, STRATEGIC_PATCH).ok()
    env = found["spec"]["template"]["spec"]["containers"][0]["env"]
    assert sorted((e["name"], e["value"]) for e in env) == [("A", "3"), ("B", "2")]


def test_a_strategic_patch_removes_keys_with_null(admin: Client, where: str) -> None:
    body = {"metadata": {"labels": {"one": None, "three": "3"}}}
    found = admin.patch(where, body, STRATEGIC_PATCH).ok()
    assert found["metadata"]["labels"] == {"two": "2", "three": "3"}


def test_a_strategic_patch_replaces_a_map_by_directive(admin: Client, where: str) -> None:
    body = {"data": {"$patch": "replace", "only": "this"}}
    assert admin.patch(where, body, STRATEGIC_PATCH).ok()["data"] == {"only": "this"}


def test_a_json_patch_applies_all_operations(admin: Client, where: str) -> None:
    body = [
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "replace", "path": "/data/a", "value": "9"},
        {"op": "remove", "path": "/data/b"},
        {"op": "add", "path": "/metadata/labels/example.com~1slash", "value": "x"},
        {"op": "copy", "from": "/data/a", "path": "/data/c"},
        {"op": "move", "from": "/data/c", "path": "/data/d"},
    ]
    found = admin.patch(where, body, JSON_PATCH).ok()
    assert found["data"] == {"a": "9", "d": "9"}
    assert found["metadata"]["labels"] == {"one": "1", "two": "2", "example.com/slash": "x"}


def test_a_json_patch_adds_list_items_by_index(admin: Client, workload: str) -> None:
    containers = "/spec/template/spec/containers"
    body = [
        {"op": "add", "path": f"{containers}/0", "value": {"name": "first", "image": "e/f:1"}},
        {"op": "add", "path": f"{containers}/-", "value": {"name": "last", "image": "e/l:1"}},
        {"op": "remove", "path": f"{containers}/1"},
    ]
    assert list(images(admin.patch(workload, body, JSON_PATCH).ok())) == ["first", "c1", "last"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/data/a", "value": "wrong"},
        {"op": "remove", "path": "/data/absent"},
        {"op": "replace", "path": "/absent/deep", "value": "x"},
    ],
    ids=["a test that fails", "nothing to remove", "nothing to replace"],
)
def test_a_json_patch_with_a_failed_operation_changes_nothing(
    admin: Client, where: str, operation: Obj
) -> None:
    before = admin.get(where).ok()
    change = {"op": "replace", "path": "/data/b", "value": "changed"}
    answer = admin.patch(where, [change, operation], JSON_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert admin.get(where).ok() == before


def test_malformed_patches_are_rejected(admin: Client, where: str) -> None:
    assert admin.patch(where, {"op": "add"}, JSON_PATCH).status == 400
    assert admin.patch(where, b"{", MERGE_PATCH).status == 400
    assert admin.patch(where, {}, "text/plain").status == 415


def test_a_patch_with_an_invalid_result_is_rejected(admin: Client, workload: str) -> None:
    body = containers_patch({"name": "c0", "image": None})
    answer = admin.patch(workload, body, STRATEGIC_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    fields = [cause["field"] for cause in answer.json["details"]["causes"]]
    assert fields == ["spec.template.spec.containers[0].image"]


def test_patching_a_missing_object_returns_404(admin: Client, namespace: str) -> None:
    answer = admin.patch(path(namespace, "configmaps", "absent"), {}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (404, "NotFound")


def test_a_patch_cannot_change_the_name(admin: Client, where: str) -> None:
    answer = admin.patch(where, {"metadata": {"name": "other"}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (400, "BadRequest")
