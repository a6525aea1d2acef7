"""What a client finds out about a server that it does not know yet."""

import pytest

from tests.contract.client import Client, Obj

_LISTED = {"get", "list", "watch"}
_ALL = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}


def resources(admin: Client, group_version: str) -> dict[str, Obj]:
    root = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
    found = admin.get(root).ok()
    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", group_version)
    return {resource["name"]: resource for resource in found["resources"]}


def it_says_its_version(admin: Client) -> None:
    version = admin.get("/version").ok()
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
    assert version["platform"].startswith("linux/")


def it_lists_the_core_versions(admin: Client) -> None:
    found = admin.get("/api").ok()
    assert (found["kind"], found["versions"]) == ("APIVersions", ["v1"])


def it_lists_the_groups(admin: Client) -> None:
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


def it_describes_a_group(admin: Client) -> None:
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
def it_describes_a_resource(
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


def it_describes_definitions_of_custom_resources(admin: Client) -> None:
    found = resources(admin, "apiextensions.k8s.io/v1")["customresourcedefinitions"]
    assert set(found["shortNames"]) == {"crd", "crds"}
    assert set(found["verbs"]) >= _LISTED


def it_lists_subresources(admin: Client) -> None:
    core = resources(admin, "v1")
    assert core["pods/log"]["verbs"] == ["get"]
    assert set(core["pods/exec"]["verbs"]) == {"create", "get"}
    assert core["pods/eviction"]["verbs"] == ["create"]
    assert (core["pods/eviction"]["group"], core["pods/eviction"]["kind"]) == ("policy", "Eviction")
    assert set(core["pods/status"]["verbs"]) == {"get", "patch", "update"}
    scale = resources(admin, "apps/v1")["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    assert set(scale["verbs"]) == {"get", "patch", "update"}


def it_says_what_belongs_to_all(admin: Client) -> None:
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
def it_offers_reviews_to_be_created_only(admin: Client, group_version: str, name: str) -> None:
    assert resources(admin, group_version)[name]["verbs"] == ["create"]


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def it_says_that_it_is_well(admin: Client, path: str) -> None:
    answer = admin.get(path)
    assert (answer.status, answer.body) == (200, b"ok")
