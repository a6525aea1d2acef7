"""Workspace permissions: users can't grant more than they hold."""

from collections.abc import Iterator

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from rbac.rules import parse_rules
from tests.rbac.objects import (
    IAM,
    Manifest,
    native_binding,
    native_role,
    rule,
    user,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import bob
from workspaces.rights import DEPARTMENTS, MEMBERS, WorkspaceRights, may_see_quota


def holder(*rules: Manifest, platform: bool = False) -> WorkspaceRights:
    return WorkspaceRights(bob(), "acme", parse_rules([*rules]), platform)


@pytest.mark.parametrize(
    ("held", "given", "covered"),
    [
        (rule("*", "*", "*"), rule("*", "*", "*"), True),
        (rule("get list watch", "*", "*"), rule("get", "pods"), True),
        (rule("get list watch", "*", "*"), rule("*", "*", "*"), False),
        (rule("get", "pods"), rule("get", "pods/log"), False),
        (rule("get", "pods pods/log"), rule("get", "pods/log"), True),
        (rule("get", "pods"), rule("get", "pods", names="one"), True),
        (rule("get", "pods", names="one"), rule("get", "pods"), False),
        (rule("get", "pods", names="one"), rule("get", "pods", names="two"), False),
        (rule("get", "pods", names="one two"), rule("get", "pods", names="two"), True),
        (rule("create", "namespaces"), rule("create", "namespaces", "*"), False),
        (rule("get", "*/log", "*"), rule("get", "pods/log"), True),
        (rule("get", "*", "apps"), rule("get", "*", "core"), False),
    ],
)
def test_held_rules_cover_given_rules(held: Manifest, given: Manifest, covered: bool) -> None:
    assert holder(held).holds(parse_rules([given])) is covered


def test_several_rules_cover_one_together() -> None:
    mine = holder(rule("get", "pods"), rule("list", "pods"))
    assert mine.holds(parse_rules([rule("get list", "pods")]))
    assert not mine.holds(parse_rules([rule("get list watch", "pods")]))


def test_empty_rules_are_always_held_and_platform_administrators_hold_all_rules() -> None:
    assert holder().holds(())
    assert not holder().holds(parse_rules([rule("get", "pods")]))
    assert holder(platform=True).holds(parse_rules([rule("*", "*", "*")]))


def test_use_cases_check_kubesphere_resources() -> None:
    provisioner = holder(rule("create", "namespaces devops", "*"))
    assert provisioner.is_allowed("create", NAMESPACES)
    assert not provisioner.is_allowed("create", MEMBERS)
    viewer = holder(rule("get list watch", "*", "*"))
    assert viewer.is_allowed("list", MEMBERS)
    assert not any(viewer.is_allowed(verb, MEMBERS) for verb in ("create", "update", "delete"))


def test_permissions_from_outside_come_only_from_platform_roles() -> None:
    rules = parse_rules([rule("update", "groups", IAM)])
    for own, platform, outside in (((), False, True), (rules, False, False), ((), True, False)):
        rights = WorkspaceRights(bob(), "acme", rules, platform, own)
        assert rights.is_allowed_by_platform_only("update", DEPARTMENTS) is outside
        assert not rights.is_allowed_by_platform_only("delete", DEPARTMENTS)


@pytest.fixture
def shared() -> Iterator[None]:
    """`ann` is a member of `acme`, `leo` may list workspaces, `kim` may read quotas, and `ned` has
    no permissions.
    """
    lists = native_role("lists", rule("list get", "workspaces", "tenant.kubesphere.io"))
    reads = native_role("reads", rule("get", "resourcequotas", "quota.kubesphere.io"))
    regular = rule("get", "workspaces", "tenant.kubesphere.io")
    objects = {
        USERS: [user(name) for name in ("ann", "leo", "kim", "ned")],
        ROLES: [],
        ROLE_BINDINGS: [],
        CLUSTER_ROLES: [lists, reads],
        CLUSTER_ROLE_BINDINGS: [
            native_binding("leo", "lists", "User leo"),
            native_binding("kim", "reads", "User kim"),
        ],
        WORKSPACE_ROLES: [workspace_role("acme-regular", "acme", regular)],
        WORKSPACE_ROLE_BINDINGS: [workspace_binding("ann", "acme", "acme-regular", "User ann")],
    }
    set_host_cluster(StaticRuntime({gvr: preloaded(gvr, of) for gvr, of in objects.items()}))
    yield
    unset_host_cluster()


@pytest.mark.parametrize(
    ("who", "workspace", "sees"),
    [
        ("ann", "acme", True),
        ("ann", "other", False),
        ("leo", "acme", False),
        ("kim", "acme", True),
        ("kim", "other", True),
        ("ned", "acme", False),
    ],
)
def test_members_and_quota_readers_may_see_the_quota(
    shared: None, who: str, workspace: str, sees: bool
) -> None:
    access = clusters.host.access_for(Identity(who))
    assert access is not None
    assert may_see_quota(access, workspace) is sees
