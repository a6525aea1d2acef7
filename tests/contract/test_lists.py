"""List requests: complete, in chunks, and at a resource version."""

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import path, secret, version_of
from tests.controlplane.waiting import eventually

_NAMES = [f"item-{number}" for number in range(5)]


@pytest.fixture
def where(admin: Client, empty_namespace: str) -> str:
    """Create five Secrets and return the path of their collection."""
    collection = path(empty_namespace, "secrets")
    for name in _NAMES:
        admin.post(collection, secret(name)).ok()
    return collection


def names(listed: Obj) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


def pieces(admin: Client, where: str, limit: int) -> list[Obj]:
    """Return all chunks of a list."""
    found = [admin.get(where, limit=limit).ok()]
    while token := found[-1]["metadata"].get("continue"):
        found.append(admin.get(where, limit=limit, **{"continue": token}).ok())
    return found


def test_a_list_contains_all_objects(admin: Client, where: str) -> None:
    listed = admin.get(where).ok()
    assert (listed["kind"], listed["apiVersion"]) == ("SecretList", "v1")
    assert names(listed) == _NAMES
    newest = max(int(version_of(item)) for item in listed["items"])
    assert int(version_of(listed)) >= newest


def test_list_items_omit_kind_and_api_version(admin: Client, where: str) -> None:
    assert "kind" not in admin.get(where).ok()["items"][0]


def test_an_empty_collection_is_listed(admin: Client, empty_namespace: str) -> None:
    assert (
        admin.get(path(empty_namespace, "leases", group="coordination.k8s.io/v1")).ok()["items"]
        == []
    )


def test_all_namespaces_are_listed(admin: Client, where: str) -> None:
    listed = admin.get("/api/v1/secrets").ok()
    namespace = where.split("/")[4]
    found = [
        i["metadata"]["name"] for i in listed["items"] if i["metadata"]["namespace"] == namespace
    ]
    assert found == _NAMES


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_chunks_contain_all_objects(admin: Client, where: str, limit: int) -> None:
    parts = pieces(admin, where, limit)
    assert [name for part in parts for name in names(part)] == _NAMES
    assert all(len(part["items"]) <= limit for part in parts)
    assert "continue" not in parts[-1]["metadata"]


def test_chunks_report_the_remaining_item_count(admin: Client, where: str) -> None:
    remaining = [part["metadata"].get("remainingItemCount") for part in pieces(admin, where, 2)]
    assert remaining == [3, 1, None]


def test_chunks_are_a_consistent_snapshot(admin: Client, where: str) -> None:
    first = admin.get(where, limit=2).ok()
    admin.delete(f"{where}/item-4").ok()
    admin.post(where, secret("item-3b")).ok()
    rest = admin.get(where, limit=9, **{"continue": first["metadata"]["continue"]}).ok()
    assert names(rest) == ["item-2", "item-3", "item-4"]
    assert version_of(rest) == version_of(first)


def test_an_invalid_continue_token_is_rejected(admin: Client, where: str) -> None:
    answer = admin.get(where, limit=2, **{"continue": "nonsense"})
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "continue" in answer.json["message"]


def test_a_resource_version_with_a_continue_token_is_rejected(admin: Client, where: str) -> None:
    token = admin.get(where, limit=2).ok()["metadata"]["continue"]
    answer = admin.get(where, limit=2, resourceVersion="5", **{"continue": token})
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_an_invalid_limit_is_rejected(admin: Client, where: str) -> None:
    answer = admin.get(where, limit="abc")
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_resource_version_zero_lists_from_the_cache(admin: Client, where: str) -> None:
    eventually(
        lambda: names(admin.get(where, resourceVersion=0).ok()) == _NAMES, "the cache has them"
    )


def test_an_exact_resource_version_can_be_listed(admin: Client, where: str) -> None:
    then = version_of(admin.get(where).ok())
    admin.patch(f"{where}/item-0", {"stringData": {"a": "b"}}, MERGE_PATCH).ok()
    admin.delete(f"{where}/item-1").ok()
    listed = admin.get(where, resourceVersion=then, resourceVersionMatch="Exact").ok()
    assert (version_of(listed), names(listed)) == (then, _NAMES)
    assert "data" not in listed["items"][0]


def test_a_list_is_not_older_than_the_resource_version(admin: Client, where: str) -> None:
    latest = admin.post(where, secret("latest")).ok()
    version = version_of(latest)
    for match in ({}, {"resourceVersionMatch": "NotOlderThan"}):
        listed = admin.get(where, resourceVersion=version, **match).ok()
        assert names(listed) == [*_NAMES, "latest"]


def test_a_future_resource_version_times_out(admin: Client, where: str) -> None:
    answer = admin.get(where, resourceVersion=int(version_of(admin.get(where).ok())) + 100_000)
    assert (answer.status, answer.reason) == (504, "Timeout")
    assert answer.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"resourceVersion": "abc"}, 400),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, 422),
        ({"resourceVersionMatch": "Nearly", "resourceVersion": "1"}, 422),
    ],
)
def test_invalid_resource_versions_are_rejected(
    admin: Client, where: str, params: dict[str, str], status: int
) -> None:
    assert admin.get(where, **params).status == status


def test_tables_are_returned_on_request(admin: Client, where: str) -> None:
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    table = admin.with_headers(("Accept", accept)).get(where).ok()
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    columns = [column["name"] for column in table["columnDefinitions"]]
    assert columns == ["Name", "Type", "Data", "Age"]
    assert [row["cells"][:3] for row in table["rows"]] == [[name, "Opaque", 0] for name in _NAMES]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_partial_metadata_is_returned_on_request(admin: Client, where: str) -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    listed = admin.with_headers(("Accept", accept)).get(where).ok()
    assert listed["kind"] == "PartialObjectMetadataList"
    assert names(listed) == _NAMES
    assert "type" not in listed["items"][0]


def test_a_collection_can_be_deleted(admin: Client, where: str) -> None:
    answer = admin.delete(where)
    assert answer.status == 200
    assert names(admin.get(where).ok()) == []


def test_selected_objects_of_a_collection_can_be_deleted(admin: Client, where: str) -> None:
    admin.patch(f"{where}/item-1", {"metadata": {"labels": {"go": "yes"}}}, MERGE_PATCH).ok()
    assert admin.delete(where, labelSelector="go=yes").status == 200
    assert names(admin.get(where).ok()) == ["item-0", "item-2", "item-3", "item-4"]
    assert admin.delete(where, fieldSelector="metadata.name=item-2").status == 200
    assert names(admin.get(where).ok()) == ["item-0", "item-3", "item-4"]
