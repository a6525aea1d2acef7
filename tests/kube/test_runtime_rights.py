"""A runtime with restricted permissions, with a real kube-apiserver."""

from typing import Any

import pytest

from console.kube.clock import Backoff
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, NODES, PODS
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live, names, running


def confined(cluster: ControlPlane, name: str, *namespaces: str) -> dict[str, Any]:
    for namespace in namespaces:
        cluster.kubectl("create", "namespace", namespace)
        cluster.kubectl(
            "create", "rolebinding", name, "-n", namespace, "--clusterrole=view", f"--user={name}"
        )
    return {"kubeconfig": cluster.kubeconfig_for(name), "namespaces": namespaces}


def pod(namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "c", "image": "none.example/none"}]},
    }


def create_pod(cluster: ControlPlane, namespace: str, name: str) -> None:
    """Create a pod once the namespace has its default service account."""
    path, body = PODS.path(namespace), pod(namespace, name)
    eventually(lambda: cluster.api.request("POST", path, body).status == 201, "it is created")


def test_permitted_namespaces_are_followed(control_plane: ControlPlane) -> None:
    options = confined(control_plane, "confined", "mine", "ours")
    control_plane.kubectl("create", "namespace", "theirs")
    for namespace in ("mine", "ours", "theirs"):
        create_pod(control_plane, namespace, "one")
    mark = control_plane.audit_mark()
    with running(control_plane, **options) as runtime:
        runtime.require([PODS, NODES])
        pods, nodes = runtime.informer(PODS), runtime.informer(NODES)
        eventually(lambda: live(pods), "it is live")
        assert names(pods) == {"mine/one", "ours/one"}
        create_pod(control_plane, "ours", "two")
        eventually(lambda: "ours/two" in names(pods), "changes come")
        eventually(lambda: nodes.freshness.problem, "nodes are refused")
        assert "nodes is forbidden" in nodes.freshness.problem
        assert not nodes.freshness.synced
        assert runtime.required == (PODS,)
    asked = control_plane.audit_events(mark, user="confined", resource="pods")
    assert {event.namespace for event in asked} == {"mine", "ours"}


def test_granted_permission_is_used_immediately(
    control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the notification it would wait for a minute.
    slow = Backoff(first=60, limit=60)
    monkeypatch.setattr("console.kube.reflector.Backoff", lambda **_: slow)
    for role, resource in (("late-rights", "clusterrolebindings"), ("late-nodes", "nodes")):
        control_plane.kubectl(
            "create", "clusterrole", role, "--verb=list,watch", f"--resource={resource}"
        )
    grant = ("create", "clusterrolebinding")
    control_plane.kubectl(*grant, "late-rights", "--clusterrole=late-rights", "--user=late")
    with running(control_plane, kubeconfig=control_plane.kubeconfig_for("late")) as runtime:
        eventually(lambda: live(runtime.informer(CLUSTER_ROLE_BINDINGS)), "bindings are followed")
        eventually(lambda: runtime.informer(NODES).freshness.problem, "nodes are refused")
        control_plane.kubectl(*grant, "late-nodes", "--clusterrole=late-nodes", "--user=late")
        eventually(lambda: live(runtime.informer(NODES)), "nodes are followed", timeout=15)
