"""Optimistic locking: writes based on an old resource version are rejected."""

import pytest

from tests.contract.client import JSON_PATCH, MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, path, unique, version_of

_SENTENCE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@pytest.fixture
def made(admin: Client, namespace: str) -> Obj:
    """A ConfigMap that was changed after it was read."""
    where = path(namespace, "configmaps")
    found: Obj = admin.post(where, config_map(unique("locked"), n="1")).ok()
    admin.patch(where_is(found), {"data": {"n": "2"}}, MERGE_PATCH).ok()
    return found


def where_is(obj: Obj) -> str:
    return path(obj["metadata"]["namespace"], "configmaps", obj["metadata"]["name"])


def test_replacing_an_old_version_conflicts(admin: Client, made: Obj) -> None:
    answer = admin.put(where_is(made), {**made, "data": {"n": "3"}})
    name = made["metadata"]["name"]
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.json["details"] == {"name": name, "kind": "configmaps"}
    message = f'Operation cannot be fulfilled on configmaps "{name}": {_SENTENCE}'
    assert answer.json["message"] == message
    assert admin.get(where_is(made)).ok()["data"] == {"n": "2"}


def test_replacing_the_latest_version_succeeds(admin: Client, made: Obj) -> None:
    newest = admin.get(where_is(made)).ok()
    answer = admin.put(where_is(made), {**newest, "data": {"n": "3"}}).ok()
    assert answer["data"] == {"n": "3"}


def test_replacing_without_a_resource_version_succeeds(admin: Client, made: Obj) -> None:
    answer = admin.put(where_is(made), config_map(made["metadata"]["name"], n="3")).ok()
    assert answer["data"] == {"n": "3"}
    assert answer["metadata"]["uid"] == made["metadata"]["uid"]


def test_replacing_a_missing_object_returns_404(admin: Client, namespace: str) -> None:
    answer = admin.put(path(namespace, "configmaps", "absent"), config_map("absent"))
    assert (answer.status, answer.reason) == (404, "NotFound")


@pytest.mark.parametrize(("which", "status"), [("old", 409), ("newest", 200)])
def test_a_patch_checks_its_resource_version(
    admin: Client, made: Obj, which: str, status: int
) -> None:
    based_on = made if which == "old" else admin.get(where_is(made)).ok()
    body = {"metadata": {"resourceVersion": version_of(based_on)}, "data": {"n": "4"}}
    answer = admin.patch(where_is(made), body, MERGE_PATCH)
    assert answer.status == status
    assert admin.get(where_is(made)).ok()["data"]["n"] == ("2" if status == 409 else "4")


def test_a_patch_checks_its_uid(admin: Client, made: Obj) -> None:
    answer = admin.patch(where_is(made), {"metadata": {"uid": "another"}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.uid"


def test_a_failed_test_operation_rejects_a_json_patch(admin: Client, made: Obj) -> None:
    body = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version_of(made)},
        {"op": "replace", "path": "/data/n", "value": "5"},
    ]
    answer = admin.patch(where_is(made), body, JSON_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert admin.get(where_is(made)).ok()["data"] == {"n": "2"}
