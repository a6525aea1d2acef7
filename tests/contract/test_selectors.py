"""Label selectors and field selectors."""

from collections.abc import Iterator

import pytest

from tests.contract.client import MERGE_PATCH, Client
from tests.contract.objects import create_pod, path, pod, secret

_LABELS = {
    "plain": {},
    "web-a": {"app": "web", "tier": "front"},
    "web-b": {"app": "web", "tier": "back", "canary": ""},
    "job": {"app": "job", "tier": "back", "size": "10"},
}


@pytest.fixture(scope="module")
def where(admin: Client, namespace: str) -> str:
    collection = path(namespace, "secrets")
    for name, labels in _LABELS.items():
        admin.post(collection, secret(name, labels)).ok()
    return collection


@pytest.fixture(scope="module")
def pods(admin: Client, namespace: str) -> Iterator[str]:
    """Create three pods: one unscheduled, one on a node, and one that failed."""
    create_pod(admin, namespace, pod("nowhere"))
    create_pod(admin, namespace, pod("placed", nodeName="some-node", restartPolicy="Never"))
    create_pod(admin, namespace, pod("broken"))
    collection = path(namespace, "pods")
    body = {"status": {"phase": "Failed"}}
    admin.patch(f"{collection}/broken/status", body, MERGE_PATCH).ok()
    yield collection
    # Delete the pod directly, because there is no kubelet to stop it.
    admin.delete(f"{collection}/placed", gracePeriodSeconds=0).ok()


def names(client: Client, where: str, **selector: str) -> list[str]:
    items = client.get(where, **selector).ok()["items"]
    return [item["metadata"]["name"] for item in items]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("app=web", ["web-a", "web-b"]),
        ("app==web", ["web-a", "web-b"]),
        ("app=web,tier=back", ["web-b"]),
        ("app!=web", ["job", "plain"]),
        ("app", ["job", "web-a", "web-b"]),
        ("!app", ["plain"]),
        ("app in (web, job),tier in (back)", ["job", "web-b"]),
        ("app notin (web)", ["job", "plain"]),
        ("app,app notin (web)", ["job"]),
        ("canary=", ["web-b"]),
        ("canary", ["web-b"]),
        ("app in (web,)", ["web-a", "web-b"]),
        ("size>9", ["job"]),
        ("size>10", []),
        ("size<11", ["job"]),
        ("app = web , !canary", ["web-a"]),
        ("example.com/none", []),
        ("", ["job", "plain", "web-a", "web-b"]),
    ],
)
def test_objects_are_selected_by_label(
    admin: Client, where: str, selector: str, expected: list[str]
) -> None:
    assert names(admin, where, labelSelector=selector) == expected


@pytest.mark.parametrize(
    "selector",
    ["app in (", "app in web", "=", "a=b=c", "a b", "-a", "a=not fine", "size>many", "a,,b"],
)
def test_invalid_label_selectors_are_rejected(admin: Client, where: str, selector: str) -> None:
    answer = admin.get(where, labelSelector=selector)
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert answer.json["message"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=job", ["job"]),
        ("metadata.name==job", ["job"]),
        ("metadata.name!=job", ["plain", "web-a", "web-b"]),
        ("metadata.name=absent", []),
        ("type=Opaque,metadata.name=plain", ["plain"]),
        ("type=other", []),
    ],
)
def test_objects_are_selected_by_field(
    admin: Client, where: str, selector: str, expected: list[str]
) -> None:
    assert names(admin, where, fieldSelector=selector) == expected


def test_objects_are_selected_by_namespace(admin: Client, where: str, namespace: str) -> None:
    found = names(admin, "/api/v1/secrets", fieldSelector=f"metadata.namespace={namespace}")
    assert found == sorted(_LABELS)


def test_label_and_field_selectors_are_combined(admin: Client, where: str) -> None:
    found = names(admin, where, labelSelector="app=web", fieldSelector="metadata.name!=web-a")
    assert found == ["web-b"]


@pytest.mark.parametrize("selector", ["spec.nothing=1", "metadata.labels=x", "data.key=1", "job"])
def test_unsupported_field_selectors_are_rejected(admin: Client, where: str, selector: str) -> None:
    answer = admin.get(where, fieldSelector=selector)
    assert (answer.status, answer.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("spec.nodeName=some-node", ["placed"]),
        ("spec.nodeName=", ["broken", "nowhere"]),
        ("spec.nodeName!=", ["placed"]),
        ("status.phase=Pending", ["nowhere", "placed"]),
        ("status.phase=Failed", ["broken"]),
        ("status.phase!=Failed,spec.nodeName=", ["nowhere"]),
        ("spec.restartPolicy=Never", ["placed"]),
        ("spec.schedulerName=nobody,metadata.name=broken", ["broken"]),
        ("spec.hostNetwork=false,status.podIP=,metadata.name=broken", ["broken"]),
    ],
)
def test_pods_are_selected_by_their_fields(
    admin: Client, pods: str, selector: str, expected: list[str]
) -> None:
    assert names(admin, pods, fieldSelector=selector) == expected
