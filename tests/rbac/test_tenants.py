"""Workspace roles apply to the projects of the workspace only."""

from typing import Any

import pytest

from console.kube.controller import NotSynced
from console.kube.errors import Unavailable
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
    Key,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from tests.rbac.fakes import FakeRuntime, Manifest
from tests.rbac.objects import (
    native_binding,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.rbac.projecting import make_runtime, reconcile, reconcile_all
from tests.support.informers import bring, take_away

ADMIN = "quarterdeck:workspacerole:acme-admin"
ITSELF = f"{ADMIN}:workspace"
EVERYTHING = rule("*", "*", "*")


def acme(**more: list[Manifest]) -> FakeRuntime:
    """Return a runtime with two projects of acme, one project of another workspace and one without
    workspace. Alice has full access to acme.
    """
    return make_runtime(
        {
            WORKSPACES: [workspace("acme"), workspace("other")],
            NAMESPACES: [
                project("shop", "acme"),
                project("web", "acme"),
                project("theirs", "other"),
                project("kube-system"),
                *more.get("projects", []),
            ],
            WORKSPACE_ROLES: [
                workspace_role("acme-admin", "acme", EVERYTHING),
                *more.get("roles", []),
            ],
            WORKSPACE_ROLE_BINDINGS: [
                workspace_binding("alice-admin", "acme", "acme-admin", "User alice"),
                *more.get("bindings", []),
            ],
            ROLE_BINDINGS: more.get("native", []),
        }
    )


def bound(runtime: FakeRuntime, name: str = ADMIN) -> dict[str, list[str]]:
    """Return the subjects of the role, by project."""
    return {
        item["metadata"]["namespace"]: [subject["name"] for subject in item["subjects"]]
        for item in runtime.console.of(ROLE_BINDINGS).values()
        if item["metadata"]["name"] == name
    }


async def test_a_role_is_bound_in_each_project_of_its_workspace() -> None:
    runtime = acme()
    await reconcile(runtime, WORKSPACE_ROLES, "acme-admin")
    assert bound(runtime) == {"shop": ["alice"], "web": ["alice"]}
    assert runtime.console.of(CLUSTER_ROLES)[ADMIN]["rules"] == [EVERYTHING]
    found = runtime.console.of(ROLE_BINDINGS)[f"shop/{ADMIN}"]
    assert found["roleRef"]["name"] == ADMIN
    assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "quarterdeck"}
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == (
        "WorkspaceRole",
        "acme-admin",
        "uid-acme-admin",
    )


async def test_the_cluster_binding_grants_only_reading_the_workspace() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    assert set(runtime.console.of(CLUSTER_ROLE_BINDINGS)) == {ADMIN}
    found = runtime.console.of(CLUSTER_ROLE_BINDINGS)[ADMIN]
    assert found["roleRef"]["name"] == ITSELF
    assert runtime.console.of(CLUSTER_ROLES)[ITSELF]["rules"] == [
        rule("get list watch", resource, "tenant.kubesphere.io", names="acme")
        for resource in ("workspaces", "workspacetemplates")
    ]


async def test_a_role_without_permission_for_workspaces_gets_no_cluster_binding() -> None:
    runtime = acme(
        roles=[workspace_role("acme-pods", "acme", rule("get", "pods"))],
        bindings=[workspace_binding("bob-pods", "acme", "acme-pods", "User bob")],
    )
    await reconcile(runtime, WORKSPACE_ROLES, "acme-pods")
    assert runtime.console.of(CLUSTER_ROLE_BINDINGS) == {}
    assert set(bound(runtime, "quarterdeck:workspacerole:acme-pods")) == {"shop", "web"}


async def test_all_subjects_of_a_role_share_one_binding() -> None:
    runtime = acme(
        bindings=[
            workspace_binding("bob", "acme", "acme-admin", "User bob", "Group devs", "User alice")
        ]
    )
    await reconcile_all(runtime)
    assert bound(runtime) == {"shop": ["devs", "alice", "bob"], "web": ["devs", "alice", "bob"]}


async def test_a_second_reconciliation_writes_nothing() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    calls = list(runtime.console.calls)
    await reconcile_all(runtime)
    assert runtime.console.calls == calls


@pytest.mark.parametrize(
    "odd",
    [
        workspace_binding("b", "other", "acme-admin", "User mallory"),
        workspace_binding("b", "", "acme-admin", "User mallory"),
        workspace_binding("b", "acme", "other-admin", "User mallory"),
        workspace_binding("b", "acme", "template", "User mallory"),
        workspace_binding("b", "acme", "acme-admin", "User system:admin", "Group system:masters"),
        workspace_binding(
            "b", "acme", "acme-admin", "ServiceAccount shop/mallory", "User  mallory"
        ),
    ],
)
async def test_references_to_other_workspaces_and_reserved_names_grant_nothing(
    odd: Manifest,
) -> None:
    others = [
        workspace_role("other-admin", "other", EVERYTHING),
        workspace_role("template", "", EVERYTHING),
    ]
    runtime = acme(roles=others, bindings=[odd])
    await reconcile_all(runtime)
    assert bound(runtime) == {"shop": ["alice"], "web": ["alice"]}
    assert bound(runtime, "quarterdeck:workspacerole:other-admin") == {}
    assert bound(runtime, "quarterdeck:workspacerole:template") == {}


async def test_refused_roles_and_subjects_are_reported_as_events() -> None:
    wrong = workspace_binding("b", "other", "acme-admin", "User bob", "Group system:masters")
    runtime = acme(bindings=[wrong])
    await reconcile(runtime, WORKSPACE_ROLE_BINDINGS, "b")
    assert {e["reason"] for e in runtime.console.events} == {"RoleRefused", "SubjectsRefused"}


@pytest.mark.parametrize(
    "forged",
    [
        project("p", "acme", uid="of-another-workspace"),
        project("p", labels={"kubesphere.io/workspace": "acme"}),
        project("p", "acme", labels={}),
        project("p", "acme", labels={"kubesphere.io/workspace": "other"}),
        project("p", "gone"),
    ],
)
async def test_a_project_needs_a_matching_label_and_owner(forged: Manifest) -> None:
    runtime = acme(projects=[forged])
    await reconcile_all(runtime)
    assert "p" not in bound(runtime)


@pytest.mark.parametrize(
    "name", ["kube-system", "kubesphere-system", "quarterdeck-system", "quarterdeck-kubeconfigs"]
)
async def test_workspace_roles_never_apply_to_system_namespaces(name: str) -> None:
    """A user who may read all Secrets of a workspace must not read these, regardless of label and
    owner.
    """
    runtime = acme(projects=[project(name, "acme")])
    await reconcile_all(runtime)
    assert set(bound(runtime)) == {"shop", "web"}


async def test_bindings_follow_members_and_roles() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    moved = workspace_binding("alice-admin", "acme", "acme-viewer", "User alice")
    viewer = workspace_role("acme-viewer", "acme", rule("get list watch", "*", "*"))
    runtime.console.put(WORKSPACE_ROLES, viewer)
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, moved)
    await reconcile(runtime, WORKSPACE_ROLE_BINDINGS, "alice-admin")
    assert bound(runtime) == {}
    assert set(bound(runtime, "quarterdeck:workspacerole:acme-viewer")) == {"shop", "web"}
    last = runtime.console.of(WORKSPACE_ROLE_BINDINGS)["alice-admin"]
    take_away(runtime.informer(WORKSPACE_ROLE_BINDINGS), last)
    await reconcile(runtime, WORKSPACE_ROLE_BINDINGS, "alice-admin")
    assert runtime.console.of(ROLE_BINDINGS) == {}


async def test_a_failed_change_is_retried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(*args: object, **kwargs: object) -> None:
        raise Unavailable("away")

    runtime = acme()
    await reconcile_all(runtime)
    binding = workspace_binding("alice-admin", "acme", "acme-viewer", "User alice")
    bring(runtime.informer(WORKSPACE_ROLE_BINDINGS), binding)
    with monkeypatch.context() as patched, pytest.raises(Unavailable):
        patched.setattr(runtime.console, "delete", away)
        await reconcile(runtime, WORKSPACE_ROLE_BINDINGS, "alice-admin")
    await reconcile(runtime, WORKSPACE_ROLE_BINDINGS, "alice-admin")
    assert bound(runtime) == {}


async def test_bindings_are_deleted_with_the_role() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    role = runtime.informer(WORKSPACE_ROLES).store.get(Key("", "acme-admin"))
    assert role is not None
    take_away(runtime.informer(WORKSPACE_ROLES), role.original())
    await reconcile(runtime, WORKSPACE_ROLES, "acme-admin")
    for gvr in (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
        assert runtime.console.of(gvr) == {}


async def test_bindings_are_deleted_when_the_workspace_is_recreated() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    runtime.console.put(WORKSPACES, workspace("acme", uid="second"))
    await reconcile(runtime, WORKSPACES, "acme")
    assert bound(runtime) == {}


async def test_bindings_follow_projects_that_join_and_leave() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    runtime.console.put(NAMESPACES, project("new", "acme"))
    await reconcile(runtime, NAMESPACES, "new")
    assert set(bound(runtime)) == {"shop", "web", "new"}
    runtime.console.put(NAMESPACES, project("new", "other"))
    await reconcile(runtime, NAMESPACES, "new")
    assert set(bound(runtime)) == {"shop", "web"}


async def test_a_terminating_project_is_ignored() -> None:
    runtime = acme(projects=[project("old", "acme", deletionTimestamp="2026-03-01T12:00:00Z")])
    await reconcile_all(runtime)
    assert "old" not in bound(runtime)


@pytest.mark.parametrize(
    "change",
    [{"subjects": [{"kind": "User", "name": "mallory"}]}, {"subjects": None}, {"roleRef": {}}],
)
async def test_manual_changes_are_reverted(change: Manifest) -> None:
    runtime = acme()
    await reconcile_all(runtime)
    wanted = runtime.console.of(ROLE_BINDINGS)[f"shop/{ADMIN}"]
    runtime.console.put(ROLE_BINDINGS, {**wanted, **change})
    await reconcile(runtime, ROLE_BINDINGS, ADMIN, "shop")
    found = runtime.console.of(ROLE_BINDINGS)[f"shop/{ADMIN}"]
    assert (found["subjects"], found["roleRef"]) == (wanted["subjects"], wanted["roleRef"])


async def test_a_managed_binding_without_a_source_is_removed() -> None:
    forged = native_binding(
        "quarterdeck:workspacerole:acme-admin", "cluster-admin", "User bob", namespace="kube-system"
    )
    runtime = acme(native=[forged])
    await reconcile(runtime, ROLE_BINDINGS, ADMIN, "kube-system")
    assert "kube-system" not in bound(runtime)


async def test_bindings_of_other_clients_are_ignored() -> None:
    runtime = acme(native=[native_binding("theirs", "view", "User bob", namespace="shop")])
    await reconcile(runtime, ROLE_BINDINGS, "theirs", "shop")
    assert runtime.console.calls == []


@pytest.mark.parametrize(
    "missing",
    [
        WORKSPACE_ROLES,
        WORKSPACE_ROLE_BINDINGS,
        WORKSPACES,
        NAMESPACES,
        CLUSTER_ROLES,
        ROLE_BINDINGS,
    ],
)
async def test_nothing_is_written_before_all_caches_are_synced(missing: Any) -> None:
    runtime = acme()
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    for gvr, name, namespace in (
        (WORKSPACE_ROLES, "acme-admin", ""),
        (WORKSPACE_ROLE_BINDINGS, "alice-admin", ""),
        (NAMESPACES, "shop", ""),
        (ROLE_BINDINGS, ADMIN, "shop"),
    ):
        with pytest.raises(NotSynced):
            await reconcile(runtime, gvr, name, namespace)
    assert runtime.console.calls == []


async def test_a_disabled_user_is_removed_from_all_projects_until_enabled() -> None:
    bob = workspace_binding("bob-admin", "acme", "acme-admin", "User bob")
    runtime = acme(bindings=[bob])
    runtime.console.put(USERS, user("bob"))
    await reconcile_all(runtime)
    everybody = {"shop": ["alice", "bob"], "web": ["alice", "bob"]}
    assert bound(runtime) == everybody
    runtime.console.put(USERS, user("bob", state="Disabled"))
    await reconcile(runtime, USERS, "bob")
    assert bound(runtime) == {"shop": ["alice"], "web": ["alice"]}
    sight = runtime.console.of(CLUSTER_ROLE_BINDINGS)[ADMIN]
    assert [subject["name"] for subject in sight["subjects"]] == ["alice"]
    await reconcile_all(runtime)
    assert bound(runtime) == {"shop": ["alice"], "web": ["alice"]}
    runtime.console.put(USERS, user("bob"))
    await reconcile(runtime, USERS, "bob")
    assert bound(runtime) == everybody


async def test_a_role_of_disabled_users_only_is_not_bound() -> None:
    runtime = acme()
    await reconcile_all(runtime)
    runtime.console.put(USERS, user("alice", state="Disabled"))
    await reconcile(runtime, USERS, "alice")
    assert bound(runtime) == {}
    assert runtime.console.of(CLUSTER_ROLE_BINDINGS) == {}
