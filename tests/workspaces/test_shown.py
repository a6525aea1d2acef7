"""Workspace pages show each part of a project only to users with permission to read it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.template.loader import render_to_string

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    JOBS,
    LIMIT_RANGES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import (
    Manifest,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.workspaces.fakes import TYPES, workspace_quota
from workspaces.names import SHARE
from workspaces.pages import overview, projects
from workspaces.pages.base import VisibleWorkspace, WorkspacePage

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


def seen_with(*rules: Manifest, more: Mapping[GVR, list[Any]] | None = None) -> VisibleWorkspace:
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
        **(more or {}),
    }
    types = dict.fromkeys((*TYPES, *objects))
    runtime = StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in types})
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


def test_project_list_counts_failing_objects_of_every_kind_that_the_viewer_may_list() -> None:
    failed = {"conditions": [{"type": "Failed", "status": "True"}]}
    meta = {"name": "import", "namespace": "shop", "uid": "u", "resourceVersion": "1"}
    more = {JOBS: [{"metadata": meta, "spec": {}, "status": failed}]}
    for given, count in (((), 0), ((rule("list", "jobs", "batch"),), 1)):
        [line] = overview._lines(seen_with(SHOP, *given, more=more))
        assert (line.name, line.failing) == ("shop", count)


def managed_workspace(*rules: Manifest) -> dict[GVR, list[Any]]:
    """Return a workspace with a manager, another administrator, and a member with `rules`."""
    meta = workspace("acme")
    return {
        WORKSPACES: [{**meta, "spec": {"manager": "boss"}}],
        WORKSPACE_ROLES: [
            workspace_role("acme-admin", "acme", rule("*", "*", "*")),
            workspace_role("acme-regular", "acme", *rules),
        ],
        WORKSPACE_ROLE_BINDINGS: [
            workspace_binding("boss", "acme", "acme-admin", "User boss"),
            workspace_binding("mia", "acme", "acme-admin", "User mia"),
            workspace_binding("nina", "acme", "acme-regular", "User nina"),
        ],
    }


LIST_MEMBERS = rule("list", "workspacemembers", "iam.kubesphere.io")


@pytest.mark.parametrize(
    ("rules", "names"), [((), "boss."), ((LIST_MEMBERS,), "boss, mia.")], ids=["regular", "lister"]
)
def test_members_who_see_no_project_read_whom_to_ask(
    rules: tuple[Manifest, ...], names: str
) -> None:
    values = overview._projects(seen_with(more=managed_workspace(*rules)))
    text = render_to_string("workspaces/_projects.html", dict(values))
    assert f"ask an administrator of this workspace: {names}" in text
    assert "No projects yet" not in text


@pytest.mark.parametrize("by_role", [True, False])
def test_a_workspace_without_projects_says_so_to_users_who_see_every_project(
    by_role: bool,
) -> None:
    given = rule("get", "namespaces")
    more = {**managed_workspace(*([given] if by_role else [])), NAMESPACES: []}
    values = overview._projects(seen_with(*([] if by_role else [given]), more=more))
    text = render_to_string("workspaces/_projects.html", dict(values))
    assert "No projects yet" in text and "boss" not in text


@pytest.mark.parametrize(
    "member", [True, False], ids=["with a role in the workspace", "without a role"]
)
def test_what_is_left_of_the_workspace_quota_requires_a_role_or_quota_permission(
    member: bool,
) -> None:
    more = {
        **managed_workspace(LIST_MEMBERS),
        CLUSTER_ROLES: [native_role("of-nina", HOME[0])],
    }
    if not member:
        more[WORKSPACE_ROLE_BINDINGS] = []
    seen = seen_with(more=more)
    opened: Any = WorkspacePage(seen.access, seen.workspace, None)  # type: ignore[arg-type]
    found = projects._quota_amounts(opened)
    # Each of the two projects has an own quota of five pods.
    assert found == ({"left": {"pods": 0}, "total": {"pods": 10}} if member else {})
