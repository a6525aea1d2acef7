"""One write for the user of a request: its identity, its audit record and its effect on the
cache.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import RequestFactory

from console.audit.models import AuditRecord
from console.audit.trail import AuditUnavailable
from console.kube.errors import Conflict
from console.kube.gvr import PODS, Key
from console.kube.identity import Identity
from console.views.perform import perform
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, make_runtime, pod

pytestmark = pytest.mark.django_db(transaction=True)
WEB = Key("shop", "web-1")


class FakeClient:
    """Record each request with its identity and arguments, or raise `failure` if set."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = []
        self.failure: Exception | None = None
        self.version = "1"

    def as_user(self, identity: Identity) -> Any:
        return _Sender(self, identity.name)


class _Sender:
    def __init__(self, client: FakeClient, who: str) -> None:
        self.client, self.who = client, who

    def __getattr__(self, method: str) -> Any:
        async def send(*body: Any, **asked: Any) -> dict[str, Any]:
            if self.client.failure is not None:
                raise self.client.failure
            self.client.calls.append((self.who, method, body, asked))
            return {"metadata": {"resourceVersion": self.client.version}}

        return send


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def runtime(client: FakeClient) -> Iterator[StaticRuntime]:
    found: Any = make_runtime(user_client=client.as_user)
    found.console = _Sender(client, "console")
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.fixture
def request_of_ann(runtime: StaticRuntime) -> Any:
    request: Any = RequestFactory().post("/x")
    request.account, request.access = "ann", FakeAccess("ann")
    return request


@pytest.mark.parametrize(
    ("verb", "method", "sent", "arguments"),
    [
        ("create", "create", (PODS, {"a": 1}), {"namespace": "shop"}),
        ("update", "replace", (PODS, {"a": 1}), {"namespace": "shop", "name": "web-1"}),
        ("patch", "patch", (PODS, {"a": 1}), {"namespace": "shop", "name": "web-1"}),
        ("delete", "delete", (PODS,), {"namespace": "shop", "name": "web-1"}),
    ],
)
async def test_request_is_sent_as_the_user_with_the_id_of_its_audit_record(
    request_of_ann: Any,
    client: FakeClient,
    verb: str,
    method: str,
    sent: tuple[Any, ...],
    arguments: dict[str, Any],
) -> None:
    await perform(request_of_ann, verb, PODS, WEB, None if verb == "delete" else {"a": 1})
    row = await AuditRecord.objects.aget()
    assert client.calls == [("ann", method, sent, {**arguments, "audit_id": row.audit_id})]
    assert (row.actor, row.as_user, row.verb, row.resource) == ("ann", "ann", verb, "pods")
    assert (row.namespace, row.name, row.code) == ("shop", "web-1", 200)


async def test_options_are_passed_to_the_client(request_of_ann: Any, client: FakeClient) -> None:
    await perform(request_of_ann, "delete", PODS, WEB, uid="u", resource_version="7")
    [(_who, _method, _sent, arguments)] = client.calls
    assert (arguments["uid"], arguments["resource_version"]) == ("u", "7")


async def test_console_sends_the_request_and_the_audit_record_names_the_user(
    request_of_ann: Any, client: FakeClient
) -> None:
    await perform(request_of_ann, "update", PODS, WEB, {}, by_console=True, method="patch")
    [(who, method, _sent, _arguments)] = client.calls
    row = await AuditRecord.objects.aget()
    assert (who, method) == ("console", "patch")
    assert (row.actor, row.as_user, row.verb) == ("ann", "ann", "update")


async def test_audit_record_shows_a_given_identity(request_of_ann: Any) -> None:
    await perform(request_of_ann, "patch", PODS, WEB, {}, by_console=True, as_user="robot")
    row = await AuditRecord.objects.aget()
    assert (row.actor, row.as_user) == ("ann", "robot")


async def test_refusal_is_recorded_and_raised(request_of_ann: Any, client: FakeClient) -> None:
    client.failure = Conflict(409, "changed")
    with pytest.raises(Conflict):
        await perform(request_of_ann, "update", PODS, WEB, {})
    row = await AuditRecord.objects.aget()
    assert row.code == 409


async def test_nothing_is_sent_without_an_audit_record(
    request_of_ann: Any, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any, **_options: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(AuditRecord, "save", fail)
    with pytest.raises(AuditUnavailable):
        await perform(request_of_ann, "delete", PODS, WEB)
    assert client.calls == []


async def test_write_is_in_the_cache_afterwards(
    request_of_ann: Any, runtime: StaticRuntime, client: FakeClient
) -> None:
    bring(runtime.informer(PODS), pod("web-1"))
    entry = runtime.informer(PODS).store.get(WEB)
    assert entry is not None
    client.version = entry.resource_version
    await perform(request_of_ann, "patch", PODS, WEB, {}, wait=True)


async def test_wait_ends_when_a_deleted_object_has_left_the_cache(
    request_of_ann: Any, runtime: StaticRuntime
) -> None:
    assert runtime.informer(PODS).store.get(Key("shop", "other")) is None
    await perform(request_of_ann, "delete", PODS, Key("shop", "other"), wait=True)
