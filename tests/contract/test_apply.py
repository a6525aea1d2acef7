"""Server-side apply and field ownership.

Rules: https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, deployment, path, unique


@pytest.fixture
def where(namespace: str) -> str:
    """Return the path of an object that does not exist yet."""
    return path(namespace, "configmaps", unique("applied"))


def wish(where: str, **data: str) -> Obj:
    return config_map(where.rpartition("/")[2], **data)


def managers(obj: Obj) -> dict[tuple[str, str], Obj]:
    """Return the fields of each manager and operation."""
    entries = obj["metadata"]["managedFields"]
    return {(entry["manager"], entry["operation"]): entry["fieldsV1"] for entry in entries}


def test_apply_creates_a_missing_object(admin: Client, where: str) -> None:
    answer = admin.apply(where, wish(where, a="1"), "one")
    assert answer.status == 201
    assert answer.json["data"] == {"a": "1"}


def test_apply_records_the_field_manager(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    (entry,) = made["metadata"]["managedFields"]
    assert entry["time"].endswith("Z")
    assert {key: entry[key] for key in entry if key != "time"} == {
        "manager": "one",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}}},
    }


def test_updates_record_their_field_manager(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.patch(where, {"data": {"b": "2"}}, MERGE_PATCH, fieldManager="two").ok()
    found = managers(answer)
    assert found["one", "Apply"] == {"f:data": {"f:a": {}}}
    assert found["two", "Update"] == {"f:data": {"f:b": {}}}


def test_apply_to_an_existing_object_returns_200(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2"), "one")
    assert (answer.status, answer.json["data"]) == (200, {"a": "2"})
    assert answer.json["metadata"]["uid"] == made["metadata"]["uid"]


def test_apply_without_changes_keeps_the_resource_version(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    again = admin.apply(where, wish(where, a="1"), "one").ok()
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_apply_with_an_outdated_resource_version_is_a_conflict(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    admin.apply(where, wish(where, a="2"), "one").ok()
    body = wish(where, a="3")
    seen = {name: made["metadata"][name] for name in ("uid", "resourceVersion")}
    body["metadata"] |= seen
    answer = admin.apply(where, body, "one")
    assert (answer.status, answer.reason) == (409, "Conflict")
    admin.delete(where).ok()
    assert admin.apply(where, body, "one").status == 409
    del body["metadata"]["resourceVersion"]
    assert admin.apply(where, body, "one").status == 409


def test_apply_conflicts_with_a_field_of_another_manager(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2"), "two")
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.json["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    cause = answer.json["details"]["causes"][0]
    assert cause == {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "one"',
        "field": ".data.a",
    }
    assert admin.get(where).ok()["data"] == {"a": "1"}


def test_all_conflicting_fields_are_listed(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2", b="2"), "two")
    assert "Apply failed with 2 conflicts" in answer.json["message"]
    fields = [cause["field"] for cause in answer.json["details"]["causes"]]
    assert sorted(fields) == [".data.a", ".data.b"]


def test_two_managers_can_share_a_field_with_the_same_value(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="1"), "two").ok()
    assert managers(answer).keys() == {("one", "Apply"), ("two", "Apply")}
    # One manager no longer applies the field; the other one still owns it.
    assert admin.apply(where, wish(where), "one").ok()["data"] == {"a": "1"}


def test_force_takes_over_conflicting_fields(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2"), "two", force=True).ok()
    assert answer["data"] == {"a": "2", "b": "1"}
    assert managers(answer)["one", "Apply"] == {"f:data": {"f:b": {}}}
    assert managers(answer)["two", "Apply"] == {"f:data": {"f:a": {}}}


def test_fields_no_longer_applied_are_removed(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    assert admin.apply(where, wish(where, a="1"), "one").ok()["data"] == {"a": "1"}


def test_apply_conflicts_with_an_updated_field(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    admin.patch(where, {"data": {"a": "2"}}, MERGE_PATCH, fieldManager="editor").ok()
    answer = admin.apply(where, wish(where, a="3"), "one")
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert 'conflict with "editor" using v1' in answer.json["message"]


def test_an_update_overwrites_an_applied_field(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.patch(where, {"data": {"a": "2"}}, MERGE_PATCH, fieldManager="editor").ok()
    assert ("one", "Apply") not in managers(answer)
    assert managers(answer)["editor", "Update"] == {"f:data": {"f:a": {}}}


def test_the_default_manager_is_named_after_the_user_agent(admin: Client, where: str) -> None:
    made = admin.post(where.rpartition("/")[0], wish(where, a="1")).ok()
    assert managers(made).keys() == {("quarterdeck-tests", "Update")}


def test_apply_requires_a_field_manager(admin: Client, where: str) -> None:
    answer = admin.patch(where, wish(where), "application/apply-patch+yaml")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "fieldManager"


def test_apply_rejects_managed_fields_in_the_body(admin: Client, where: str) -> None:
    body = wish(where, a="1")
    body["metadata"]["managedFields"] = [{"manager": "x"}]
    answer = admin.apply(where, body, "one")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "managedFields must be nil" in answer.json["message"]


def test_apply_merges_lists_by_key(admin: Client, namespace: str) -> None:
    name = unique("applied")
    where = path(namespace, "deployments", name, group="apps/v1")
    admin.apply(where, deployment(name, "example/zero:1"), "one").ok()
    sidecar: Obj = {"name": "sidecar", "image": "example/sidecar:1"}
    body = deployment(name)
    body["spec"] = {"template": {"spec": {"containers": [sidecar]}}}
    found = admin.apply(where, body, "two").ok()
    names = [c["name"] for c in found["spec"]["template"]["spec"]["containers"]]
    assert sorted(names) == ["c0", "sidecar"]
    key = 'k:{"name":"sidecar"}'
    containers = managers(found)["two", "Apply"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert containers == {key: {".": {}, "f:image": {}, "f:name": {}}}


def test_list_items_no_longer_applied_are_removed(admin: Client, namespace: str) -> None:
    name = unique("applied")
    where = path(namespace, "deployments", name, group="apps/v1")
    admin.apply(where, deployment(name, "example/zero:1", "example/one:1"), "one").ok()
    found = admin.apply(where, deployment(name, "example/zero:1"), "one").ok()
    assert [c["name"] for c in found["spec"]["template"]["spec"]["containers"]] == ["c0"]


def test_apply_accepts_yaml(admin: Client, where: str) -> None:
    name = where.rpartition("/")[2]
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a: '1'\n"
    answer = admin.patch(where, text.encode(), "application/apply-patch+yaml", fieldManager="one")
    assert answer.ok()["data"] == {"a": "1"}
