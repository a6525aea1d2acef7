"""Audit events of kube-apiserver: which of them are recorded, and how they are joined."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.db.models import QuerySet

from console.audit.changes import unpack
from console.audit.kube_events import parse_events, record_events
from console.audit.models import AuditRecord
from console.kube.gvr import GVR
from tests.audit.rows import BEGIN, recorded

pytestmark = pytest.mark.django_db

WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "uid": "u1"}}


def event(**more: Any) -> dict[str, Any]:
    about = {"resource": "deployments", "apiGroup": "apps", "apiVersion": "v1"}
    return {
        "level": "RequestResponse",
        "auditID": "a1",
        "stage": "ResponseComplete",
        "requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl",
        "verb": "patch",
        "user": {"username": "bob", "groups": ["ops"]},
        "sourceIPs": ["203.0.113.9", "192.0.2.7"],
        "userAgent": "kubectl/v1.34.0 (linux/amd64)",
        "objectRef": {**about, "namespace": "shop", "name": "web", **more.pop("about", {})},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-21T10:00:00.000001Z",
        "stageTimestamp": "2026-11-21T10:00:00.250000Z",
        **more,
    }


def mask(_gvr: GVR, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**manifest, "masked": True}


def receive(*events: dict[str, Any], cluster: str = "host") -> int:
    body = json.dumps({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": events})
    return record_events(cluster, parse_events(body.encode()), mask)


def rows() -> QuerySet[AuditRecord]:
    return AuditRecord.objects.order_by("pk")


def test_a_change_with_kubectl_is_recorded() -> None:
    assert receive(event()) == 1
    (row,) = rows()
    assert (row.actor, row.as_user, row.verb, row.code) == ("bob", "bob", "patch", 200)
    assert (row.group, row.resource, row.namespace, row.name) == (
        "apps", "deployments", "shop", "web",
    )  # fmt: skip
    assert (row.source, row.origin, row.audit_id) == ("192.0.2.7", "direct", "a1")
    assert row.path == "/apis/apps/v1/namespaces/shop/deployments/web"
    assert row.duration is not None and row.duration.microseconds == 249999


def test_an_impersonated_user_is_recorded() -> None:
    receive(event(impersonatedUser={"username": "alice"}))
    (row,) = rows()
    assert (row.actor, row.as_user) == ("bob", "alice")


@pytest.mark.parametrize(
    "more",
    [
        {"verb": "get"},
        {"verb": "list"},
        {"stage": "RequestReceived"},
        {"stage": "ResponseStarted"},
        {"requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All"},
        {"about": {"subresource": "status"}},
        {"about": {"resource": "leases", "apiGroup": "coordination.k8s.io"}},
        {"about": {"resource": "events", "apiGroup": ""}},
        {"about": {"resource": "tokenreviews", "apiGroup": "authentication.k8s.io"}},
        {"user": {"username": "system:node:node-1"}},
        {"user": {"username": "system:kube-scheduler"}},
        {"user": {"username": "system:serviceaccount:kube-system:replicaset-controller"}},
        {"objectRef": None},
        {"auditID": ""},
    ],
)
def test_other_events_are_not_recorded(more: dict[str, Any]) -> None:
    assert receive(event(**more)) == 0
    assert not rows().exists()


def test_a_command_in_a_container_is_recorded() -> None:
    about = {"resource": "pods", "apiGroup": "", "subresource": "exec"}
    assert receive(event(verb="get", about=about, responseStatus={"code": 101})) == 1


def test_an_event_of_the_consoles_own_request_adds_nothing() -> None:
    row = recorded("web", actor="admin", verb="patch")
    writer = {"username": "system:serviceaccount:quarterdeck-system:writer"}
    sent = event(auditID=row.audit_id, user=writer, impersonatedUser={"username": "admin"})
    assert receive(sent, sent) == 0
    assert rows().count() == 1


def test_an_event_that_is_sent_again_adds_nothing() -> None:
    assert receive(event()) == 1
    assert receive(event()) == 0


def test_an_event_with_the_audit_id_of_another_record_is_recorded() -> None:
    """Clients can choose the audit ID, so a known ID must not hide a change."""
    row = recorded("web", actor="admin", verb="patch")
    forged = event(auditID=row.audit_id, verb="delete")
    assert receive(forged) == 1
    assert receive(forged) == 0
    assert [one.actor for one in rows()] == ["admin", "bob"]
    assert receive(event(auditID=row.audit_id), cluster="east") == 1


def test_a_record_whose_process_died_gets_the_result() -> None:
    row = recorded("web", actor="admin", verb="patch", code=None, time=BEGIN)
    receive(event(auditID=row.audit_id, user={"username": "admin"}))
    (row,) = rows()
    assert (row.code, row.actor) == (200, "admin")


def test_the_response_is_stored_and_is_the_last_manifest_of_a_later_deletion() -> None:
    receive(event(verb="create", responseObject=WEB))
    status = {"kind": "Status", "details": {"name": "web", "uid": "u1"}}
    receive(event(auditID="a2", verb="delete", responseObject=status))
    created, deleted = rows().select_related("change")
    known = {**WEB, "masked": True}
    assert (unpack(bytes(created.change.before)), unpack(bytes(created.change.after))) == (
        None,
        known,
    )
    assert (unpack(bytes(deleted.change.before)), unpack(bytes(deleted.change.after))) == (
        known,
        None,
    )
    assert (created.uid, deleted.uid) == ("u1", "u1")


def test_a_generated_name_is_recorded() -> None:
    receive(event(verb="create", about={"name": ""}, responseObject=WEB))
    assert rows().get().name == "web"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"items": [{"verb": 1}]}', b'{"items": 1}'])
def test_invalid_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        parse_events(body)
