"""API discovery, which clients use to find the server's version and resources."""

import pytest

from tests.contract.client import Client, Obj

_LISTED = {"get", "list", "watch"}
_ALL = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}


def resources(admin: Client, group_version: str) -> dict[str, Obj]:
    root = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
    found = admin.get(root).ok()
    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", group_version)
    return {resource["name"]: resource for resource in found["resources"]}


def test_the_version_is_reported(admin: Client) -> None:
    version = admin.get("/version").ok()
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
    assert version["platform"].startswith("linux/")


def test_core_versions_are_listed(admin: Client) -> None:
    found = admin.get("/api").ok()
    assert (found["kind"], found["versions"]) == ("APIVersions", ["v1"])


def test_api_groups_are_listed(admin: Client) -> None:
    found = admin.get("/apis").ok()
    assert found["kind"] == "APIGroupList"
    groups = {group["name"]: group for group in found["groups"]}
    assert groups["apps"]["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    needed = {
        "apiextensions.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "batch",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "networking.k8s.io",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
    }
    assert needed - groups.keys() == set()


def test_an_api_group_lists_its_versions(admin: Client) -> None:
    found = admin.get("/apis/apps").ok()
    assert (found["kind"], found["name"]) == ("APIGroup", "apps")
    assert {"groupVersion": "apps/v1", "version": "v1"} in found["versions"]


@pytest.mark.parametrize(
    ("group_version", "name", "kind", "namespaced", "short_names"),
    [
        ("v1", "pods", "Pod", True, ["po"]),
        ("v1", "namespaces", "Namespace", False, ["ns"]),
        ("v1", "nodes", "Node", False, ["no"]),
        ("v1", "configmaps", "ConfigMap", True, ["cm"]),
        ("v1", "secrets", "Secret", True, None),
        ("v1", "services", "Service", True, ["svc"]),
        ("v1", "serviceaccounts", "ServiceAccount", True, ["sa"]),
        ("v1", "events", "Event", True, ["ev"]),
        ("v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, ["pvc"]),
        ("apps/v1", "deployments", "Deployment", True, ["deploy"]),
        ("apps/v1", "replicasets", "ReplicaSet", True, ["rs"]),
        ("apps/v1", "statefulsets", "StatefulSet", True, ["sts"]),
        ("apps/v1", "daemonsets", "DaemonSet", True, ["ds"]),
        ("batch/v1", "jobs", "Job", True, None),
        ("batch/v1", "cronjobs", "CronJob", True, ["cj"]),
        ("coordination.k8s.io/v1", "leases", "Lease", True, None),
        ("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", False, None),
        ("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", True, None),
    ],
)
def test_resources_have_names_and_verbs(
    admin: Client,
    group_version: str,
    name: str,
    kind: str,
    namespaced: bool,
    short_names: list[str] | None,
) -> None:
    found = resources(admin, group_version)[name]
    assert found["kind"] == kind
    assert found["namespaced"] is namespaced
    assert found["singularName"] == kind.lower()
    assert found.get("shortNames") == short_names
    assert set(found["verbs"]) == (_ALL if name != "namespaces" else _ALL - {"deletecollection"})


def test_custom_resource_definitions_are_listed(admin: Client) -> None:
    found = resources(admin, "apiextensions.k8s.io/v1")["customresourcedefinitions"]
    assert set(found["shortNames"]) == {"crd", "crds"}
    assert set(found["verbs"]) >= _LISTED


def test_subresources_are_listed(admin: Client) -> None:
    core = resources(admin, "v1")
    assert core["pods/log"]["verbs"] == ["get"]
    assert set(core["pods/exec"]["verbs"]) == {"create", "get"}
    assert core["pods/eviction"]["verbs"] == ["create"]
    assert (core["pods/eviction"]["group"], core["pods/eviction"]["kind"]) == ("policy", "Eviction")
    assert set(core["pods/status"]["verbs"]) == {"get", "patch", "update"}
    scale = resources(admin, "apps/v1")["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    assert set(scale["verbs"]) == {"get", "patch", "update"}


def test_the_all_category_contains_pods_and_services(admin: Client) -> None:
    in_all = {
        n for n, found in resources(admin, "v1").items() if "all" in found.get("categories", [])
    }
    assert in_all == {"pods", "services", "replicationcontrollers"}


@pytest.mark.parametrize(
    ("group_version", "name"),
    [
        ("authentication.k8s.io/v1", "selfsubjectreviews"),
        ("authentication.k8s.io/v1", "tokenreviews"),
        ("authorization.k8s.io/v1", "subjectaccessreviews"),
        ("authorization.k8s.io/v1", "selfsubjectaccessreviews"),
        ("authorization.k8s.io/v1", "selfsubjectrulesreviews"),
        ("authorization.k8s.io/v1", "localsubjectaccessreviews"),
    ],
)
def test_reviews_support_only_create(admin: Client, group_version: str, name: str) -> None:
    assert resources(admin, group_version)[name]["verbs"] == ["create"]


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_endpoints_return_ok(admin: Client, path: str) -> None:
    answer = admin.get(path)
    assert (answer.status, answer.body) == (200, b"ok")
