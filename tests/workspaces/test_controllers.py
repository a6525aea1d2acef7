"""Workspaces and projects converge to their templates and labels, regardless of crashes and
ordering.
"""

import asyncio
from contextlib import suppress
from random import Random
from typing import Any, cast

import pytest

from console.kube.controller import GroupingReconciler, NotSynced, Request
from console.kube.errors import ApiError, Conflict, Invalid, Unavailable
from console.kube.gvr import (
    CLUSTER_ROLES,
    EVENTS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.projections.namespace import SYSTEM_NAMESPACES
from console.kube.runtime import Runtime
from rbac.apply import apply_state
from tests.rbac.fakes import Manifest
from tests.rbac.objects import binding, global_role, rule, workspace_binding, workspace_role
from tests.support.depth import SEED, number
from tests.workspaces.fakes import (
    TenantRuntime,
    meaning,
    new_project,
    reconcile,
    settle,
    template,
    workspace_quota,
)
from workspaces.controllers import FACTORIES, WorkspaceReconciliation
from workspaces.names import SHARE, owner_of

ADMIN = "quarterdeck:workspacerole:acme-admin"


def acme(*projects: Manifest, **more: list[Manifest]) -> TenantRuntime:
    return TenantRuntime(
        {
            WORKSPACE_TEMPLATES: [template("acme", "alice")],
            NAMESPACES: [*projects],
            WORKSPACE_QUOTAS: more.get("quotas", []),
        }
    )


def change(runtime: TenantRuntime, gvr: GVR, name: str, **metadata: Any) -> None:
    """Merge fields into the metadata. None removes a field."""
    item = runtime.console.of(gvr)[name]
    meta = dict(item["metadata"])
    for field, value in metadata.items():
        if isinstance(value, dict):
            merged = {**meta.get(field, {}), **value}
            meta[field] = {k: v for k, v in merged.items() if v is not None}
        else:
            meta[field] = value
    runtime.console.put(gvr, {**item, "metadata": meta})


def delete(runtime: TenantRuntime, gvr: GVR, name: str) -> None:
    runtime.console.mark(gvr, runtime.console.of(gvr)[name])


async def test_a_template_becomes_a_workspace_with_roles_and_a_manager() -> None:
    runtime = await settle(acme())
    assert runtime.console.of(WORKSPACES)["acme"]["spec"] == {"manager": "alice"}
    assert set(runtime.console.of(WORKSPACE_ROLES)) == {
        "acme-admin",
        "acme-viewer",
        "acme-regular",
        "acme-self-provisioner",
    }
    bound = runtime.console.of(WORKSPACE_ROLE_BINDINGS)["acme-admin"]
    assert bound["roleRef"]["name"] == "acme-admin"
    assert [subject["name"] for subject in bound["subjects"]] == ["alice"]
    for gvr in (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS):
        for item in runtime.console.of(gvr).values():
            assert item["metadata"]["labels"]["kubesphere.io/workspace"] == "acme"
            assert item["metadata"]["ownerReferences"][0]["uid"] == "uid-of-acme"


async def test_a_new_manager_replaces_the_previous_one() -> None:
    runtime = await settle(acme())
    runtime.console.put(WORKSPACE_TEMPLATES, {
        **runtime.console.of(WORKSPACE_TEMPLATES)["acme"],
        "spec": {"template": {"spec": {"manager": "bob", "networkIsolation": True}}},
    })  # fmt: skip
    runtime = await settle(runtime)
    bound = runtime.console.of(WORKSPACE_ROLE_BINDINGS)["acme-admin"]
    assert [subject["name"] for subject in bound["subjects"]] == ["bob"]
    assert runtime.console.of(WORKSPACES)["acme"]["spec"] == {
        "manager": "bob",
        "networkIsolation": True,
    }
    runtime.console.put(WORKSPACE_TEMPLATES, {
        **runtime.console.of(WORKSPACE_TEMPLATES)["acme"],
        "spec": {"template": {"spec": {"manager": "bob"}}},
    })  # fmt: skip
    runtime = await settle(runtime)
    assert runtime.console.of(WORKSPACES)["acme"]["spec"] == {"manager": "bob"}


@pytest.mark.parametrize("manager", ["", "system:admin", " alice", "system:serviceaccount:a:b"])
async def test_an_invalid_manager_name_gets_no_binding(manager: str) -> None:
    runtime = TenantRuntime({WORKSPACE_TEMPLATES: [template("acme", manager)]})
    runtime = await settle(runtime)
    assert runtime.console.of(WORKSPACE_ROLE_BINDINGS) == {}


async def test_a_new_project_gets_roles_limits_and_bindings() -> None:
    runtime = await settle(acme(new_project("shop", "acme", "bob")))
    meta = runtime.console.of(NAMESPACES)["shop"]["metadata"]
    assert "quarterdeck.io/preparing" not in meta["annotations"]
    assert {"shop/admin", "shop/operator", "shop/viewer"} == set(runtime.console.of(ROLES))
    assert runtime.console.of(LIMIT_RANGES)["shop/shop"]["spec"]["limits"][0]["type"] == "Container"
    bindings = runtime.console.of(ROLE_BINDINGS)
    assert bindings["shop/bob-admin"]["roleRef"]["name"] == "admin"
    assert bindings[f"shop/{ADMIN}"]["subjects"][0]["name"] == "alice"


async def test_roles_are_bound_only_after_the_quota_is_enforced() -> None:
    runtime = acme(new_project("shop", "acme"), quotas=[workspace_quota("acme", pods="4")])
    for _ in range(5):
        await reconcile(runtime)
    assert f"shop/{SHARE}" in runtime.console.of(RESOURCE_QUOTAS)
    assert not runtime.console.of(ROLE_BINDINGS)
    # Only the status of the share changes, which triggers the next reconciliation.
    runtime.console.fill_quotas()
    reconcilers = [factory(cast(Runtime, runtime)) for factory in FACTORIES]
    told = next(one for one in reconcilers if one.name == "workspace-share")
    await told.reconcile(Request("shop", SHARE))
    assert "shop/alice-admin" in runtime.console.of(ROLE_BINDINGS)


async def test_a_removed_creator_binding_is_not_recreated() -> None:
    runtime = await settle(acme(new_project("shop", "acme", "bob")))
    delete(runtime, ROLE_BINDINGS, "shop/bob-admin")
    runtime = await settle(runtime)
    assert "shop/bob-admin" not in runtime.console.of(ROLE_BINDINGS)


async def test_a_namespace_moves_in_and_out_by_its_label() -> None:
    runtime = await settle(acme())
    plain: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}}
    plain["metadata"] |= {"uid": "uid-of-old", "labels": {"kubesphere.io/workspace": "acme"}}
    runtime.console.put(NAMESPACES, plain)
    runtime = await settle(runtime)
    (owner,) = runtime.console.of(NAMESPACES)["old"]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Workspace", "uid-of-acme")
    assert f"old/{ADMIN}" in runtime.console.of(ROLE_BINDINGS)
    change(runtime, NAMESPACES, "old", labels={"kubesphere.io/workspace": None})
    runtime = await settle(runtime)
    assert runtime.console.of(NAMESPACES)["old"]["metadata"]["ownerReferences"] == []
    assert f"old/{ADMIN}" not in runtime.console.of(ROLE_BINDINGS)


async def test_an_owner_of_another_group_is_not_taken_for_the_workspace() -> None:
    runtime = await settle(acme())
    other = {"apiVersion": "other.example.org/v1", "kind": "Workspace", "name": "acme"}
    meta: Manifest = {"name": "old", "uid": "uid-of-old"}
    meta["labels"] = {"kubesphere.io/workspace": "acme"}
    meta["ownerReferences"] = [{**other, "uid": "uid-of-acme"}]
    runtime.console.put(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    runtime = await settle(runtime)
    owners = runtime.console.of(NAMESPACES)["old"]["metadata"]["ownerReferences"]
    groups = [owner["apiVersion"].partition("/")[0] for owner in owners]
    assert groups == ["other.example.org", "tenant.kubesphere.io"]


async def test_a_namespace_moves_from_one_workspace_to_another() -> None:
    runtime = acme(new_project("shop", "acme"))
    runtime.console.put(WORKSPACE_TEMPLATES, template("other", "bob"))
    runtime = await settle(runtime)
    change(runtime, NAMESPACES, "shop", labels={"kubesphere.io/workspace": "other"})
    runtime = await settle(runtime)
    (owner,) = runtime.console.of(NAMESPACES)["shop"]["metadata"]["ownerReferences"]
    assert owner["name"] == "other"
    bindings = runtime.console.of(ROLE_BINDINGS)
    assert f"shop/{ADMIN}" not in bindings
    assert "shop/quarterdeck:workspacerole:other-admin" in bindings


@pytest.mark.parametrize("label", ["system-workspace", "never-was"])
async def test_a_project_outside_tenant_workspaces_loses_the_previous_owner(
    label: str,
) -> None:
    runtime = acme(new_project("shop", "acme"))
    runtime.console.put(WORKSPACE_TEMPLATES, template("system-workspace", "admin"))
    runtime = await settle(runtime)
    change(runtime, NAMESPACES, "shop", labels={"kubesphere.io/workspace": label})
    runtime = await settle(runtime)
    assert runtime.console.of(NAMESPACES)["shop"]["metadata"]["ownerReferences"] == []
    assert "shop/quarterdeck-workspace" not in runtime.console.of(RESOURCE_QUOTAS)
    assert f"shop/{ADMIN}" not in runtime.console.of(ROLE_BINDINGS)


@pytest.mark.parametrize("name", sorted(SYSTEM_NAMESPACES))
@pytest.mark.parametrize("always_there", [True, False])
async def test_a_system_namespace_never_belongs_to_a_tenant_workspace(
    name: str, always_there: bool
) -> None:
    claimed = new_project(name, "acme")
    del claimed["metadata"]["annotations"]
    runtime = acme(claimed)
    if always_there:
        runtime.console.put(WORKSPACE_TEMPLATES, template("system-workspace", "admin"))
    runtime = await settle(runtime)
    meta = runtime.console.of(NAMESPACES)[name]["metadata"]
    assert meta["ownerReferences"] == []
    left = meta["labels"].get("kubesphere.io/workspace")
    assert left == ("system-workspace" if always_there else None)
    # Simulates a client that also wrote the owner reference before a controller reconciled.
    change(runtime, NAMESPACES, name, labels={"kubesphere.io/workspace": "acme"},
           ownerReferences=[owner_of("acme", "uid-of-acme")])  # fmt: skip
    for _ in range(5):
        await reconcile(runtime)
        assert f"{name}/{ADMIN}" not in runtime.console.of(ROLE_BINDINGS)


async def test_changed_roles_are_reverted() -> None:
    runtime = await settle(acme(new_project("shop", "acme")))
    change(runtime, WORKSPACE_ROLES, "acme-viewer", labels={"team": "crew"})
    for gvr, name in ((ROLES, "shop/viewer"), (WORKSPACE_ROLES, "acme-viewer")):
        runtime.console.put(gvr, {**runtime.console.of(gvr)[name], "rules": []})
    delete(runtime, WORKSPACE_ROLES, "acme-regular")
    runtime = await settle(runtime)
    everything = runtime.console.of(ROLES)["shop/viewer"]["rules"]
    assert everything == [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    ]
    assert runtime.console.of(WORKSPACE_ROLES)["acme-viewer"]["rules"] == everything
    labels = runtime.console.of(WORKSPACE_ROLES)["acme-viewer"]["metadata"]["labels"]
    assert labels["team"] == "crew"
    assert "acme-regular" in runtime.console.of(WORKSPACE_ROLES)


async def test_a_role_changed_by_another_client_is_not_deleted() -> None:
    """The change has not reached the cache yet."""
    runtime = await settle(acme())
    seen = runtime.informer(WORKSPACE_ROLES).store.get(Key("", "acme-viewer"))
    runtime.console.delayed = True
    change(runtime, WORKSPACE_ROLES, "acme-viewer", labels={"kubesphere.io/workspace": "other"})
    with pytest.raises(Conflict):
        await apply_state(cast(Any, runtime.console), WORKSPACE_ROLES, seen, None)
    assert "acme-viewer" in runtime.console.of(WORKSPACE_ROLES)


async def test_a_workspace_changed_by_another_client_causes_a_conflict() -> None:
    """The desired state was computed from the outdated object."""
    runtime = await settle(acme())
    runtime.console.put(WORKSPACE_TEMPLATES, {
        **runtime.console.of(WORKSPACE_TEMPLATES)["acme"],
        "spec": {"template": {"spec": {"manager": "bob"}}},
    })  # fmt: skip
    runtime.console.delayed = True
    change(runtime, WORKSPACES, "acme", labels={"team": "crew"})
    with pytest.raises(Conflict):
        await WorkspaceReconciliation(cast(Runtime, runtime)).workspaces.sync_template("acme")
    assert runtime.console.of(WORKSPACES)["acme"]["spec"] == {"manager": "alice"}


async def test_roles_created_by_other_clients_stay_unchanged() -> None:
    theirs: Manifest = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "WorkspaceRole",
        "metadata": {"name": "acme-viewer", "labels": {"kubesphere.io/workspace": "acme"}},
        "rules": [{"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"]}],
    }
    runtime = acme(new_project("shop", "acme"))
    theirs["metadata"]["uid"] = "uid-of-theirs"
    runtime.console.put(WORKSPACE_ROLES, theirs)
    runtime = await settle(runtime)
    found = runtime.console.of(WORKSPACE_ROLES)["acme-viewer"]
    assert found["rules"] == theirs["rules"]
    assert found["metadata"]["labels"] == theirs["metadata"]["labels"]
    assert "acme-admin" in runtime.console.of(WORKSPACE_ROLES)


async def test_network_isolation_of_workspaces_and_projects() -> None:
    runtime = acme(new_project("shop", "acme"), new_project("web", "acme"))
    isolated = template("acme", "alice", networkIsolation=True)
    runtime.console.put(WORKSPACE_TEMPLATES, isolated)
    runtime = await settle(runtime)
    policy = runtime.console.of(NETWORK_POLICIES)["shop/quarterdeck-isolation"]
    (peer,) = policy["spec"]["ingress"][0]["from"]
    assert peer == {"namespaceSelector": {"matchLabels": {"kubesphere.io/workspace": "acme"}}}
    change(runtime, NAMESPACES, "web", annotations={"kubesphere.io/network-isolate": "enabled"})
    runtime = await settle(runtime)
    policy = runtime.console.of(NETWORK_POLICIES)["web/quarterdeck-isolation"]
    assert policy["spec"]["ingress"][0]["from"] == [{"podSelector": {}}]
    delete(runtime, NETWORK_POLICIES, "shop/quarterdeck-isolation")
    runtime = await settle(runtime)
    assert "shop/quarterdeck-isolation" in runtime.console.of(NETWORK_POLICIES)
    runtime.console.put(WORKSPACE_TEMPLATES, {
        **runtime.console.of(WORKSPACE_TEMPLATES)["acme"],
        "spec": {"template": {"spec": {"manager": "alice", "networkIsolation": False}}},
    })  # fmt: skip
    runtime = await settle(runtime)
    assert set(runtime.console.of(NETWORK_POLICIES)) == {"web/quarterdeck-isolation"}


#: Created once with a workspace or project. Users may change them afterwards.
THEIRS = {(LIMIT_RANGES, "shop/shop"), (ROLE_BINDINGS, "shop/alice-admin")}


async def made() -> tuple[TenantRuntime, list[tuple[GVR, str]]]:
    """Return a runtime with every kind of managed object, and the objects that controllers keep in
    the desired state.
    """
    runtime = acme(new_project("shop", "acme"), quotas=[workspace_quota("acme", pods="4")])
    runtime.console.put(WORKSPACE_TEMPLATES, template("acme", "alice", networkIsolation=True))
    _act(runtime, "role")
    _act(runtime, "platform")
    given = {(gvr, place) for gvr, place in runtime.console.objects}
    runtime = await settle(runtime)
    kept = given | THEIRS | {(WORKSPACES, "acme")}
    return runtime, [
        found for found in runtime.console.objects if found not in kept and found[0] != EVENTS
    ]


async def test_deleted_managed_objects_are_recreated() -> None:
    runtime, ours = await made()
    assert {gvr.resource for gvr, _place in ours} == {
        *("clusterrolebindings", "clusterroles", "networkpolicies", "resourcequotas"),
        *("rolebindings", "roles", "workspacerolebindings", "workspaceroles"),
    }
    as_it_was = meaning(runtime)
    for gvr, place in ours:
        delete(runtime, gvr, place)
        await settle(runtime)
        assert meaning(runtime) == as_it_was, f"{gvr.resource} {place}"


async def test_changed_managed_objects_are_reverted() -> None:
    runtime, ours = await made()
    as_it_was = meaning(runtime)
    for gvr, place in ours:
        found = runtime.console.of(gvr)[place]
        fields = [name for name in ("rules", "subjects", "spec") if name in found]
        assert fields, f"{gvr.resource} {place}"
        for name in fields:
            emptied = {**found, name: type(found[name])()}
            runtime.console.put(gvr, emptied)
            await settle(runtime)
            assert meaning(runtime) == as_it_was, f"{name} of {gvr.resource} {place}"


async def test_deleting_a_workspace_deletes_its_projects() -> None:
    quotas = [workspace_quota("acme", pods="4")]
    runtime = await settle(acme(new_project("shop", "acme"), quotas=quotas))
    delete(runtime, WORKSPACE_TEMPLATES, "acme")
    runtime = await settle(runtime)
    assert meaning(runtime) == {}


@pytest.mark.parametrize(
    ("gvr", "name"),
    [(WORKSPACES, "acme"), (WORKSPACE_ROLES, "acme-viewer"), (WORKSPACE_QUOTAS, "acme")],
)
async def test_recreated_objects_are_not_deleted(gvr: GVR, name: str) -> None:
    """The new object has not reached the cache yet."""
    runtime = await settle(acme(quotas=[workspace_quota("acme", pods="4")]))
    runtime.console.delayed = True
    change(runtime, gvr, name, uid="another")
    runtime.console.delayed = False
    delete(runtime, WORKSPACE_TEMPLATES, "acme")
    for _look in range(3):
        await reconcile(runtime, projection=False)
    assert "deletionTimestamp" not in runtime.console.of(gvr)[name]["metadata"]


async def test_the_orphan_finalizer_keeps_projects() -> None:
    runtime = await settle(acme(new_project("shop", "acme")))
    finalizers = runtime.console.of(WORKSPACE_TEMPLATES)["acme"]["metadata"]["finalizers"]
    keep = [*finalizers, "orphan.finalizers.kubesphere.io"]
    change(runtime, WORKSPACE_TEMPLATES, "acme", finalizers=keep)
    delete(runtime, WORKSPACE_TEMPLATES, "acme")
    runtime = await settle(runtime)
    assert runtime.console.of(WORKSPACE_TEMPLATES) == runtime.console.of(WORKSPACES) == {}
    meta = runtime.console.of(NAMESPACES)["shop"]["metadata"]
    assert "kubesphere.io/workspace" not in meta["labels"]
    assert set(runtime.console.of(ROLE_BINDINGS)) == {"shop/alice-admin"}
    assert runtime.console.of(CLUSTER_ROLES) == {}


@pytest.mark.parametrize("round_of", range(6))
async def test_a_project_created_during_workspace_deletion_is_deleted(
    round_of: int,
) -> None:
    runtime = await settle(acme(new_project("shop", "acme")))
    delete(runtime, WORKSPACE_TEMPLATES, "acme")
    for at in range(12):
        if at == round_of:
            runtime.console.put(NAMESPACES, new_project("late", "acme"))
        await reconcile(runtime)
        runtime.console.collect_garbage()
    runtime = await settle(runtime)
    assert meaning(runtime) == {}


async def test_kubesphere_finalizers_do_not_block_deletion() -> None:
    runtime = await settle(acme(new_project("shop", "acme")))
    change(runtime, WORKSPACES, "acme", finalizers=["finalizers.tenant.kubesphere.io"])
    change(runtime, NAMESPACES, "shop", finalizers=["finalizers.kubesphere.io/namespaces"])
    delete(runtime, WORKSPACE_TEMPLATES, "acme")
    runtime = await settle(runtime)
    assert meaning(runtime) == {}


async def test_system_namespaces_stay_in_the_system_workspace() -> None:
    system: Manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "kube-system"},
    }
    system["metadata"] |= {"uid": "uid-of-kube-system", "resourceVersion": "3"}
    runtime = TenantRuntime(
        {WORKSPACE_TEMPLATES: [template("system-workspace", "admin")], NAMESPACES: [system]}
    )
    runtime = await settle(runtime)
    meta = runtime.console.of(NAMESPACES)["kube-system"]["metadata"]
    assert meta["labels"] == {"kubesphere.io/workspace": "system-workspace"}
    assert "ownerReferences" not in meta
    delete(runtime, WORKSPACE_TEMPLATES, "system-workspace")
    runtime = await settle(runtime)
    assert "kube-system" in runtime.console.of(NAMESPACES)


async def test_a_second_reconciliation_writes_nothing() -> None:
    runtime = await settle(
        acme(new_project("shop", "acme"), quotas=[workspace_quota("acme", pods="9")])
    )
    writes = runtime.console.writes
    await reconcile(runtime)
    assert runtime.console.writes == writes


@pytest.mark.parametrize("missing", [WORKSPACES, NAMESPACES, WORKSPACE_TEMPLATES, ROLES])
async def test_nothing_is_written_before_all_caches_are_synced(missing: GVR) -> None:
    runtime = acme(new_project("shop", "acme"))
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    with pytest.raises(NotSynced):
        await reconcile(runtime, projection=False)
    assert runtime.console.calls == []


def _worlds() -> dict[str, list[str]]:
    """Return the steps of each scenario. The console is killed during the last step."""
    return {
        "workspace": [],
        "projects": ["projects"],
        "deleted": ["projects", "delete"],
        "kept": ["projects", "keep", "delete"],
        "out": ["projects", "out"],
        "platform": ["platform"],
        "revoked": ["platform", "revoke"],
        "role": ["projects", "role"],
        "system": ["system"],
        "system deleted": ["system", "delete system"],
    }


def _act(runtime: TenantRuntime, what: str) -> None:
    if what == "projects":
        for name in ("shop", "web"):
            runtime.console.put(NAMESPACES, new_project(name, "acme"))
    elif what == "delete":
        delete(runtime, WORKSPACE_TEMPLATES, "acme")
    elif what == "keep":
        found = runtime.console.of(WORKSPACE_TEMPLATES)["acme"]["metadata"]["finalizers"]
        keep = [*found, "orphan.finalizers.kubesphere.io"]
        change(runtime, WORKSPACE_TEMPLATES, "acme", finalizers=keep)
    elif what == "platform":
        for name in ("ops", "watch"):
            runtime.console.put(GLOBAL_ROLES, global_role(name, rule("get list", "nodes")))
            runtime.console.put(GLOBAL_ROLE_BINDINGS, binding(name, ("User", "bob"), role=name))
    elif what == "revoke":
        delete(runtime, GLOBAL_ROLE_BINDINGS, "ops")
        delete(runtime, GLOBAL_ROLES, "watch")
    elif what == "role":
        own = workspace_role("acme-own", "acme", rule("get", "pods"))
        runtime.console.put(WORKSPACE_ROLES, own)
        bound = workspace_binding("acme.bob", "acme", "acme-own", "User bob")
        runtime.console.put(WORKSPACE_ROLE_BINDINGS, bound)
    elif what == "system":
        runtime.console.put(WORKSPACE_TEMPLATES, template("system-workspace", "admin"))
        for name in ("default", "kube-system"):
            meta = {"name": name, "uid": f"uid-of-{name}"}
            runtime.console.put(
                NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
            )
    elif what == "delete system":
        delete(runtime, WORKSPACE_TEMPLATES, "system-workspace")
    else:
        change(runtime, NAMESPACES, "shop", labels={"kubesphere.io/workspace": None})


async def _lived(
    world: list[str], crash_after: int | None, rng: Random | None = None
) -> tuple[TenantRuntime, int]:
    """Run a scenario and return the final runtime and the number of writes in the last step."""
    runtime = acme(quotas=[workspace_quota("acme", pods="9", requests_cpu="2")])
    isolated = template("acme", "alice", networkIsolation=True)
    runtime.console.put(WORKSPACE_TEMPLATES, isolated)
    runtime.rng = rng
    for what in world:
        runtime = await settle(runtime)
        _act(runtime, what)
    runtime.console.writes, runtime.console.crash_after = 0, crash_after
    watched = runtime.console
    runtime = await settle(runtime)
    return runtime, watched.writes


@pytest.mark.parametrize("world", _worlds())
async def test_a_crash_after_any_write_converges_to_the_same_state(world: str) -> None:
    whole, writes = await _lived(_worlds()[world], None)
    assert writes >= 3
    for crash_after in range(1, writes + 1):
        runtime, _writes = await _lived(_worlds()[world], crash_after)
        assert meaning(runtime) == meaning(whole), f"killed after write {crash_after}"


@pytest.mark.parametrize("world", _worlds())
async def test_any_reconciliation_order_converges_to_the_same_state(world: str) -> None:
    whole, _writes = await _lived(_worlds()[world], None)
    for seed in range(SEED, SEED + number(8, 100)):
        runtime, _writes = await _lived(_worlds()[world], None, Random(seed))  # noqa: S311
        assert meaning(runtime) == meaning(whole), f"in the order of {seed}"


async def test_concurrent_quota_allocations_are_serialized(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime = await settle(acme(new_project("one", "acme"), quotas=[workspace_quota("acme")]))
    runtime.console.put(WORKSPACE_QUOTAS, workspace_quota("acme", pods="8"))
    create, shares = runtime.console.create, WorkspaceReconciliation(cast(Runtime, runtime)).shares

    async def slow(*given: Any, **named: Any) -> Manifest:
        await asyncio.sleep(0)
        return await create(*given, **named)

    monkeypatch.setattr(runtime.console, "create", slow)
    await asyncio.gather(*(shares.sync("acme") for _one in range(3)))
    assert runtime.console.of(RESOURCE_QUOTAS)[f"one/{SHARE}"]["spec"]["hard"] == {"pods": "8"}


@pytest.mark.parametrize("answer", ["none", "conflict", "repeated"])
async def test_a_share_with_unknown_state_is_not_allocated_again(
    monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """A write can lose its response, can be followed by another client's write before it is
    observed, or can be repeated by the HTTP client after a connection error and then be refused
    as a duplicate.
    """
    projects = [new_project(name, "acme") for name in ("ann", "zoe")]
    runtime = await settle(acme(*projects, quotas=[workspace_quota("acme", pods="8")]))
    shares, console = WorkspaceReconciliation(cast(Runtime, runtime)).shares, runtime.console
    replace = console.replace

    async def dealt() -> None:
        for _ in range(3):
            with suppress(ApiError):
                await shares.sync("acme")

    async def lost(*given: Any, **named: Any) -> Manifest:
        stored = await replace(*given, **named)
        if answer == "none" and named["namespace"] == "zoe":
            raise Unavailable("the request timed out")
        if answer == "repeated" and named["namespace"] == "zoe":
            raise Conflict(409, "the object has been modified")
        return stored

    console.put(RESOURCE_QUOTAS, own_quota("zoe", pods="7"))
    await shares.sync("acme")
    console.fill_quotas()
    console.delayed = True
    monkeypatch.setattr(console, "replace", lost)
    await dealt()
    if answer == "conflict":
        console.of(RESOURCE_QUOTAS)[f"zoe/{SHARE}"]["metadata"]["resourceVersion"] = "9999"
    assert asked(runtime) == {"ann": 1, "zoe": 7}
    # Both projects get the same target, but the share of zoe is not observed.
    monkeypatch.setattr(shares._world, "within", lambda _gvr, _project: ())
    await dealt()
    assert sum(asked(runtime).values()) <= 8


@pytest.mark.parametrize(
    "change_of",
    [
        {"labels": {"kubesphere.io/workspace": "other"}},
        {"labels": {"kubesphere.io/workspace": None}},
        # A namespace whose deletion is blocked.
        {"deletionTimestamp": "2026-03-01T12:00:00Z", "finalizers": ["example.com/slow"]},
    ],
    ids=["other", "none", "deleted"],
)
async def test_the_share_of_a_removed_project_goes_to_the_remaining_projects(
    change_of: Manifest,
) -> None:
    projects = [new_project(name, "acme") for name in ("ann", "zoe")]
    runtime = acme(*projects, quotas=[workspace_quota("acme", pods="8")])
    runtime.console.put(WORKSPACE_TEMPLATES, template("other", "bob"))
    runtime = await settle(runtime)
    tenancy = WorkspaceReconciliation(cast(Runtime, runtime))
    await tenancy.shares.sync("acme")
    assert asked(runtime) == {"ann": 4, "zoe": 4}
    change(runtime, NAMESPACES, "zoe", **change_of)
    for _ in range(3):
        # Event order: the namespace changes first, then its share.
        await tenancy.projects.sync("zoe")
        await tenancy.projects.sync_share("zoe")
    assert runtime.console.of(RESOURCE_QUOTAS)[f"ann/{SHARE}"]["spec"]["hard"] == {"pods": "8"}


async def test_a_failed_share_of_one_project_does_not_affect_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    projects = [new_project(name, "acme") for name in ("ann", "zoe")]
    runtime = await settle(acme(*projects, quotas=[workspace_quota("acme", pods="8")]))
    shares, console = WorkspaceReconciliation(cast(Runtime, runtime)).shares, runtime.console
    replace = console.replace

    async def invalid(*given: Any, **named: Any) -> Manifest:
        if named["namespace"] == "ann":
            raise Invalid(422, "must be an integer")
        return await replace(*given, **named)

    monkeypatch.setattr(console, "replace", invalid)
    console.put(WORKSPACE_QUOTAS, workspace_quota("acme", pods="6"))
    with pytest.raises(Invalid):
        await shares.sync("acme")
    assert asked(runtime) == {"ann": 4, "zoe": 3}
    status = console.of(WORKSPACE_QUOTAS)["acme"]["status"]
    assert status["total"]["hard"] == {"pods": "6"}


async def test_many_refusals_in_a_project_cause_one_reconciliation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = (
        "exceeded quota: quarterdeck-workspace, requested: pods=1, used: pods=0, limited: pods=0"
    )
    runtime = acme(new_project("ann", "acme"))
    for one in range(50):
        runtime.console.put(EVENTS, refusal(f"e{one}", "ann", f"No: {words}"))
    runtime.console.put(EVENTS, refusal("other", "ann", "something else"))
    reconcilers = [factory(cast(Runtime, runtime)) for factory in FACTORIES]
    told = next(one for one in reconcilers if one.name == "refusal")
    assert isinstance(told, GroupingReconciler)
    keys = runtime.informer(EVENTS).store.snapshot().entries
    assert {told.request_for(key) for key in keys} == {Request("ann", ""), None}
    looks = []

    async def look(project: str) -> None:
        looks.append(project)

    monkeypatch.setattr(told._tenancy.shares, "sync_project", look)  # type: ignore[attr-defined]
    await told.reconcile(Request("ann", ""))
    again = await told.reconcile(Request("ann", ""))
    assert looks == ["ann"] and again.requeue_after is not None and again.requeue_after < 1
    runtime.clock.move(seconds=1)
    await told.reconcile(Request("ann", ""))
    assert looks == ["ann", "ann"]


def refusal(name: str, project: str, message: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": project},
        "involvedObject": {"kind": "ResourceQuota", "name": SHARE, "namespace": project},
        "reason": "QuotaExceeded",
        "message": message,
    }


def own_quota(project: str, **hard: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "own", "namespace": project},
        "spec": {"hard": hard},
    }


def asked(runtime: TenantRuntime) -> dict[str, int]:
    found = runtime.console.of(RESOURCE_QUOTAS)
    return {name: int(found[f"{name}/{SHARE}"]["spec"]["hard"]["pods"]) for name in ("ann", "zoe")}
