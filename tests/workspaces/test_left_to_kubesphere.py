"""Reconciliations while KubeSphere's controllers are active, and the tasks that are left to them."""

from typing import Any, cast

import pytest

from console.kube.controller import Request
from console.kube.errors import Unavailable
from console.kube.gvr import (
    LEASES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BASES,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.runtime import Runtime
from rbac.projection import LABELS
from tests.rbac.fakes import Manifest
from tests.workspaces.fakes import TenantRuntime, new_project, settle, template, workspace_quota
from workspaces.controllers import FACTORIES, REPORT_AGAIN, TenancyReconciler
from workspaces.controllers.kubesphere_locks import CHECK_INTERVAL, NAME, NAMESPACE
from workspaces.controllers.quota_shares import QuotaShareSync
from workspaces.manifests import project_member
from workspaces.names import ISOLATION

PROJECTS = ("one", "two", "three")


def hold(runtime: TenantRuntime, **spec: Any) -> None:
    """Hold the lease as ks-controller-manager does. The next reconciliation detects it."""
    runtime.clock.move(seconds=CHECK_INTERVAL)
    renewed = runtime.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    found = {"holderIdentity": "ks-0", "leaseDurationSeconds": 30, "renewTime": renewed, **spec}
    metadata = {"name": NAME, "namespace": NAMESPACE}
    runtime.console.put(LEASES, {"metadata": metadata, "spec": found})


def reconciler(runtime: TenantRuntime, name: str) -> TenancyReconciler:
    made = (factory(cast(Runtime, runtime)) for factory in FACTORIES)
    return next(cast(TenancyReconciler, one) for one in made if one.name == name)


async def acme() -> TenantRuntime:
    projects = [new_project(name, "acme") for name in PROJECTS]
    made_of = {WORKSPACE_TEMPLATES: [template("acme", "alice")], NAMESPACES: projects}
    return await settle(TenantRuntime(made_of))


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Workspaces whose shares were allocated, in order."""
    found: list[str] = []
    sync = QuotaShareSync.sync

    async def counted(self: QuotaShareSync, name: str) -> None:
        found.append(name)
        await sync(self, name)

    monkeypatch.setattr(QuotaShareSync, "sync", counted)
    return found


async def test_reconciling_an_unchanged_workspace_skips_its_projects(
    dealt: list[str],
) -> None:
    runtime = await acme()
    hold(runtime)
    look = reconciler(runtime, "workspace").reconcile
    dealt.clear()
    assert (await look(Request("", "acme"))).requeue_after == CHECK_INTERVAL
    assert dealt == []


async def test_a_workspace_change_reconciles_its_projects_and_allocates_shares_once(
    dealt: list[str],
) -> None:
    runtime = await acme()
    hold(runtime)
    found = runtime.console.of(WORKSPACES)["acme"]
    runtime.console.put(WORKSPACES, {**found, "spec": {"networkIsolation": True}})
    dealt.clear()
    await reconciler(runtime, "workspace").reconcile(Request("", "acme"))
    assert dealt == ["acme"]
    policies = runtime.console.of(NETWORK_POLICIES)
    assert set(policies) == {f"{name}/{ISOLATION}" for name in PROJECTS}


async def test_a_failed_project_reconciliation_is_retried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime = await acme()
    found = runtime.console.of(WORKSPACES)["acme"]
    runtime.console.put(WORKSPACES, {**found, "spec": {"networkIsolation": True}})
    hold(runtime)
    look = reconciler(runtime, "workspace").reconcile
    create = runtime.console.create

    async def away(*_given: Any, **_named: Any) -> Manifest:
        raise Unavailable("the request timed out")

    monkeypatch.setattr(runtime.console, "create", away)
    with pytest.raises(Unavailable):
        await look(Request("", "acme"))
    monkeypatch.setattr(runtime.console, "create", create)
    await look(Request("", "acme"))
    assert len(runtime.console.of(NETWORK_POLICIES)) == len(PROJECTS)


async def test_quota_status_is_left_to_kubesphere_while_it_is_active() -> None:
    runtime = await acme()
    hold(runtime)
    look, request = reconciler(runtime, "workspace-quota").reconcile, Request("", "acme")
    runtime.console.put(WORKSPACE_QUOTAS, workspace_quota("acme", pods="6"))
    assert (await look(request)).requeue_after == REPORT_AGAIN
    assert "status" not in runtime.console.of(WORKSPACE_QUOTAS)["acme"]
    # Shares are still allocated, because KubeSphere doesn't do this.
    assert len(runtime.console.of(RESOURCE_QUOTAS)) == len(PROJECTS)
    hold(runtime, holderIdentity="")
    assert (await look(request)).requeue_after is None
    status = runtime.console.of(WORKSPACE_QUOTAS)["acme"]["status"]
    assert status["total"]["hard"] == {"pods": "6"}


async def test_project_roles_are_left_to_kubesphere_while_it_is_active() -> None:
    runtime = await acme()
    hold(runtime)
    # As KubeSphere creates the binding: without the managed label.
    theirs = project_member("one", "admin", "alice")
    theirs["metadata"]["labels"].pop("app.kubernetes.io/managed-by")
    theirs["metadata"]["uid"] = "uid-of-theirs"
    runtime.console.put(ROLE_BINDINGS, theirs)
    made = runtime.console.of(ROLE_BINDINGS)["one/alice-admin"]
    await runtime.console.delete(ROLES, namespace="one", name="viewer")
    found = runtime.console.of(NAMESPACES)["one"]
    found["metadata"]["annotations"] = new_project("one", "acme")["metadata"]["annotations"]
    runtime.console.put(NAMESPACES, found)
    says = {"kind": "Role", "metadata": {"name": "viewer"}, "rules": []}
    meta = {"name": "viewer", "uid": "1", "labels": {"scope.kubesphere.io/namespace": ""}}
    runtime.console.put(ROLE_BASES, {"metadata": meta, "role": says})
    looks = [
        (reconciler(runtime, "rolebase").reconcile, Request("", "viewer")),
        (reconciler(runtime, "namespace").reconcile, Request("", "one")),
        (reconciler(runtime, "project-builtin-roles").reconcile, Request("one", "viewer")),
    ]
    for look, request in looks:
        assert (await look(request)).requeue_after == CHECK_INTERVAL
    roles = runtime.console.of(ROLES)
    assert "one/viewer" not in roles and roles["two/viewer"]["rules"]
    assert runtime.console.of(ROLE_BINDINGS)["one/alice-admin"] == made
    hold(runtime, holderIdentity="")
    for look, request in looks:
        assert (await look(request)).requeue_after is None
    roles = runtime.console.of(ROLES)
    assert all(roles[f"{name}/viewer"]["rules"] == [] for name in PROJECTS)


async def test_project_finalizers_are_removed_after_kubesphere_stopped() -> None:
    runtime = await acme()
    hold(runtime)
    found = runtime.console.of(NAMESPACES)["one"]
    found["metadata"] |= {
        "finalizers": ["finalizers.kubesphere.io/namespaces", "example.com/other"],
        "deletionTimestamp": "2026-03-01T12:00:00Z",
    }
    runtime.console.put(NAMESPACES, found)

    def finalizers() -> list[str]:
        left: list[str] = runtime.console.of(NAMESPACES)["one"]["metadata"]["finalizers"]
        return left

    look = reconciler(runtime, "namespace").reconcile
    assert (await look(Request("", "one"))).requeue_after == CHECK_INTERVAL
    assert finalizers() == found["metadata"]["finalizers"]
    hold(runtime, holderIdentity="")
    assert (await look(Request("", "one"))).requeue_after is None
    assert finalizers() == ["example.com/other"]


async def test_a_workspace_of_another_client_does_not_become_managed() -> None:
    """Deleting by the managed label must not delete it."""
    runtime = await acme()
    found = runtime.console.of(WORKSPACES)["acme"]
    found["metadata"]["labels"] = {}
    found["spec"] = {}
    runtime.console.put(WORKSPACES, found)
    await reconciler(runtime, "workspacetemplate").reconcile(Request("", "acme"))
    taken_up = runtime.console.of(WORKSPACES)["acme"]
    assert taken_up["spec"]["manager"] == "alice"
    assert not LABELS.items() <= taken_up["metadata"]["labels"].items()


async def test_a_workspace_without_template_is_finalized_after_kubesphere_stopped() -> None:
    metadata = {
        "name": "lone",
        "uid": "uid-of-lone",
        "resourceVersion": "5",
        "finalizers": ["finalizers.tenant.kubesphere.io"],
        "deletionTimestamp": "2026-03-01T12:00:00Z",
    }
    runtime = TenantRuntime({WORKSPACES: [{"metadata": metadata, "spec": {}}]})
    hold(runtime)
    look = reconciler(runtime, "workspace").reconcile
    assert (await look(Request("", "lone"))).requeue_after == CHECK_INTERVAL
    assert "lone" in runtime.console.of(WORKSPACES)
    hold(runtime, holderIdentity="")
    assert (await look(Request("", "lone"))).requeue_after is None
    assert runtime.console.of(WORKSPACES) == {}
