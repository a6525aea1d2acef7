"""Manifests of copies."""

from typing import Any

import pytest

from console.ui.core.manifests import MASK
from console.ui.core.registry import kinds
from console.wizards.copies import copy_of, stem_of, with_texts

POD = {"containers": [{"name": "app", "image": "example/app:1"}]}


def copied(segment: str, live: dict[str, Any], namespace: str = "shop") -> dict[str, Any]:
    kind = kinds.by_segment(segment)
    assert kind is not None
    before = {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind, **live}
    before["metadata"] = {"name": "web", "namespace": "old", **live.get("metadata", {})}
    return copy_of(kind, before, "web-copy", namespace)


def workload(labels: dict[str, str], selector: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": {**POD, **spec.pop("pod", {})}}
    return {
        "metadata": {"labels": labels},
        "spec": {"selector": selector, "template": template, **spec},
    }


def test_values_of_the_server_are_left_out() -> None:
    live = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": "2026-11-29T00:00:00Z",
            "generation": 3,
            "managedFields": [],
            "finalizers": ["x"],
            "ownerReferences": [{"uid": "o"}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "labels": {"team": "a"},
        },
        "data": {"a": "b"},
        "status": {"phase": "Bound"},
    }
    assert copied("configmaps", live) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web-copy", "namespace": "shop", "labels": {"team": "a"}},
        "data": {"a": "b"},
    }
    assert "namespace" not in copied("configmaps", live, "")["metadata"]


@pytest.mark.parametrize(
    ("segment", "spec", "wanted"),
    [
        (
            "services",
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1"],
                "healthCheckNodePort": 31000,
                "ports": [{"port": 80, "nodePort": 30080}],
                "selector": {"app": "web"},
            },
            {"ports": [{"port": 80}], "selector": {"app": "web"}},
        ),
        (
            "services",
            {"clusterIP": "None", "clusterIPs": ["None"], "ports": [{"port": 80}]},
            {"clusterIP": "None", "ports": [{"port": 80}]},
        ),
        (
            "persistentvolumeclaims",
            {"volumeName": "pvc-1", "storageClassName": "fast"},
            {"storageClassName": "fast"},
        ),
        (
            "persistentvolumes",
            {"claimRef": {"name": "data"}, "storageClassName": "fast"},
            {"storageClassName": "fast"},
        ),
        (
            "jobs",
            {
                "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
                "completionMode": "Indexed",
                "template": {
                    "metadata": {
                        "labels": {
                            "batch.kubernetes.io/controller-uid": "u",
                            "batch.kubernetes.io/job-name": "web",
                            "controller-uid": "u",
                            "job-name": "web",
                            "team": "a",
                        }
                    },
                    "spec": POD,
                },
            },
            {
                "completionMode": "Indexed",
                "template": {"metadata": {"labels": {"team": "a"}}, "spec": POD},
            },
        ),
    ],
    ids=["service", "headless", "claim", "volume", "job"],
)
def test_values_of_controllers_are_left_out(
    segment: str, spec: dict[str, Any], wanted: dict[str, Any]
) -> None:
    assert copied(segment, {"spec": spec})["spec"] == wanted


@pytest.mark.parametrize(
    ("labels", "selector", "new_labels", "new_selector"),
    [
        (
            {"app": "web", "tier": "front"},
            {"matchLabels": {"app": "web", "tier": "front"}},
            {"app": "web-copy", "tier": "front"},
            {"matchLabels": {"app": "web-copy", "tier": "front"}},
        ),
        (
            {"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "prod"},
            {
                "matchLabels": {
                    "app.kubernetes.io/name": "shop",
                    "app.kubernetes.io/instance": "prod",
                }
            },
            {"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "web-copy"},
            {
                "matchLabels": {
                    "app.kubernetes.io/name": "shop",
                    "app.kubernetes.io/instance": "web-copy",
                }
            },
        ),
        (
            {"app": "web"},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]},
            {"app": "web-copy"},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web-copy", "x"]}]},
        ),
        (
            {"role": "api"},
            {"matchLabels": {"role": "api"}},
            {"role": "web-copy"},
            {"matchLabels": {"role": "web-copy"}},
        ),
    ],
    ids=["name", "instance", "expression", "other"],
)
def test_a_copied_workload_selects_only_its_own_pods(
    labels: dict[str, str],
    selector: dict[str, Any],
    new_labels: dict[str, str],
    new_selector: dict[str, Any],
) -> None:
    spread = [{"topologyKey": "zone", "labelSelector": {"matchLabels": dict(labels)}}]
    live = workload(labels, selector, pod={"topologySpreadConstraints": spread})
    found = copied("deployments", live)
    assert found["spec"]["selector"] == new_selector
    assert found["metadata"]["labels"] == found["spec"]["template"]["metadata"]["labels"]
    assert found["metadata"]["labels"] == new_labels
    [constraint] = found["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert constraint["labelSelector"]["matchLabels"] == new_labels


def test_a_copied_replica_set_belongs_to_no_deployment() -> None:
    labels = {"app": "shop", "pod-template-hash": "5d4"}
    found = copied("replicasets", workload(labels, {"matchLabels": labels}))
    assert found["metadata"]["labels"] == {"app": "web-copy"}
    assert found["spec"]["selector"] == {"matchLabels": {"app": "web-copy"}}


def test_a_copied_stateful_set_has_its_own_service() -> None:
    labels = {"app": "web"}
    found = copied("statefulsets", workload(labels, {"matchLabels": labels}, serviceName="web"))
    assert found["spec"]["serviceName"] == "web-copy"
    found = copied("statefulsets", workload(labels, {"matchLabels": labels}, serviceName="other"))
    assert found["spec"]["serviceName"] == "other"


def test_a_copied_pod_is_adopted_by_no_controller() -> None:
    token = {"name": "kube-api-access-x7k2p", "projected": {}}
    container = {
        "name": "app",
        "volumeMounts": [{"name": "kube-api-access-x7k2p"}, {"name": "data"}],
    }
    live = {
        "metadata": {
            "generateName": "web-5d4-",
            "labels": {"app": "web", "pod-template-hash": "5d4"},
        },
        "spec": {
            "nodeName": "node-1",
            "volumes": [{"name": "data"}, token],
            "containers": [container],
            "ephemeralContainers": [{"name": "debugger"}],
        },
    }
    found = copied("pods", live)
    assert found["metadata"] == {
        "name": "web-copy",
        "namespace": "shop",
        "labels": {"app": "web-copy"},
    }
    assert found["spec"] == {
        "volumes": [{"name": "data"}],
        "containers": [{"name": "app", "volumeMounts": [{"name": "data"}]}],
    }


def test_the_schedule_and_the_labels_of_a_copied_cron_job_stay() -> None:
    job = {"template": {"metadata": {"labels": {"app": "shop"}}, "spec": POD}}
    spec = {"schedule": "0 2 * * *", "jobTemplate": {"spec": job}}
    assert copied("cronjobs", {"spec": spec})["spec"] == spec


def test_the_values_of_a_copied_secret_are_placeholders() -> None:
    live = {"data": {"password": "aHVudGVyMg==", "raw": "/w=="}, "type": "Opaque"}
    found = copied("secrets", live)
    assert found["stringData"] == {"password": MASK} and found["data"] == {"raw": MASK}
    kind = kinds.by_segment("secrets")
    assert kind is not None
    assert with_texts(kind, live)["stringData"] == {"password": "hunter2"}


def test_a_copied_token_has_no_values() -> None:
    token = {"type": "kubernetes.io/service-account-token", "data": {"token": "eA=="}}
    found = copied("secrets", token)
    assert "data" not in found and "stringData" not in found


@pytest.mark.parametrize(
    ("name", "prefix", "stem"),
    [("web", None, "web"), ("web-5d4-x", "web-5d4-", "web-5d4"), ("web", "other-", "web")],
)
def test_generated_parts_of_names_are_left_out(name: str, prefix: str | None, stem: str) -> None:
    assert stem_of({"metadata": {"name": name, "generateName": prefix}}) == stem
