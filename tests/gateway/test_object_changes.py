"""Audit records of writes through the gateway contain the manifests before and after the write."""

import base64
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from console.audit.changes import unpack
from tests.controlplane.waiting import eventually
from tests.gateway.demo import Demo

pytestmark = pytest.mark.programs

NAMESPACE = "payments"
_QUERY = (
    "SELECT audit_id, verb, before, after FROM audit_auditrecord AS record "
    "LEFT JOIN audit_auditchange ON record_id = record.id "
    "WHERE name = ? AND code IS NOT NULL AND verb != 'get' ORDER BY record.id"
)


def changes(demo: Demo, name: str, number: int) -> list[tuple[str, str, Any, Any]]:
    """Return the audit ID, the verb and both manifests of the first records of an object. A record
    is complete soon after the response.
    """

    def found() -> list[tuple[str, str, Any, Any]]:
        with closing(sqlite3.connect(demo.folder / "quarterdeck.sqlite3")) as database:
            rows = database.execute(_QUERY, (name,)).fetchall()
        return [(one[0], one[1], *map(unpack, one[2:])) for one in rows]

    eventually(lambda: len(found()) >= number, "the records are complete")
    return found()


def test_writes_have_the_manifests_before_and_after(demo: Demo) -> None:
    admin, visitor = demo.kubectl(demo.kubeconfig("admin"), NAMESPACE), demo.visitor("admin")
    admin("create", "configmap", "rainbow", "--from-literal=color=blue")
    page = f"/clusters/host/configmaps?namespace={NAMESPACE}"
    eventually(lambda: "rainbow" in visitor.get(page)[1], "the object is cached")
    admin("patch", "configmap", "rainbow", "-p", '{"data":{"color":"green"}}')
    admin("delete", "configmap", "rainbow")
    found = changes(demo, "rainbow", 3)
    colors = [
        (verb, *(one and one["data"]["color"] for one in states)) for _id, verb, *states in found
    ]
    assert colors[:2] == [("create", None, "blue"), ("patch", "blue", "green")]
    assert colors[2] == ("delete", "green", None)
    status, text = visitor.get(f"/clusters/host/import?restore={found[2][0]}")
    assert status == 200 and "color: green" in text


def test_an_uncached_object_can_be_restored_without_its_values(demo: Demo) -> None:
    admin = demo.kubectl(demo.kubeconfig("admin"), NAMESPACE)
    admin("create", "secret", "generic", "vault", "--from-literal=key=hunter2-hunter2")
    admin("delete", "secret", "vault")
    (_id, verb, before, after), (_last, deleted, last, nothing) = changes(demo, "vault", 2)
    assert (verb, before, deleted, nothing) == ("create", None, "delete", None)
    assert list(after["data"]) == list(last["data"]) == ["key"]
    for state in (after, last):
        assert base64.b64encode(b"hunter2-hunter2").decode() not in str(state)


def test_a_refused_write_and_a_subresource_have_no_manifests(demo: Demo) -> None:
    alice = demo.kubectl(demo.kubeconfig("alice"), "kube-system")
    assert "forbidden" in alice.run("create", "configmap", "refused").stderr
    admin = demo.kubectl(demo.kubeconfig("admin"), NAMESPACE)
    admin("create", "serviceaccount", "tokens")
    admin("create", "token", "tokens")
    assert [states for _id, _verb, *states in changes(demo, "refused", 1)] == [[None, None]]
    (_id, _verb, *created), (_token, _create, *states) = changes(demo, "tokens", 2)
    assert created[1] is not None and states == [None, None]
