"""Server-side apply: who says a field owns it.

Rules: https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, deployment, path, unique


@pytest.fixture
def where(namespace: str) -> str:
    """Where nothing is yet."""
    return path(namespace, "configmaps", unique("applied"))


def wish(where: str, **data: str) -> Obj:
    return config_map(where.rpartition("/")[2], **data)


def managers(obj: Obj) -> dict[tuple[str, str], Obj]:
    """The fields of each manager and operation."""
    entries = obj["metadata"]["managedFields"]
    return {(entry["manager"], entry["operation"]): entry["fieldsV1"] for entry in entries}


def it_creates(admin: Client, where: str) -> None:
    answer = admin.apply(where, wish(where, a="1"), "one")
    assert answer.status == 201
    assert answer.json["data"] == {"a": "1"}


def it_records_the_manager(admin: Client, where: str) -> None:
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


def it_records_who_updates(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.patch(where, {"data": {"b": "2"}}, MERGE_PATCH, fieldManager="two").ok()
    found = managers(answer)
    assert found["one", "Apply"] == {"f:data": {"f:a": {}}}
    assert found["two", "Update"] == {"f:data": {"f:b": {}}}


def it_answers_200_when_it_was_there(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2"), "one")
    assert (answer.status, answer.json["data"]) == (200, {"a": "2"})
    assert answer.json["metadata"]["uid"] == made["metadata"]["uid"]


def it_writes_nothing_when_nothing_changes(admin: Client, where: str) -> None:
    made = admin.apply(where, wish(where, a="1"), "one").ok()
    again = admin.apply(where, wish(where, a="1"), "one").ok()
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def it_refuses_a_field_of_another_manager(admin: Client, where: str) -> None:
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


def it_names_all_conflicts(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2", b="2"), "two")
    assert "Apply failed with 2 conflicts" in answer.json["message"]
    fields = [cause["field"] for cause in answer.json["details"]["causes"]]
    assert sorted(fields) == [".data.a", ".data.b"]


def it_lets_two_managers_agree(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="1"), "two").ok()
    assert managers(answer).keys() == {("one", "Apply"), ("two", "Apply")}
    # One of the two no longer says it; the other still does.
    assert admin.apply(where, wish(where), "one").ok()["data"] == {"a": "1"}


def it_takes_over_by_force(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    answer = admin.apply(where, wish(where, a="2"), "two", force=True).ok()
    assert answer["data"] == {"a": "2", "b": "1"}
    assert managers(answer)["one", "Apply"] == {"f:data": {"f:b": {}}}
    assert managers(answer)["two", "Apply"] == {"f:data": {"f:a": {}}}


def it_drops_what_is_no_longer_said(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1", b="1"), "one").ok()
    assert admin.apply(where, wish(where, a="1"), "one").ok()["data"] == {"a": "1"}


def it_conflicts_with_an_update(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    admin.patch(where, {"data": {"a": "2"}}, MERGE_PATCH, fieldManager="editor").ok()
    answer = admin.apply(where, wish(where, a="3"), "one")
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert 'conflict with "editor" using v1' in answer.json["message"]


def it_lets_an_update_overwrite(admin: Client, where: str) -> None:
    admin.apply(where, wish(where, a="1"), "one").ok()
    answer = admin.patch(where, {"data": {"a": "2"}}, MERGE_PATCH, fieldManager="editor").ok()
    assert ("one", "Apply") not in managers(answer)
    assert managers(answer)["editor", "Update"] == {"f:data": {"f:a": {}}}


def it_names_the_manager_after_the_client(admin: Client, where: str) -> None:
    made = admin.post(where.rpartition("/")[0], wish(where, a="1")).ok()
    assert managers(made).keys() == {("quarterdeck-tests", "Update")}


def it_wants_a_manager(admin: Client, where: str) -> None:
    answer = admin.patch(where, wish(where), "application/apply-patch+yaml")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "fieldManager"


def it_refuses_managed_fields(admin: Client, where: str) -> None:
    body = wish(where, a="1")
    body["metadata"]["managedFields"] = [{"manager": "x"}]
    answer = admin.apply(where, body, "one")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "managedFields must be nil" in answer.json["message"]


def it_merges_lists_by_key(admin: Client, namespace: str) -> None:
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


def it_removes_from_lists_what_is_no_longer_said(admin: Client, namespace: str) -> None:
    name = unique("applied")
    where = path(namespace, "deployments", name, group="apps/v1")
    admin.apply(where, deployment(name, "example/zero:1", "example/one:1"), "one").ok()
    found = admin.apply(where, deployment(name, "example/zero:1"), "one").ok()
    assert [c["name"] for c in found["spec"]["template"]["spec"]["containers"]] == ["c0"]


def it_reads_yaml(admin: Client, where: str) -> None:
    name = where.rpartition("/")[2]
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a: '1'\n"
    answer = admin.patch(where, text.encode(), "application/apply-patch+yaml", fieldManager="one")
    assert answer.ok()["data"] == {"a": "1"}
