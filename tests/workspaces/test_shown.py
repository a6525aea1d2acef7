"""Workspace pages show each part of a project only to users with permission to read it."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.informers import preloaded
from tests.rbac.objects import (
    Manifest,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace,
)
from tests.staticruntime import StaticRuntime
from tests.workspaces.fakes import TYPES, workspace_quota
from workspaces.names import SHARE
from workspaces.pages import overview, projects
from workspaces.pages.base import VisibleWorkspace

HOME = (
    rule("get", "workspaces", "tenant.kubesphere.io"),
    rule("get", "resourcequotas", "quota.kubesphere.io"),
)
SHOP = rule("get", "namespaces", names="shop")


def quota(name: str, namespace: str) -> Manifest:
    meta = {"name": name, "namespace": namespace, "uid": f"u-{name}", "resourceVersion": "1"}
    hard = {"pods": "5"}
    return {"metadata": meta, "spec": {"hard": hard}, "status": {"hard": hard, "used": {}}}


def limits(namespace: str) -> Manifest:
    meta = {"name": namespace, "namespace": namespace, "uid": "u-limits", "resourceVersion": "1"}
    item = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}
    return {"metadata": meta, "spec": {"limits": [item]}}


def seen_with(*rules: Manifest) -> VisibleWorkspace:
    objects: dict[GVR, list[Any]] = {
        USERS: [user("nina"), user("mia")],
        CLUSTER_ROLES: [native_role("of-nina", *HOME, *rules)],
        CLUSTER_ROLE_BINDINGS: [native_binding("of-nina", "of-nina", "User nina")],
        WORKSPACES: [workspace("acme")],
        WORKSPACE_QUOTAS: [workspace_quota("acme", pods="10")],
        NAMESPACES: [project("shop", "acme"), project("till", "acme")],
        RESOURCE_QUOTAS: [quota(of, name) for name in ("shop", "till") for of in (name, SHARE)],
        LIMIT_RANGES: [limits("shop")],
        ROLE_BINDINGS: [native_binding("mia", "viewer", "User mia", namespace="shop", kind="Role")],
    }
    runtime = StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in TYPES})
    set_host_cluster(runtime)
    access = clusters.host.access_for(Identity("nina"))
    entry = runtime.informer(WORKSPACES).store.get(Key("", "acme"))
    assert access is not None and entry is not None
    return VisibleWorkspace(access, entry.projection)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    yield
    unset_host_cluster()


PARTS = {
    "own": rule("list", "resourcequotas"),
    "share": rule("list", "resourcequotas"),
    "limits": rule("list", "limitranges"),
    "limits_url": rule("update", "limitranges"),
    "members": rule("list", "rolebindings", "rbac.authorization.k8s.io"),
    "member_url": rule("create", "rolebindings", "rbac.authorization.k8s.io"),
}


@pytest.mark.parametrize("given", [None, *PARTS])
def test_each_part_of_a_project_requires_its_permission(given: str | None) -> None:
    right = PARTS[given] if given else None
    values = projects._project(seen_with(SHOP, *([right] if right else ())), "shop")
    assert {part for part in PARTS if values[part]} == {
        part for part, needs in PARTS.items() if needs == right
    }


def test_quota_shares_list_only_visible_projects() -> None:
    shares = overview._quota(seen_with(SHOP, rule("list", "resourcequotas")))["shares"]
    assert [name for name, uses in shares if uses] == ["shop"]
    shares = overview._quota(seen_with(SHOP))["shares"]
    assert shares == [("shop", [])]


def test_share_usage_requires_permission_to_read_quotas() -> None:
    """Applies to project lists too."""
    for given, shown in (((), False), ((rule("list", "resourcequotas"),), True)):
        [line] = overview._lines(seen_with(SHOP, *given))
        assert line.name == "shop"
        assert bool(line.fullest) is shown
