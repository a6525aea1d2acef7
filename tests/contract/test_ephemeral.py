"""Ephemeral containers, which are added through a subresource of the pod."""

from typing import Any

import pytest

from tests.contract.client import MERGE_PATCH, STRATEGIC_PATCH, Client, Obj
from tests.contract.objects import create_pod, path, pod, unique


@pytest.fixture
def at(admin: Client, namespace: str) -> str:
    """Create an unscheduled pod and return its path."""
    name = unique("pod")
    create_pod(admin, namespace, pod(name))
    return path(namespace, "pods", name)


def debugger(name: str = "debug", **more: Any) -> Obj:
    return {"name": name, "image": "busybox", **more}


def adding(*containers: Obj) -> Obj:
    return {"spec": {"ephemeralContainers": list(containers)}}


def test_ephemeral_containers_are_added(admin: Client, at: str) -> None:
    before = admin.get(at).ok()
    body = adding(debugger(stdin=True, tty=True, targetContainerName="main"))
    # Other changes in the request are ignored.
    body["spec"]["activeDeadlineSeconds"] = 5
    body["status"] = {"phase": "Running"}
    after = admin.patch(f"{at}/ephemeralcontainers", body, STRATEGIC_PATCH).ok()
    found = after["spec"]["ephemeralContainers"]
    assert [(one["name"], one["tty"], one["targetContainerName"]) for one in found] == [
        ("debug", True, "main")
    ]
    assert found[0]["terminationMessagePolicy"] == "File"
    assert "activeDeadlineSeconds" not in after["spec"]
    assert after["status"]["phase"] == before["status"]["phase"]
    second = adding(debugger("second"))
    after = admin.patch(f"{at}/ephemeralcontainers", second, STRATEGIC_PATCH).ok()
    names = {one["name"] for one in after["spec"]["ephemeralContainers"]}
    assert names == {"debug", "second"}
    assert admin.get(f"{at}/ephemeralcontainers").ok()["kind"] == "Pod"


@pytest.mark.parametrize(
    ("container", "field", "reason"),
    [
        (debugger("main"), "spec.ephemeralContainers[0].name", "FieldValueDuplicate"),
        (debugger("Not a name"), "spec.ephemeralContainers[0].name", "FieldValueInvalid"),
        (debugger(image=""), "spec.ephemeralContainers[0].image", "FieldValueRequired"),
        (
            debugger(targetContainerName="nope"),
            "spec.ephemeralContainers[0].targetContainerName",
            "FieldValueNotFound",
        ),
        (
            debugger(ports=[{"containerPort": 80, "protocol": "TCP"}]),
            "spec.ephemeralContainers[0].ports",
            "FieldValueForbidden",
        ),
        (
            debugger(resources={"limits": {"memory": "1Gi"}}),
            "spec.ephemeralContainers[0].resources",
            "FieldValueForbidden",
        ),
    ],
)
def test_invalid_ephemeral_containers_are_rejected(
    admin: Client, at: str, container: Obj, field: str, reason: str
) -> None:
    answer = admin.patch(f"{at}/ephemeralcontainers", adding(container), STRATEGIC_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    causes = answer.json["details"]["causes"]
    assert (field, reason) in {(cause["field"], cause["reason"]) for cause in causes}


def test_ephemeral_containers_cannot_be_changed_or_removed(admin: Client, at: str) -> None:
    where = f"{at}/ephemeralcontainers"
    admin.patch(where, adding(debugger()), STRATEGIC_PATCH).ok()
    for body, word in ((adding(debugger(image="other")), "changed"), (adding(), "removed")):
        answer = admin.patch(where, body, MERGE_PATCH)
        assert answer.status == 422
        assert f'existing ephemeral containers "debug" may not be {word}' in answer.json["message"]


def test_ephemeral_containers_are_rejected_outside_their_subresource(
    admin: Client, at: str, namespace: str
) -> None:
    answer = admin.patch(at, adding(debugger()), STRATEGIC_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    body = pod(unique("pod"), ephemeralContainers=[debugger()])
    assert admin.post(path(namespace, "pods"), body).status == 422
