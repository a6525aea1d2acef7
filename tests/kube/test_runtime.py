"""The cluster core with a real kube-apiserver, including outages."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from console.kube.credentials import NoCluster
from console.kube.errors import Conflict, Forbidden, NotFound
from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, NAMESPACES, NODES, PODS, USERS, Key
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually

CONFIGMAPS = GVR("", "v1", "configmaps")


def namespaces(runtime: Runtime) -> set[str]:
    return {key.name for key in runtime.informer(NAMESPACES).store.snapshot().entries}


def listed(cluster: ControlPlane) -> dict[str, str]:
    """Return the resourceVersion by name, from a new list."""
    items = json.loads(cluster.kubectl("get", "namespaces", "-o", "json").stdout)["items"]
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}


def held(runtime: Runtime) -> dict[str, str]:
    entries = runtime.informer(NAMESPACES).store.snapshot().entries
    return {key.name: entry.resource_version for key, entry in entries.items()}


def synced(runtime: Runtime) -> bool:
    freshness = runtime.informer(NAMESPACES).freshness
    return freshness.synced and freshness.stale_since is None


@pytest.fixture
def runtime(control_plane: ControlPlane) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(control_plane.kubeconfig))
    runtime.start()
    yield runtime
    runtime.stop()


def test_changes_are_followed(runtime: Runtime, control_plane: ControlPlane) -> None:
    runtime.informer(NAMESPACES)
    eventually(lambda: synced(runtime), "synced and live")
    seen: list[str] = []
    runtime.informer(NAMESPACES).add_listener(lambda key: seen.append(key.name))
    control_plane.kubectl("create", "namespace", "followed")
    eventually(lambda: "followed" in namespaces(runtime), "the new one is held")
    control_plane.kubectl("delete", "namespace", "followed")
    eventually(lambda: "followed" not in namespaces(runtime), "it is gone")
    assert "followed" in seen
    # Objects deleted by earlier tests may disappear at any time.
    eventually(lambda: held(runtime) == listed(control_plane), "the same is held")


def test_readers_share_one_list_and_one_watch(
    runtime: Runtime, control_plane: ControlPlane
) -> None:
    mark = control_plane.audit_mark()
    for _ in range(20):
        runtime.informer(PODS).add_listener(lambda _key: None)
        runtime.informer(NODES).store.snapshot()
    eventually(lambda: runtime.informer(PODS).freshness.synced, "pods synced")
    eventually(lambda: runtime.informer(NODES).freshness.synced, "nodes synced")

    def calls(verb: str) -> list[str]:
        events = control_plane.audit_events(mark, verb=verb, user_agent="quarterdeck")
        return sorted(e.resource for e in events if e.resource in ("pods", "nodes"))

    eventually(lambda: calls("watch") == ["nodes", "pods"], "both watches recorded")
    assert calls("list") == ["nodes", "pods"]


def test_undefined_type_is_awaited(runtime: Runtime) -> None:
    users = runtime.informer(USERS)
    eventually(lambda: users.freshness.problem, "a problem is named")
    assert not users.freshness.synced
    with pytest.raises(UnknownKind):
        runtime.informer(GVR("", "v1", "strangers"))


def test_requests_are_sent_as_the_user(runtime: Runtime, control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "namespace", "team")
    control_plane.kubectl(
        "create", "rolebinding", "kate", "-n", "team", "--clusterrole=edit", "--user=kate"
    )
    kate = runtime.as_user(Identity("kate"))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}

    async def run() -> None:
        made = await kate.create(CONFIGMAPS, body, namespace="team", audit_id="a1")
        with pytest.raises(Forbidden, match='User "kate" cannot create'):
            await kate.create(CONFIGMAPS, body, namespace="default")
        with pytest.raises(Conflict):
            await kate.delete(CONFIGMAPS, namespace="team", name="c", uid="another")
        uid = made["metadata"]["uid"]
        with pytest.raises(Conflict):
            await kate.delete(CONFIGMAPS, namespace="team", name="c", uid=uid, resource_version="1")
        await kate.delete(CONFIGMAPS, namespace="team", name="c", uid=uid)
        with pytest.raises(NotFound):
            await kate.get(CONFIGMAPS, namespace="team", name="c")

    mark = control_plane.audit_mark()
    runtime.spawn(run()).result(timeout=30)

    def recorded() -> list[str]:
        events = control_plane.audit_events(mark, impersonated="kate", resource="configmaps")
        return [event.verb for event in events]

    eventually(lambda: recorded().count("delete") == 3, "all are recorded")
    assert recorded().count("create") == 2


# The gate covers the same in tests/chaos/test_faults.py, because this test needs another restart.
@pytest.mark.deep
def test_killed_server_is_survived(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    cluster = fresh_control_plane(with_controllers=False)
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    try:
        runtime.informer(NAMESPACES)
        eventually(lambda: synced(runtime), "synced and live")
        cluster.kill()
        eventually(lambda: runtime.informer(NAMESPACES).freshness.stale_since, "stale")
        assert "default" in namespaces(runtime)
        assert runtime.informer(NAMESPACES).freshness.problem
        cluster.restart()
        cluster.kubectl("create", "namespace", "after")
        eventually(lambda: "after" in namespaces(runtime), "what came later is held")
        eventually(lambda: synced(runtime), "synced and live")
        assert held(runtime) == listed(cluster)
    finally:
        runtime.stop()


@pytest.mark.deep
def test_frozen_server_and_compacted_history_are_noticed(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    cluster = fresh_control_plane(with_controllers=False)
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    try:
        informer = runtime.informer(NAMESPACES)
        eventually(lambda: synced(runtime), "synced and live")
        cluster.freeze()
        eventually(lambda: informer.freshness.stale_since, "stale", timeout=15)
        cluster.thaw()
        eventually(lambda: synced(runtime), "synced and live")
        cluster.kill()
        eventually(lambda: informer.freshness.stale_since, "stale")
        cluster.compact()
        cluster.restart()
        cluster.kubectl("create", "namespace", "later")
        eventually(lambda: "later" in namespaces(runtime), "what came later is held")
        assert held(runtime) == listed(cluster)
    finally:
        runtime.stop()


def test_token_file_is_read_again_when_the_token_is_refused(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    control_plane.kubectl("create", "serviceaccount", "rotating", "-n", "default")
    control_plane.kubectl(
        "create", "clusterrolebinding", "rotating", "--clusterrole=view",
        "--serviceaccount=default:rotating",
    )  # fmt: skip
    token = tmp_path / "token"
    token.write_text("revoked")
    path = _kubeconfig(tmp_path, control_plane, {"tokenFile": str(token)})
    runtime = Runtime(kubeconfig=str(path))
    runtime.start()
    try:
        informer = runtime.informer(NAMESPACES)
        eventually(lambda: informer.freshness.problem, "a problem is named")
        made = control_plane.kubectl("create", "token", "rotating", "-n", "default")
        token.write_text(made.stdout.strip())
        eventually(lambda: synced(runtime), "synced and live", timeout=30)
    finally:
        runtime.stop()


def test_exec_plugins_are_supported(control_plane: ControlPlane, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": control_plane.token("stranger")},
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "echo",
        "args": [json.dumps(credential)],
        "interactiveMode": "Never",
    }
    runtime = Runtime(kubeconfig=str(_kubeconfig(tmp_path, control_plane, {"exec": plugin})))
    runtime.start()
    try:
        with pytest.raises(Forbidden, match='User "stranger"'):
            runtime.spawn(runtime.console.get(NAMESPACES, name="default")).result(timeout=20)
    finally:
        runtime.stop()


def test_missing_cluster_error_names_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(NoCluster, match="set KUBECONFIG"):
        Runtime()
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(NoCluster, match="set KUBECONFIG"):
        Runtime()


def _kubeconfig(folder: Path, cluster: ControlPlane, user: dict[str, Any]) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "c",
                "cluster": {
                    "server": cluster.url,
                    "certificate-authority": str(cluster.ca_file),
                },
            }
        ],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


def test_keys_and_paths_are_formatted() -> None:
    assert str(Key("ns", "name")) == "ns/name"
    assert str(Key("", "name")) == "name"
    assert PODS.path("ns", "a b?") == "/api/v1/namespaces/ns/pods/a%20b%3F"
    assert USERS.path("", "x") == "/apis/iam.kubesphere.io/v1alpha2/users/x"
