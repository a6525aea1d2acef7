"""Projection of platform roles: platform administrators become cluster administrators, and no other
user does.
"""

from typing import Any

import pytest

from console.kube.controller import NotSynced, Result
from console.kube.errors import Conflict, Forbidden
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    USERS,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from rbac.names import GLOBAL_ROLE, projected_name
from tests.rbac.fakes import FakeRuntime, Manifest
from tests.rbac.objects import binding, global_role, rule, user
from tests.rbac.projecting import make_runtime, reconcile
from tests.support.informers import bring, take_away

IAM, TENANT, DEVOPS = "iam.kubesphere.io", "tenant.kubesphere.io", "devops.kubesphere.io"
READ = "get list watch"
NAME = "quarterdeck:globalrolebinding:admins"


def make(
    *bindings: Manifest, projected: tuple[Manifest, ...] = (), roles: tuple[Manifest, ...] = ()
) -> FakeRuntime:
    return make_runtime(
        {
            GLOBAL_ROLE_BINDINGS: [*bindings],
            CLUSTER_ROLE_BINDINGS: [*projected],
            GLOBAL_ROLES: [*roles],
        }
    )


async def sync(runtime: FakeRuntime, name: str = "admins") -> Result:
    return await reconcile(runtime, GLOBAL_ROLE_BINDINGS, name)


async def sync_other_side(runtime: FakeRuntime, name: str = NAME) -> Result:
    return await reconcile(runtime, CLUSTER_ROLE_BINDINGS, name)


def projected(runtime: FakeRuntime) -> dict[str, Any]:
    return runtime.console.of(CLUSTER_ROLE_BINDINGS)


async def test_a_binding_to_platform_admin_gets_a_cluster_role_binding() -> None:
    runtime = make(binding("admins", ("User", "admin"), ("Group", "ops")))
    await sync(runtime)
    found = projected(runtime)[NAME]
    assert found["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    }
    assert [(s["kind"], s["name"], s["apiGroup"]) for s in found["subjects"]] == [
        ("User", "admin", "rbac.authorization.k8s.io"),
        ("Group", "ops", "rbac.authorization.k8s.io"),
    ]
    assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "quarterdeck"}
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == (
        "GlobalRoleBinding",
        "admins",
        "uid-admins",
    )
    assert [e["reason"] for e in runtime.console.events] == ["Synced"]


async def test_a_second_reconciliation_writes_nothing() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    calls = list(runtime.console.calls)
    await sync(runtime)
    await sync_other_side(runtime)
    assert runtime.console.calls == calls


@pytest.mark.parametrize(
    "source",
    [
        binding("admins", ("User", "alice"), role="platform-regular"),
        binding("admins", ("User", "alice"), kind="WorkspaceRole"),
        binding("admins"),
        binding("admins", ("User", "system:admin"), ("Group", "system:authenticated")),
        binding("admins", ("ServiceAccount", "default"), ("User", "älice"), ("User", " x")),
    ],
)
async def test_other_roles_and_reserved_names_are_not_projected(source: Manifest) -> None:
    runtime = make(source)
    await sync(runtime)
    assert projected(runtime) == {}


async def test_reserved_subjects_are_left_out_and_reported() -> None:
    runtime = make(binding("admins", ("User", "admin"), ("Group", "system:masters")))
    await sync(runtime)
    assert [s["name"] for s in projected(runtime)[NAME]["subjects"]] == ["admin"]
    warning = next(e for e in runtime.console.events if e["type"] == "Warning")
    assert warning["reason"] == "SubjectsRefused"
    assert "system:masters" in warning["message"]


async def test_the_projection_follows_changes_of_the_source() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.put(GLOBAL_ROLE_BINDINGS, binding("admins", ("User", "alice")))
    await sync(runtime)
    assert [s["name"] for s in projected(runtime)[NAME]["subjects"]] == ["alice"]
    changed = binding("admins", ("User", "alice"), role="platform-regular")
    runtime.console.put(GLOBAL_ROLE_BINDINGS, changed)
    await sync(runtime)
    assert projected(runtime) == {}


async def test_the_projection_is_deleted_with_the_source() -> None:
    source = binding("admins", ("User", "admin"))
    runtime = make(source)
    await sync(runtime)
    take_away(
        runtime.informer(GLOBAL_ROLE_BINDINGS), runtime.console.of(GLOBAL_ROLE_BINDINGS)["admins"]
    )
    await sync(runtime)
    assert projected(runtime) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"subjects": [{"kind": "User", "name": "mallory"}]},
        {"subjects": None},
        {"metadata": {"labels": None}},
        {"metadata": {"ownerReferences": None}},
        {"roleRef": {"name": "view"}},
    ],
)
async def test_manual_changes_are_reverted(change: Manifest) -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    wanted = projected(runtime)[NAME]
    from_hand = {**wanted, **change}
    meta = {**wanted["metadata"], **change.get("metadata", {})}
    others = {"labels": {**(meta["labels"] or {}), "team": "crew"}, "annotations": {"keep": "me"}}
    from_hand["metadata"] = meta | others
    if "roleRef" in change:
        from_hand["roleRef"] = {**wanted["roleRef"], **change["roleRef"]}
    runtime.console.put(CLUSTER_ROLE_BINDINGS, from_hand)
    await sync_other_side(runtime)
    found = projected(runtime)[NAME]
    for field in ("subjects", "roleRef"):
        assert found[field] == wanted[field]
    # Labels and annotations of other clients remain, unless the binding had to be recreated.
    stays = {} if "roleRef" in change else others
    assert found["metadata"].get("annotations") == stays.get("annotations")
    labels = {"team": "crew"} if stays else {}
    assert found["metadata"]["labels"] == wanted["metadata"]["labels"] | labels
    assert found["metadata"]["ownerReferences"] == wanted["metadata"]["ownerReferences"]


async def test_a_deleted_projection_is_recreated() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    found = runtime.console.of(CLUSTER_ROLE_BINDINGS)[NAME]
    del runtime.console.objects[CLUSTER_ROLE_BINDINGS, NAME]
    take_away(runtime.informer(CLUSTER_ROLE_BINDINGS), found)
    await sync_other_side(runtime)
    assert NAME in projected(runtime)


async def test_a_recreated_source_becomes_the_owner() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.put(GLOBAL_ROLE_BINDINGS, binding("admins", ("User", "admin"), uid="second"))
    await sync(runtime)
    (owner,) = projected(runtime)[NAME]["metadata"]["ownerReferences"]
    assert owner["uid"] == "second"


async def test_bindings_of_other_clients_are_ignored() -> None:
    other = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "theirs", "uid": "u", "resourceVersion": "1"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    }
    runtime = make(projected=(other,))
    await sync_other_side(runtime, "theirs")
    assert runtime.console.calls == []


@pytest.mark.parametrize(
    "missing", [GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS]
)
async def test_nothing_is_written_before_all_caches_are_synced(missing: Any) -> None:
    runtime = make(binding("admins", ("User", "admin")))
    before = list(runtime.console.calls)
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    with pytest.raises(NotSynced):
        await sync(runtime)
    with pytest.raises(NotSynced):
        await sync_other_side(runtime)
    for gvr, name in ((GLOBAL_ROLES, "ops"), (CLUSTER_ROLES, projected_name(GLOBAL_ROLE, "ops"))):
        with pytest.raises(NotSynced):
            await reconcile(runtime, gvr, name)
    assert runtime.console.calls == before


async def test_a_stale_cache_causes_a_conflict_instead_of_an_overwrite() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.delayed = True
    newer = {**projected(runtime)[NAME], "subjects": [{"kind": "User", "name": "mallory"}]}
    bring(runtime.informer(CLUSTER_ROLE_BINDINGS), newer)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, {**newer, "subjects": []})
    with pytest.raises(Conflict):
        await sync(runtime)


async def test_a_failed_event_does_not_stop_the_projection() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    runtime.console.fail_events = Forbidden(403, "no")
    await sync(runtime)
    assert NAME in projected(runtime)


# Other platform roles.

AUDITOR = "quarterdeck:globalrole:auditor"


async def given(*rules: Manifest, runtime: FakeRuntime | None = None) -> list[Manifest] | None:
    """Return the rules of the ClusterRole projected from a platform role with `rules`."""
    runtime = runtime or make(roles=(global_role("auditor", *rules),))
    await reconcile(runtime, GLOBAL_ROLES, "auditor")
    found = runtime.console.of(CLUSTER_ROLES).get(AUDITOR)
    return None if found is None else list(found["rules"])


async def test_a_platform_role_and_its_bindings_become_native_ones() -> None:
    look = rule("get list", "pods deployments", "core apps")
    runtime = make(
        binding("bob-auditor", ("User", "bob"), role="auditor"),
        roles=(global_role("auditor", look),),
    )
    assert await given(runtime=runtime) == [look]
    found = projected(runtime)["quarterdeck:globalrolebinding:bob-auditor"]
    assert found["roleRef"]["name"] == AUDITOR
    assert [subject["name"] for subject in found["subjects"]] == ["bob"]
    (owner,) = runtime.console.of(CLUSTER_ROLES)[AUDITOR]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("GlobalRole", "auditor")


@pytest.mark.parametrize("role", ["missing", "empty", "system:x"])
async def test_missing_and_empty_roles_are_not_projected(role: str) -> None:
    source = binding("b", ("User", "bob"), role=role)
    runtime = make(source, roles=(global_role("empty"),))
    await reconcile(runtime, GLOBAL_ROLE_BINDINGS, "b")
    await reconcile(runtime, GLOBAL_ROLES, role)
    assert projected(runtime) == {}
    assert runtime.console.of(CLUSTER_ROLES) == {}


async def test_deleting_a_platform_role_deletes_its_projection() -> None:
    role = global_role("auditor", rule("get", "pods"))
    runtime = make(binding("b", ("User", "bob"), role="auditor"), roles=(role,))
    await given(runtime=runtime)
    assert projected(runtime)
    take_away(runtime.informer(GLOBAL_ROLES), role)
    await reconcile(runtime, GLOBAL_ROLES, "auditor")
    assert projected(runtime) == {}
    assert runtime.console.of(CLUSTER_ROLES) == {}


async def test_manually_changed_rules_are_reverted() -> None:
    runtime = make(roles=(global_role("auditor", rule("get", "pods")),))
    await given(runtime=runtime)
    from_hand = {**runtime.console.of(CLUSTER_ROLES)[AUDITOR], "rules": [rule("*", "*", "*")]}
    runtime.console.put(CLUSTER_ROLES, from_hand)
    await reconcile(runtime, CLUSTER_ROLES, AUDITOR)
    assert runtime.console.of(CLUSTER_ROLES)[AUDITOR]["rules"] == [rule("get", "pods")]


VERBS = "create delete deletecollection get list patch update watch"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        # KubeSphere has only these verbs.
        (rule("*", "nodes"), [rule(VERBS, "nodes")]),
        (
            rule("get impersonate bind escalate", "serviceaccounts"),
            [rule("get", "serviceaccounts")],
        ),
        (rule("impersonate", "users"), []),
        # KubeSphere's paths are not kube-apiserver's paths.
        (rule("*", "", paths="*"), []),
        # Only platform administrators grant permissions.
        (
            rule("*", "users", "iam.kubesphere.io"),
            [rule("get list watch", "users", "iam.kubesphere.io")],
        ),
        (rule("create", "globalrolebindings", "*"), []),
        (
            rule("get create", "globalroles pods", "core iam.kubesphere.io"),
            [
                rule("get create", "pods", "core iam.kubesphere.io"),
                rule("get create", "globalroles"),
                rule("get", "globalroles", "iam.kubesphere.io"),
            ],
        ),
        (rule("*", "*", "*"), [rule("get list watch", "*", "*")]),
        # KubeSphere's API server serves WorkspaceTemplates as `workspaces`.
        (
            rule("*", "workspaces", "*"),
            [rule(VERBS, "workspaces", "*"), rule(VERBS, "workspacetemplates", TENANT)],
        ),
        (
            rule("create escalate", "workspaces pods", TENANT, names="shop"),
            [
                rule("create", "workspaces pods", TENANT, names="shop"),
                rule("create", "workspacetemplates", TENANT, names="shop"),
            ],
        ),
        (rule("get", "workspaces", "core"), [rule("get", "workspaces", "core")]),
        (
            rule("get", "workspaces workspacetemplates", TENANT),
            [rule("get", "workspaces workspacetemplates", TENANT)],
        ),
        (
            rule("*", "users/loginrecords", "*"),
            [rule(READ, "users/loginrecords", "*"), rule(READ, "loginrecords", IAM)],
        ),
        (
            rule("*", "users/loginrecords", IAM, names="ann"),
            [rule(READ, "users/loginrecords", IAM, names="ann")],
        ),
        (
            rule("create", "devops", "*"),
            [rule("create", "devops", "*"), rule("create", "devopsprojects", DEVOPS)],
        ),
        (rule("update", "*/status", "*"), []),
        (rule("update", "users/status", "iam.kubesphere.io"), []),
        (rule("delete", "*", "apps"), [rule("delete", "*", "apps")]),
        (rule("get", "pods", names="web"), [rule("get", "pods", names="web")]),
        ({"verbs": ["get"]}, []),
        ({"verbs": [], "apiGroups": [""], "resources": ["pods"]}, []),
        ({"verbs": "get"}, []),
    ],
)
async def test_projected_rules_contain_only_permissions_that_kubesphere_grants(
    said: Manifest, meant: list[Manifest]
) -> None:
    assert _sorted(await given(said) or []) == _sorted(meant)


def _sorted(rules: list[Manifest]) -> list[Manifest]:
    return [{key: sorted(value) for key, value in found.items()} for found in rules]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (rule("*", "users pods", "*"), ["RulesLeftOut"]),
        (rule("get", "users", "*"), []),
        (rule("*", "users", "core"), []),
        (rule("*", "pods", "*"), []),
    ],
)
async def test_omitted_rules_are_reported_as_an_event(said: Manifest, told: list[str]) -> None:
    runtime = make(roles=(global_role("auditor", said),))
    await given(runtime=runtime)
    assert [event["reason"] for event in runtime.console.events] == told


# Disabled users. A subject without a User object is a user with a client certificate.


def subjects(runtime: FakeRuntime) -> list[str]:
    found = projected(runtime).get(NAME)
    return [subject["name"] for subject in found["subjects"]] if found else []


async def change(runtime: FakeRuntime, name: str, state: str, **metadata: Any) -> None:
    runtime.console.put(USERS, user(name, state=state, **metadata))
    await reconcile(runtime, USERS, name)


async def test_a_disabled_user_is_removed_from_bindings_until_enabled() -> None:
    runtime = make(binding("admins", ("User", "alice"), ("User", "bob"), ("User", "by-hand")))
    for name in ("alice", "bob"):
        runtime.console.put(USERS, user(name))
    await sync(runtime)
    assert subjects(runtime) == ["alice", "bob", "by-hand"]
    await change(runtime, "bob", "Disabled")
    assert subjects(runtime) == ["alice", "by-hand"]
    # A reconciliation of the source or of the projection doesn't add the user again.
    await sync(runtime)
    await sync_other_side(runtime)
    assert subjects(runtime) == ["alice", "by-hand"]
    await change(runtime, "bob", "Active")
    assert subjects(runtime) == ["alice", "bob", "by-hand"]


@pytest.mark.parametrize(
    ("state", "left"),
    [("Disabled", []), ("Retired", []), ("AuthLimitExceeded", ["bob"]), ("", ["bob"])],
)
async def test_a_binding_with_only_disabled_users_is_removed(state: str, left: list[str]) -> None:
    """A lockout does not remove permissions, because other people can cause it."""
    runtime = make(binding("admins", ("User", "bob")))
    await sync(runtime)
    await change(runtime, "bob", state)
    assert subjects(runtime) == left


async def test_a_terminating_user_loses_platform_roles() -> None:
    runtime = make(binding("admins", ("User", "bob")))
    await sync(runtime)
    await change(runtime, "bob", "Active", deletionTimestamp="2026-03-01T12:00:00Z")
    assert subjects(runtime) == []


async def test_a_user_enabled_before_reconciliation_keeps_the_binding() -> None:
    """Both changes are coalesced into one reconciliation, so the result of the first must not
    persist.
    """
    runtime = make(binding("admins", ("User", "bob")))
    runtime.console.put(USERS, user("bob", state="Disabled"))
    await sync(runtime)
    assert subjects(runtime) == []
    await change(runtime, "bob", "Active")
    assert subjects(runtime) == ["bob"]


async def test_a_group_with_the_name_of_a_disabled_user_stays() -> None:
    runtime = make(binding("admins", ("Group", "bob")))
    await sync(runtime)
    await change(runtime, "bob", "Disabled")
    assert subjects(runtime) == ["bob"]


async def test_unrelated_user_changes_write_nothing() -> None:
    runtime = make(binding("admins", ("User", "bob")))
    runtime.console.put(USERS, user("bob"))
    await sync(runtime)
    calls = list(runtime.console.calls)
    await change(runtime, "bob", "Active", annotations={"login": "now"})
    assert runtime.console.calls == calls


async def test_nothing_is_written_before_users_are_synced() -> None:
    runtime = make(binding("admins", ("User", "bob")))
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    with pytest.raises(NotSynced):
        await reconcile(runtime, USERS, "bob")
    with pytest.raises(NotSynced):
        await sync(runtime)
    assert projected(runtime) == {}
