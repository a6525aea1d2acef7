"""Watches: order of events, resumption, bookmarks, and expired resource versions."""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Clients
from tests.contract.crds import definition, establish
from tests.contract.objects import path, secret, unique, version_of
from tests.contract.stream import names, watch


@pytest.fixture
def where(empty_namespace: str) -> str:
    return path(empty_namespace, "secrets")


def relabel(admin: Client, where: str, name: str, **labels: str | None) -> Obj:
    changed: Obj = admin.patch(
        f"{where}/{name}", {"metadata": {"labels": labels}}, MERGE_PATCH
    ).ok()
    return changed


def now(admin: Client, where: str) -> str:
    return version_of(admin.get(where).ok())


def test_a_watch_reports_changes_since_a_version(admin: Client, where: str) -> None:
    start = now(admin, where)
    made = admin.post(where, secret("a")).ok()
    changed = relabel(admin, where, "a", x="1")
    admin.post(where, secret("b")).ok()
    admin.delete(f"{where}/a").ok()
    with watch(admin, where, resourceVersion=start) as stream:
        events = stream.take(4)
    assert names(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert events[0]["object"] == made
    assert events[1]["object"] == changed


def test_a_watch_reports_new_changes(admin: Client, where: str) -> None:
    with watch(admin, where, resourceVersion=now(admin, where)) as stream:
        assert stream.status == 200
        admin.post(where, secret("live")).ok()
        assert names([stream.next()]) == [("ADDED", "live")]
        admin.delete(f"{where}/live").ok()
        assert names([stream.next()]) == [("DELETED", "live")]


def test_resource_versions_of_events_increase(admin: Client, where: str) -> None:
    """Resource versions increase, including that of a DELETED event."""
    start = now(admin, where)
    last = version_of(admin.post(where, secret("a")).ok())
    admin.delete(f"{where}/a").ok()
    admin.post(where, secret("a")).ok()
    with watch(admin, where, resourceVersion=start) as stream:
        versions = [int(version_of(event["object"])) for event in stream.take(3)]
    assert versions == sorted(set(versions))
    assert versions[1] > int(last)


def test_a_watch_resumes_after_any_event(admin: Client, where: str) -> None:
    start = now(admin, where)
    for name in "abc":
        admin.post(where, secret(name)).ok()
    with watch(admin, where, resourceVersion=start) as stream:
        second = stream.take(2)[1]
    with watch(admin, where, resourceVersion=version_of(second["object"])) as stream:
        assert names([stream.next()]) == [("ADDED", "c")]


@pytest.mark.parametrize("version", [{}, {"resourceVersion": "0"}], ids=["no version", "zero"])
def test_a_watch_without_version_starts_with_existing_objects(
    admin: Client, where: str, version: dict[str, str]
) -> None:
    admin.post(where, secret("a")).ok()
    latest = admin.post(where, secret("b")).ok()
    admin.get(where, resourceVersion=version_of(latest)).ok()
    with watch(admin, where, **version) as stream:
        assert sorted(names(stream.take(2))) == [("ADDED", "a"), ("ADDED", "b")]
        admin.delete(f"{where}/a").ok()
        assert names([stream.next()]) == [("DELETED", "a")]


def test_a_watch_filters_by_label(admin: Client, where: str) -> None:
    """An object that leaves the selection is reported as DELETED, and one that enters it as ADDED."""
    start = now(admin, where)
    admin.post(where, secret("other", {"in": "no"})).ok()
    admin.post(where, secret("a", {"in": "yes"})).ok()
    relabel(admin, where, "a", more="1")
    left = relabel(admin, where, "a", **{"in": "no"})
    relabel(admin, where, "a", more="2")
    relabel(admin, where, "a", **{"in": "yes"})
    with watch(admin, where, resourceVersion=start, labelSelector="in=yes") as stream:
        events = stream.take(4)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]
    assert {event["object"]["metadata"]["name"] for event in events} == {"a"}
    gone = events[2]["object"]["metadata"]
    assert gone["labels"] == {"in": "yes", "more": "1"}
    assert gone["resourceVersion"] == version_of(left)


def test_a_watch_filters_by_name(admin: Client, where: str) -> None:
    start = now(admin, where)
    for name in "abc":
        admin.post(where, secret(name)).ok()
    with watch(
        admin, where, resourceVersion=start, fieldSelector="metadata.name=b", timeoutSeconds=1
    ) as stream:
        assert names(list(stream)) == [("ADDED", "b")]


def test_a_watch_can_cover_all_namespaces(admin: Client, where: str) -> None:
    start = now(admin, "/api/v1/secrets")
    name = unique("anywhere")
    admin.post(where, secret(name)).ok()
    selector = f"metadata.name={name}"
    with watch(admin, "/api/v1/secrets", resourceVersion=start, fieldSelector=selector) as stream:
        assert stream.next()["object"]["metadata"]["namespace"] == where.split("/")[4]


def test_a_watch_ends_after_its_timeout(admin: Client, where: str) -> None:
    with watch(admin, where, timeoutSeconds=1, resourceVersion=now(admin, where)) as stream:
        assert list(stream) == []


def test_bookmarks_are_sent_on_request(admin: Client, where: str) -> None:
    """A bookmark is sent before the end if changes were filtered out."""
    start = now(admin, where)
    with watch(
        admin,
        where,
        resourceVersion=start,
        allowWatchBookmarks=True,
        timeoutSeconds=4,
        labelSelector="in=yes",
    ) as stream:
        unseen = admin.post(where, secret("unseen")).ok()
        events = list(stream)
    assert {event["type"] for event in events} == {"BOOKMARK"}
    mark = events[-1]["object"]
    assert (mark["kind"], mark["apiVersion"]) == ("Secret", "v1")
    assert mark["metadata"].keys() == {"resourceVersion"}
    assert int(version_of(mark)) >= int(version_of(unseen))
    admin.post(where, secret("b")).ok()
    with watch(admin, where, resourceVersion=version_of(mark)) as stream:
        assert names([stream.next()]) == [("ADDED", "b")]


def test_bookmarks_are_not_sent_by_default(admin: Client, where: str) -> None:
    start = now(admin, where)
    with watch(admin, where, resourceVersion=start, timeoutSeconds=2, labelSelector="a") as stream:
        admin.post(where, secret("unseen")).ok()
        assert list(stream) == []


def test_a_streaming_list_ends_with_a_bookmark(admin: Client, where: str) -> None:
    admin.post(where, secret("a")).ok()
    latest = admin.post(where, secret("b")).ok()
    with watch(admin, where, **_streaming()) as stream:
        *initial, mark = stream.until(lambda event: event["type"] == "BOOKMARK")
        admin.post(where, secret("c")).ok()
        later = stream.next()
    assert names(initial) == [("ADDED", "a"), ("ADDED", "b")]
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(version_of(mark["object"])) >= int(version_of(latest))
    assert names([later]) == [("ADDED", "c")]


def test_an_empty_streaming_list_sends_only_a_bookmark(admin: Client, where: str) -> None:
    with watch(admin, where, **_streaming()) as stream:
        mark = stream.next()
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_streaming_list_filters_by_label(admin: Client, where: str) -> None:
    admin.post(where, secret("a", {"in": "yes"})).ok()
    admin.post(where, secret("b", {"in": "no"})).ok()
    with watch(admin, where, **_streaming(), labelSelector="in=yes") as stream:
        initial = stream.until(lambda event: event["type"] == "BOOKMARK")[:-1]
    assert names(initial) == [("ADDED", "a")]


def _streaming(**more: str) -> dict[str, str | int | bool]:
    return {
        "sendInitialEvents": True,
        "allowWatchBookmarks": True,
        "resourceVersionMatch": "NotOlderThan",
        **more,
    }


def test_a_streaming_list_requires_a_version_match(admin: Client, where: str) -> None:
    with watch(admin, where, sendInitialEvents=True) as stream:
        status = stream.error()
    assert (status["code"], status["reason"]) == (422, "Invalid")


def test_an_expired_resource_version_returns_410(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    """Versions from before the type was defined are not available."""
    crd = definition()
    served = establish(admin, cleanup, crd, namespace)
    with watch(admin, served, resourceVersion="1") as stream:
        status = stream.error()
    assert (status["code"], status["reason"], status["status"]) == (410, "Expired", "Failure")
    assert "too old resource version" in status["message"]


def test_an_invalid_resource_version_is_rejected(admin: Client, where: str) -> None:
    with watch(admin, where, resourceVersion="abc", timeoutSeconds=1) as stream:
        assert stream.error()["status"] == "Failure"


def test_a_watch_requires_permission(clients: Clients, where: str) -> None:
    with watch(clients.user("stranger"), where, timeoutSeconds=1) as stream:
        status = stream.error()
    assert (status["code"], status["reason"]) == (403, "Forbidden")


def test_an_invalid_selector_is_rejected(admin: Client, where: str) -> None:
    with watch(admin, where, labelSelector="a in (", timeoutSeconds=1) as stream:
        assert (stream.status, stream.error()["code"]) == (400, 400)


def test_table_events_are_sent_on_request(admin: Client, where: str) -> None:
    start = now(admin, where)
    admin.post(where, secret("a")).ok()
    client = admin.with_headers(("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"))
    with watch(client, where, resourceVersion=start) as stream:
        event = stream.next()
    assert (event["type"], event["object"]["kind"]) == ("ADDED", "Table")
    assert event["object"]["rows"][0]["cells"][0] == "a"
