"""Optimistic locking: who writes on the ground of an old version is told so."""

import pytest

from tests.contract.client import JSON_PATCH, MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, path, unique, version_of

_SENTENCE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@pytest.fixture
def made(admin: Client, namespace: str) -> Obj:
    """A config map that was changed since."""
    where = path(namespace, "configmaps")
    found: Obj = admin.post(where, config_map(unique("locked"), n="1")).ok()
    admin.patch(where_is(found), {"data": {"n": "2"}}, MERGE_PATCH).ok()
    return found


def where_is(obj: Obj) -> str:
    return path(obj["metadata"]["namespace"], "configmaps", obj["metadata"]["name"])


def it_refuses_a_replacement_of_an_old_version(admin: Client, made: Obj) -> None:
    answer = admin.put(where_is(made), {**made, "data": {"n": "3"}})
    name = made["metadata"]["name"]
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.json["details"] == {"name": name, "kind": "configmaps"}
    message = f'Operation cannot be fulfilled on configmaps "{name}": {_SENTENCE}'
    assert answer.json["message"] == message
    assert admin.get(where_is(made)).ok()["data"] == {"n": "2"}


def it_takes_a_replacement_of_the_newest_version(admin: Client, made: Obj) -> None:
    newest = admin.get(where_is(made)).ok()
    answer = admin.put(where_is(made), {**newest, "data": {"n": "3"}}).ok()
    assert answer["data"] == {"n": "3"}


def it_takes_a_replacement_without_a_version(admin: Client, made: Obj) -> None:
    answer = admin.put(where_is(made), config_map(made["metadata"]["name"], n="3")).ok()
    assert answer["data"] == {"n": "3"}
    assert answer["metadata"]["uid"] == made["metadata"]["uid"]


def it_finds_nothing_to_replace(admin: Client, namespace: str) -> None:
    answer = admin.put(path(namespace, "configmaps", "absent"), config_map("absent"))
    assert (answer.status, answer.reason) == (404, "NotFound")


@pytest.mark.parametrize(("which", "status"), [("old", 409), ("newest", 200)])
def it_minds_the_version_in_a_patch(admin: Client, made: Obj, which: str, status: int) -> None:
    based_on = made if which == "old" else admin.get(where_is(made)).ok()
    body = {"metadata": {"resourceVersion": version_of(based_on)}, "data": {"n": "4"}}
    answer = admin.patch(where_is(made), body, MERGE_PATCH)
    assert answer.status == status
    assert admin.get(where_is(made)).ok()["data"]["n"] == ("2" if status == 409 else "4")


def it_minds_the_uid_in_a_patch(admin: Client, made: Obj) -> None:
    answer = admin.patch(where_is(made), {"metadata": {"uid": "another"}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.uid"


def it_minds_a_test_in_a_json_patch(admin: Client, made: Obj) -> None:
    body = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version_of(made)},
        {"op": "replace", "path": "/data/n", "value": "5"},
    ]
    answer = admin.patch(where_is(made), body, JSON_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert admin.get(where_is(made)).ok()["data"] == {"n": "2"}
