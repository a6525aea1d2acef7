"""Creating, reading, and replacing objects."""

import re
from datetime import UTC, datetime

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, deployment, path, secret, unique, version_of


@pytest.fixture
def where(namespace: str) -> str:
    return path(namespace, "configmaps")


def test_create_sets_identifying_metadata(admin: Client, where: str, namespace: str) -> None:
    made = admin.post(where, config_map("identified", key="value"))
    assert made.status == 201
    about = made.json["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", about["uid"])
    assert int(about["resourceVersion"]) > 0
    assert about["namespace"] == namespace
    age = datetime.now(UTC) - datetime.fromisoformat(about["creationTimestamp"])
    assert abs(age.total_seconds()) < 60
    assert (made.json["kind"], made.json["apiVersion"]) == ("ConfigMap", "v1")


def test_a_created_object_can_be_read(admin: Client, where: str) -> None:
    made = admin.post(where, config_map("read", key="värde ☃")).ok()
    assert admin.get(f"{where}/read").ok() == made
    assert made["data"] == {"key": "värde ☃"}


def test_client_provided_uid_and_creation_time_are_ignored(admin: Client, where: str) -> None:
    body = config_map("own-uid")
    body["metadata"] |= {
        "uid": "6fe20b66-0000-0000-0000-000000000000",
        "creationTimestamp": "2001-01-01T00:00:00Z",
    }
    made = admin.post(where, body).ok()["metadata"]
    assert made["uid"] != body["metadata"]["uid"]
    assert not made["creationTimestamp"].startswith("2001")


def test_a_duplicate_name_conflicts(admin: Client, where: str) -> None:
    admin.post(where, config_map("twice")).ok()
    answer = admin.post(where, config_map("twice"))
    assert (answer.status, answer.reason) == (409, "AlreadyExists")
    assert answer.json["message"] == 'configmaps "twice" already exists'
    assert answer.json["details"] == {"name": "twice", "kind": "configmaps"}


def test_create_rejects_a_resource_version(admin: Client, where: str) -> None:
    body = config_map("with-version")
    body["metadata"]["resourceVersion"] = "1"
    answer = admin.post(where, body)
    assert (answer.status, answer.json["code"]) == (500, 500)
    assert answer.json["message"] == "resourceVersion should not be set on objects to be created"


def test_generate_name_creates_unique_names(admin: Client, where: str) -> None:
    body: Obj = {"metadata": {"generateName": "made-"}}
    first, second = (admin.post(where, body).ok()["metadata"] for _ in range(2))
    assert re.fullmatch(r"made-[a-z0-9]{5}", first["name"])
    assert first["generateName"] == "made-"
    assert first["name"] != second["name"]


def test_create_requires_a_name(admin: Client, where: str) -> None:
    answer = admin.post(where, {"metadata": {}})
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.name"


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "a" * 254])
def test_names_must_be_dns_names(admin: Client, where: str, name: str) -> None:
    answer = admin.post(where, config_map(name))
    assert (answer.status, answer.reason) == (422, "Invalid")
    causes = answer.json["details"]["causes"]
    assert [(c["field"], c["reason"]) for c in causes] == [("metadata.name", "FieldValueInvalid")]


def test_invalid_labels_are_rejected(admin: Client, where: str) -> None:
    body = config_map("labelled")
    body["metadata"]["labels"] = {"fine": "not fine"}
    answer = admin.post(where, body)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.labels"


def test_create_rejects_another_kind(admin: Client, where: str) -> None:
    answer = admin.post(where, secret("other-kind"))
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_create_rejects_another_namespace(admin: Client, where: str) -> None:
    body = config_map("elsewhere")
    body["metadata"]["namespace"] = "default"
    answer = admin.post(where, body)
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "does not match the namespace" in answer.json["message"]


def test_a_missing_object_returns_404(admin: Client, where: str) -> None:
    answer = admin.get(f"{where}/nothing")
    assert (answer.status, answer.reason) == (404, "NotFound")
    assert answer.json["message"] == 'configmaps "nothing" not found'
    assert answer.json["details"] == {"name": "nothing", "kind": "configmaps"}


def test_replace_changes_the_object(admin: Client, where: str) -> None:
    made = admin.post(where, config_map("replaced", old="1")).ok()
    answer = admin.put(f"{where}/replaced", {**made, "data": {"new": "2"}})
    assert answer.status == 200
    assert answer.json["data"] == {"new": "2"}
    assert answer.json["metadata"]["uid"] == made["metadata"]["uid"]
    assert int(version_of(answer.json)) > int(version_of(made))


def test_a_write_without_changes_keeps_the_resource_version(admin: Client, where: str) -> None:
    admin.post(where, config_map("same", key="1")).ok()
    body = {"data": {"key": "1"}}
    first = admin.patch(f"{where}/same", body, MERGE_PATCH).ok()
    again = admin.patch(f"{where}/same", body, MERGE_PATCH).ok()
    assert version_of(again) == version_of(first)


def test_replace_rejects_another_name(admin: Client, where: str) -> None:
    made = admin.post(where, config_map("named")).ok()
    made["metadata"]["name"] = "renamed"
    answer = admin.put(f"{where}/named", made)
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_replace_keeps_creation_time_and_checks_the_uid(admin: Client, where: str) -> None:
    made = admin.post(where, config_map("kept")).ok()
    changed = {**made, "metadata": {**made["metadata"], "creationTimestamp": None}}
    answer = admin.put(f"{where}/kept", changed).ok()
    assert answer["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    other = {**made, "metadata": {**made["metadata"], "uid": "another", "resourceVersion": ""}}
    refused = admin.put(f"{where}/kept", other)
    assert (refused.status, refused.reason) == (409, "Conflict")


def test_only_spec_changes_increase_the_generation(admin: Client, namespace: str) -> None:
    where = path(namespace, "deployments", group="apps/v1")
    name = unique("counted")
    made = admin.post(where, deployment(name, "example/one:1")).ok()
    assert made["metadata"]["generation"] == 1
    one = admin.patch(f"{where}/{name}", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH).ok()
    assert one["metadata"]["generation"] == 1
    two = admin.patch(f"{where}/{name}", {"spec": {"paused": True}}, MERGE_PATCH).ok()
    assert two["metadata"]["generation"] == 2


def test_string_data_is_stored_as_encoded_data(admin: Client, namespace: str) -> None:
    made = admin.post(path(namespace, "secrets"), secret("plain", word="open")).ok()
    assert made["data"] == {"word": "b3Blbg=="}
    assert "stringData" not in made
    assert made["type"] == "Opaque"
