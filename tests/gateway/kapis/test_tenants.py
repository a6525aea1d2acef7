"""A tenant sees nothing of another workspace through any list, and can't write there."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway.demo import Demo
from tests.gateway.kapis.rows import CLUSTER, IAM, NAMESPACED, NEW, NEW_TENANT, OLD, TENANT

pytestmark = pytest.mark.programs

#: A tenant of the workspace `shop`, whose projects these are.
USER, WORKSPACE = "alice", "shop"
PROJECTS = {"checkout", "payments", "shipping", "web"}
LISTS = [
    *(f"{NEW}/{one}" for one in (*NAMESPACED, *CLUSTER)),
    *(f"{OLD}/{one}" for one in (*NAMESPACED, *CLUSTER)),
    *(f"{OLD}/{one}" for one in ("quotas", "abnormalworkloads", "components", "componenthealth")),
    *(f"{IAM}/{one}" for one in ("users", "globalroles", "clusterroles", "clustermembers")),
    *(f"{NEW_TENANT}/{one}" for one in ("workspaces", "workspacetemplates")),
    *(f"{TENANT}/{one}" for one in ("workspaces", "namespaces", "clusters")),
    "/kapis/iam.kubesphere.io/v1alpha2/globalrolebindings",
    "/kapis/iam.kubesphere.io/v1alpha2/rolebases",
    "/kapis/tenant.kubesphere.io/v1alpha1/workspaces",
    "/kapis/quota.kubesphere.io/v1alpha2/resourcequotas",
]
#: A place that the tenant has no permission in.
FOREIGN = [
    *(f"{NEW}/namespaces/kube-system/{one}" for one in NAMESPACED),
    f"{NEW}/namespaces/kube-system/pods/coredns",
    f"{OLD}/namespaces/kube-system/pods",
    f"{OLD}/namespaces/kube-system/quotas",
    f"{OLD}/namespaces/kube-system/abnormalworkloads",
    f"{OLD}/namespaces/kube-system/deployments/coredns/revisions/1",
    f"{IAM}/users/bob",
    f"{IAM}/users/nobody",
    f"{IAM}/users/admin/loginrecords",
    f"{IAM}/namespaces/kube-system/members",
    f"{IAM}/namespaces/kube-system/roles",
    f"{IAM}/namespaces/kube-system/members/admin/roles",
    f"{IAM}/users/admin/globalroles",
    f"{IAM}/clustermembers/admin",
    *(
        f"{IAM}/workspaces/system-workspace/{one}"
        for one in ("workspacemembers", "workspaceroles", "groups", "groupbindings",
                    "workspacerolebindings", "rolebindings", "workspacemembers/admin/workspaceroles")
    ),
    f"{TENANT}/workspaces/system-workspace",
    f"{TENANT}/workspaces/nothing",
    f"{TENANT}/workspaces/system-workspace/namespaces",
    f"{TENANT}/workspaces/system-workspace/namespaces/kube-system",
    f"{TENANT}/workspaces/system-workspace/clusters",
    f"{TENANT}/workspaces/system-workspace/resourcequotas/system-workspace",
    f"{NEW_TENANT}/workspaces/system-workspace",
    f"{NEW_TENANT}/workspacetemplates/system-workspace",
]  # fmt: skip


def _namespaces(found: Any) -> Iterator[str]:
    """Yield all namespaces and workspaces in a response."""
    for item in found if isinstance(found, list) else found.get("items", []):
        meta = item.get("metadata", {})
        if item.get("kind") == "Namespace":
            yield meta["name"]
        if "namespace" in meta:
            yield meta["namespace"]
        if item.get("kind") in ("Workspace", "WorkspaceTemplate"):
            assert meta["name"] == WORKSPACE
        workspace = (meta.get("labels") or {}).get("kubesphere.io/workspace")
        assert workspace in (None, WORKSPACE), item


@pytest.mark.parametrize("path", LISTS)
def test_a_list_contains_only_the_tenants_objects(demo: Demo, path: str) -> None:
    reply = demo.send("GET", path, user=USER)
    assert reply.status in (200, 403, 404), reply.body
    if reply.status == 200:
        assert set(_namespaces(json.loads(reply.body))) <= PROJECTS


@pytest.mark.parametrize("path", FOREIGN)
def test_another_workspace_is_forbidden(demo: Demo, path: str) -> None:
    reply = demo.send("GET", path, user=USER)
    assert reply.status == 403, reply.body
    assert reply.object["reason"] == "Forbidden"


def test_missing_and_forbidden_objects_get_the_same_response(demo: Demo) -> None:
    for there, missing in (
        (f"{NEW_TENANT}/workspaces/system-workspace", f"{NEW_TENANT}/workspaces/missing-workspac"),
        (f"{IAM}/users/bob", f"{IAM}/users/boc"),
        (f"{NEW}/namespaces/kube-system/pods/a", f"{NEW}/namespaces/kube-systen/pods/a"),
    ):
        found, other = (demo.send("GET", path, user=USER) for path in (there, missing))
        names = (there.rsplit("/")[-1], missing.rsplit("/")[-1])
        text = other.body.replace(names[1].encode(), names[0].encode())
        assert found.body == text.replace(b"kube-systen", b"kube-system")


def test_a_tenant_cannot_write_elsewhere(demo: Demo) -> None:
    body = json.dumps({"username": USER, "roleRef": "platform-admin"}).encode()
    binding = {"metadata": {"name": "mine"}, "roleRef": {"kind": "Role", "name": "admin"}}
    for method, path, given in (
        ("POST", f"{IAM}/users", b'{"metadata":{"name":"eve"},"spec":{"password":"P@88w0rd"}}'),
        ("PUT", f"{IAM}/users/bob/password", b'{"password":"Qwertz123!"}'),
        ("DELETE", f"{IAM}/users/bob", b""),
        ("POST", f"{IAM}/clustermembers", b'[{"username":"alice","roleRef":"cluster-admin"}]'),
        ("POST", f"{IAM}/workspaces/system-workspace/workspacemembers", body),
        ("POST", f"{IAM}/namespaces/kube-system/members", body),
        ("POST", f"{IAM}/namespaces/kube-system/rolebindings", json.dumps([binding]).encode()),
        ("POST", f"{IAM}/globalroles", b'{"metadata":{"name":"mine"}}'),
        (
            "POST",
            f"{TENANT}/workspaces/system-workspace/namespaces",
            b'{"metadata":{"name":"mine"}}',
        ),
        ("PATCH", f"{NEW_TENANT}/workspacetemplates/system-workspace", b"{}"),
        ("DELETE", f"{NEW_TENANT}/workspacetemplates/system-workspace", b""),
        (
            "POST",
            "/kapis/iam.kubesphere.io/v1alpha2/globalrolebindings",
            b'{"metadata":{"name":"a"}}',
        ),
    ):
        reply = demo.send(method, path, user=USER, body=given)
        assert reply.status == 403, (path, reply.body)


def test_a_user_cannot_change_own_permissions(demo: Demo) -> None:
    own = f"{IAM}/users/{USER}"
    role = {"metadata": {"annotations": {"iam.kubesphere.io/globalrole": "platform-admin"}}}
    state = [{"op": "replace", "path": "/status/state", "value": "Active"}]
    assert demo.send("PUT", own, user=USER, body=json.dumps(role).encode()).status == 403
    assert demo.send("PATCH", own, user=USER, body=json.dumps(state).encode()).status == 422
    assert demo.send("GET", own, user=USER).object["metadata"].get("annotations", {}).get(
        "iam.kubesphere.io/globalrole"
    ) != "platform-admin"  # fmt: skip
