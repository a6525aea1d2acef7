"""The roles, workspaces and departments on the account page and before a user is deleted."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.users.assigned_roles import (
    AssignedRole,
    invite_links,
    platform_role_links,
    user_roles,
)
from console.kinds.users import DeleteUser
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import (
    IAM,
    Manifest,
    binding,
    global_role,
    native_binding,
    native_role,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.workspaces.fakes import TYPES

RBAC = "rbac.authorization.k8s.io"
EVERYTHING = rule("*", "*", "*")


def viewer(*rules: Manifest) -> Access:
    """Return the access of nina, who has these rules. mia has a role of each level."""
    objects: dict[GVR, list[Any]] = {
        USERS: [user("nina"), user("mia")],
        CLUSTER_ROLES: [native_role("of-nina", *rules), native_role("reader", rule("get", "pods"))],
        CLUSTER_ROLE_BINDINGS: [
            native_binding("of-nina", "of-nina", "User nina"),
            native_binding("of-mia", "reader", "User mia"),
        ],
        ROLES: [native_role("viewer", rule("get", "pods"), namespace="shop")],
        ROLE_BINDINGS: [native_binding("mia", "viewer", "User mia", namespace="shop", kind="Role")],
        GLOBAL_ROLES: [global_role("helpers", rule("get", "users", IAM))],
        GLOBAL_ROLE_BINDINGS: [binding("mia-helpers", ("User", "mia"), role="helpers")],
        WORKSPACES: [workspace("acme"), workspace("other")],
        WORKSPACE_ROLES: [workspace_role("acme-regular", "acme", rule("get", "workspaces", "*"))],
        # Two bindings grant the same role.
        WORKSPACE_ROLE_BINDINGS: [
            workspace_binding(name, "acme", "acme-regular", "User mia")
            for name in ("mia", "mia-again")
        ],
    }
    set_host_cluster(
        StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in (*TYPES, ROLES)})
    )
    access = clusters.host.access_for(Identity("nina"))
    assert access is not None
    return access


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    yield
    unset_host_cluster()


def names(roles: tuple[AssignedRole, ...]) -> set[tuple[str, str]]:
    return {(role.role, role.where) for role in roles}


def test_roles_of_all_levels_are_listed_with_links() -> None:
    found = user_roles(viewer(EVERYTHING), "mia")
    urls = {(role.role, role.where): (role.url, role.where_url) for role in found.roles}
    assert len(found.roles) == len(urls)
    assert urls == {
        ("helpers", ""): ("/access/roles/global/helpers", ""),
        ("acme-regular", "acme"): ("/access/roles/workspace/acme-regular", "/workspaces/acme"),
        ("reader", ""): ("/access/roles/cluster/reader", ""),
        ("viewer", "shop"): (
            "/access/roles/project/shop/viewer",
            "/clusters/host/projects/shop",
        ),
    }


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (None, set()),
        (rule("list", "clusterrolebindings", RBAC), {("reader", "")}),
        (rule("list", "rolebindings", RBAC), {("viewer", "shop")}),
        (rule("list", "globalrolebindings", IAM), {("helpers", "")}),
        (rule("list", "workspacerolebindings", IAM), {("acme-regular", "acme")}),
    ],
)
def test_each_role_requires_permission_to_list_its_bindings(
    given: Manifest | None, seen: set[tuple[str, str]]
) -> None:
    found = user_roles(viewer(rule("get", "users", IAM), *([given] if given else [])), "mia")
    assert names(found.roles) == seen
    assert not any(role.url or role.where == "acme" and role.where_url for role in found.roles)


def test_links_fill_in_the_user_and_require_permission() -> None:
    access = viewer(EVERYTHING)
    assert [(link.name, link.url) for link in platform_role_links(access, "mia")] == [
        ("helpers", "/access/roles/global/helpers?subject=mia#grant-title")
    ]
    assert [(link.name, link.url) for link in invite_links(access, "mia")] == [
        ("acme", "/workspaces/acme/members/invite?user=mia"),
        ("other", "/workspaces/other/members/invite?user=mia"),
    ]
    access = viewer(rule("get list", "users workspaces", "*"))
    assert not platform_role_links(access, "mia") and not invite_links(access, "mia")


async def test_the_confirmation_of_a_deletion_lists_the_roles_of_the_user() -> None:
    access = viewer(EVERYTHING)
    kind, key = kinds.by_type(USERS), Key("", "mia")
    entry = access.cluster.runtime.informer(USERS).store.get(key)
    assert kind is not None and entry is not None
    html = await DeleteUser().extra_html(Subject(kind, key, entry, access, {}, "host"), None)
    assert all(name in html for name in ("helpers", "acme-regular", "reader", "viewer"))
