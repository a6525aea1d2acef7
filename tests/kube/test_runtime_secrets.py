"""Secrets are read with the user's permissions only, verified by the audit log of a real
kube-apiserver.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from console.kube.clients import ReaderClient
from console.kube.errors import Forbidden
from console.kube.factory import NeverCached
from console.kube.gvr import SECRETS, Key
from console.kube.identity import Identity
from console.kube.livelist import LiveList
from console.kube.runtime import Runtime
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.kube.clusters import apply, live, names, running

CANARY = "c2VjcmV0LWNhbmFyeQ=="


@pytest.fixture
def runtime(control_plane: ControlPlane) -> Iterator[Runtime]:
    with running(control_plane) as runtime:
        yield runtime


@pytest.fixture
def secrets(control_plane: ControlPlane) -> Callable[[str], None]:
    control_plane.kubectl("create", "namespace", "vault")
    control_plane.kubectl(
        "create", "role", "secrets", "-n", "vault", "--verb=list,watch", "--resource=secrets"
    )

    def put(name: str) -> None:
        meta = {"name": name, "namespace": "vault"}
        # With kubectl's last-applied annotation, which repeats the values.
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"key": CANARY}}
        apply(control_plane, body)

    put("first")
    return put


def grant_secrets(cluster: ControlPlane, user: str) -> None:
    cluster.kubectl("create", "rolebinding", user, "-n", "vault", "--role=secrets", "--user", user)


def wait(runtime: Runtime, found: LiveList[Any]) -> bool:
    return runtime.spawn(found.wait(timeout=10)).result(timeout=20)


def test_secrets_are_read_as_the_user_only(
    runtime: Runtime, control_plane: ControlPlane, secrets: Callable[[str], None]
) -> None:
    grant_secrets(control_plane, "kate")
    with pytest.raises(NeverCached):
        runtime.informer(SECRETS)
    mark = control_plane.audit_mark()
    seen: list[Key] = []
    with runtime.live_list(SECRETS, Identity("kate"), ("vault",)) as found:
        assert wait(runtime, found)
        assert names(found) == {"vault/first"}
        eventually(lambda: live(found), "it is live")
        found.add_listener(seen.append)
        secrets("second")
        eventually(lambda: Key("vault", "second") in seen, "changes come")
        for entry in found.store.snapshot().entries.values():
            assert entry.projection.keys == 1
            assert CANARY not in json.dumps(entry.original())
    eventually(lambda: found.freshness.stale_since, "nobody takes it for live once it is closed")
    assert SECRETS not in runtime.informers()
    asked = control_plane.audit_events(mark, resource="secrets", user_agent="quarterdeck")
    assert {(event.verb, event.namespace) for event in asked} == {
        ("list", "vault"),
        ("watch", "vault"),
    }
    assert {event.impersonated for event in asked} == {"kate"}


def test_denied_user_gets_a_forbidden_error(
    runtime: Runtime, control_plane: ControlPlane, secrets: Callable[[str], None]
) -> None:
    grant_secrets(control_plane, "paul")
    with (
        runtime.live_list(SECRETS, Identity("mallory"), ("vault",)) as refused,
        pytest.raises(Forbidden, match='User "mallory" cannot list resource "secrets"'),
    ):
        wait(runtime, refused)
    assert len(refused.store) == 0
    with (
        runtime.live_list(SECRETS, Identity("paul")) as everywhere,
        pytest.raises(Forbidden, match='User "paul" cannot list resource "secrets"'),
    ):
        wait(runtime, everywhere)


def test_single_secret_is_read_without_list_permission(
    runtime: Runtime,
    control_plane: ControlPlane,
    secrets: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.kube.livelist.INTERVAL", 0.2)
    role = ("role", "first", "-n", "vault", "--verb=get", "--resource=secrets")
    control_plane.kubectl("create", *role, "--resource-name=first")
    bind = ("rolebinding", "nina", "-n", "vault", "--role=first", "--user=nina")
    control_plane.kubectl("create", *bind)
    secrets("second")
    nina = Identity("nina")
    seen: list[Key] = []
    with runtime.live_object(SECRETS, nina, Key("vault", "first")) as found:
        assert wait(runtime, found)
        assert names(found) == {"vault/first"}
        [entry] = found.store.snapshot().entries.values()
        assert entry.projection.keys == 1
        assert CANARY not in json.dumps(entry.original())
        found.add_listener(seen.append)
        control_plane.kubectl("label", "secret", "first", "-n", "vault", "changed=yes")
        eventually(lambda: seen, "a change comes")
        control_plane.kubectl("delete", "secret", "first", "-n", "vault")
        eventually(lambda: not len(found.store), "its end comes")
        assert found.freshness.stale_since is None
        control_plane.kubectl("delete", "rolebinding", "nina", "-n", "vault")
        eventually(lambda: found.refusal, "the right to it has ended")
        secrets("first")
        control_plane.kubectl("create", *bind)
        eventually(lambda: live(found) and len(found.store), "after a refusal it is read again")
    with (
        runtime.live_object(SECRETS, nina, Key("vault", "second")) as refused,
        pytest.raises(Forbidden, match='User "nina" cannot get resource "secrets"'),
    ):
        wait(runtime, refused)


def test_permission_is_rechecked_while_a_list_is_open(
    runtime: Runtime,
    control_plane: ControlPlane,
    secrets: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.kube.livelist.RECHECK", 0.5)
    grant_secrets(control_plane, "rita")
    with runtime.live_list(SECRETS, Identity("rita"), ("vault",)) as found:
        assert wait(runtime, found)
        control_plane.kubectl("delete", "rolebinding", "rita", "-n", "vault")
        eventually(lambda: "forbidden" in found.freshness.problem, "the watch has ended")
        with pytest.raises(Forbidden):
            wait(runtime, found)
        grant_secrets(control_plane, "rita")
        eventually(lambda: live(found) and not found.refusal, "once they may again it goes on")


def test_secrets_cannot_be_read_without_an_identity(control_plane: ControlPlane) -> None:
    runtime = Runtime(kubeconfig=str(control_plane.kubeconfig))
    with pytest.raises(TypeError, match="requires an Identity"):
        runtime.live_list(SECRETS, "kate")  # type: ignore[arg-type]
    assert not hasattr(ReaderClient, "get")
