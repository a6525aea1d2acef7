"""`dryRun=All`: the response is complete, but nothing is stored."""

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, path, unique


@pytest.fixture
def where(namespace: str) -> str:
    return path(namespace, "configmaps")


@pytest.fixture
def made(admin: Client, where: str) -> Obj:
    found: Obj = admin.post(where, config_map(unique("stays"), a="1")).ok()
    return found


@pytest.fixture
def at(where: str, made: Obj) -> str:
    return f"{where}/{made['metadata']['name']}"


def test_dry_run_create_stores_nothing(admin: Client, where: str) -> None:
    name = unique("imagined")
    answer = admin.post(where, config_map(name, a="1"), dryRun="All")
    assert (answer.status, answer.json["data"]) == (201, {"a": "1"})
    assert answer.json["metadata"]["uid"]
    assert admin.get(f"{where}/{name}").status == 404


def test_dry_run_reports_conflicts(admin: Client, where: str, made: Obj) -> None:
    answer = admin.post(where, config_map(made["metadata"]["name"]), dryRun="All")
    assert (answer.status, answer.reason) == (409, "AlreadyExists")


def test_dry_run_patch_changes_nothing(admin: Client, at: str, made: Obj) -> None:
    answer = admin.patch(at, {"data": {"a": "2"}}, MERGE_PATCH, dryRun="All")
    assert answer.ok()["data"] == {"a": "2"}
    assert admin.get(at).ok() == made


def test_dry_run_replace_changes_nothing(admin: Client, at: str, made: Obj) -> None:
    answer = admin.put(at, {**made, "data": {"a": "2"}}, dryRun="All")
    assert answer.ok()["data"] == {"a": "2"}
    assert admin.get(at).ok() == made


def test_dry_run_apply_stores_nothing(admin: Client, where: str) -> None:
    name = unique("imagined")
    answer = admin.apply(f"{where}/{name}", config_map(name, a="1"), "one", dryRun="All")
    assert answer.status == 201
    assert admin.get(f"{where}/{name}").status == 404


def test_dry_run_delete_keeps_the_object(admin: Client, at: str, made: Obj) -> None:
    assert admin.delete(at, dryRun="All").status == 200
    assert admin.get(at).ok() == made


def test_dry_run_in_the_delete_options_keeps_the_object(admin: Client, at: str, made: Obj) -> None:
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}
    assert admin.delete(at, body).status == 200
    assert admin.get(at).ok() == made


def test_dry_run_of_a_collection_delete_keeps_the_objects(
    admin: Client, where: str, at: str, made: Obj
) -> None:
    selector = f"metadata.name={made['metadata']['name']}"
    assert admin.delete(where, fieldSelector=selector, dryRun="All").status == 200
    assert admin.get(at).ok() == made


def test_other_dry_run_values_are_rejected(admin: Client, where: str) -> None:
    answer = admin.post(where, config_map(unique("imagined")), dryRun="Some")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "dryRun"
