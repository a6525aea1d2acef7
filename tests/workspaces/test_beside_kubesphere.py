"""Coexistence with KubeSphere's controllers: the console leaves their tasks to them while they run,
and takes over afterwards.
"""

from collections.abc import Iterator
from functools import partial
from uuid import uuid4

import pytest

from console.kube.gvr import (
    CONFIG_MAPS,
    ENDPOINTS,
    GVR,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BASES,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.projections.namespace import PREPARING_ANNOTATION, WORKSPACE_LABEL
from rbac.projection import LABELS
from tests.rbac.objects import Manifest, rule, user
from tests.workspaces.conftest import Tenancy
from tests.workspaces.manager import Manager, managing
from tests.workspaces.users import (
    OF_PROJECTS,
    apply,
    base,
    change,
    delete,
    is_gone,
    listed,
    quota,
    read,
    template,
    until,
)
from workspaces.controllers import kubesphere_locks
from workspaces.controllers.kubesphere_locks import LOCKS, NAMESPACE
from workspaces.names import SHARE

pytestmark = pytest.mark.django_db(transaction=True)

READS = [rule("get list watch", "pods services", "core")]


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubesphere_locks, "CHECK_INTERVAL", 0.0)


@pytest.fixture(autouse=True)
def _leaves_nothing(tenancy: Tenancy) -> Iterator[None]:
    """Delete locks and RoleBases. Otherwise controllers that start later on this control plane
    would wait until the locks expire.
    """
    yield
    for gvr, namespace in (*((lock, NAMESPACE) for lock in LOCKS), (ROLE_BASES, "")):
        for item in listed(tenancy, gvr, namespace):
            delete(tenancy, gvr, item["metadata"]["name"], namespace)


def is_ours(tenancy: Tenancy, gvr: GVR, name: str, project: str = "") -> bool:
    found = read(tenancy, gvr, name, project)
    return bool(found) and LABELS.items() <= (found["metadata"].get("labels") or {}).items()


def project(name: str, workspace: str) -> Manifest:
    metadata = {
        "name": name,
        "labels": {WORKSPACE_LABEL: workspace},
        "annotations": {"kubesphere.io/creator": "ann", PREPARING_ANNOTATION: "true"},
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def is_ready(tenancy: Tenancy, project: str) -> bool:
    """Return True if the console's controllers have finished creating the project."""
    notes = read(tenancy, NAMESPACES, project)["metadata"]["annotations"]
    return PREPARING_ANNOTATION not in notes


def rights_in(tenancy: Tenancy, workspace: str) -> list[Manifest]:
    types = (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS)
    return [item for gvr in types for item in listed(tenancy, gvr, workspace=workspace)]


async def nobody_writes(tenancy: Tenancy, manager: Manager, workspace: str) -> None:
    """Assert that both controllers are stable, even after a change that triggers both."""
    await manager.settled()
    writes = manager.writes
    note = {"metadata": {"annotations": {"looked-at": uuid4().hex}}}
    change(tenancy, WORKSPACE_TEMPLATES, workspace, note)
    for item in listed(tenancy, ROLE_BASES):
        change(tenancy, ROLE_BASES, item["metadata"]["name"], note)
    await manager.stands_still()
    assert manager.writes == writes


async def test_tasks_of_kubesphere_are_taken_over_only_after_it_stopped(tenancy: Tenancy) -> None:
    """The RoleBases contain one viewer role of each kind. All other roles come from the console.

    KubeSphere runs twice, with the locks of two versions.
    """
    once = uuid4().hex[:6]
    old, gone, new, berth, wharf = (
        f"{name}-{once}" for name in ("old", "gone", "new", "berth", "wharf")
    )
    apply(tenancy, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    apply(
        tenancy,
        user("ann"),
        base("viewer", "Role", "viewer", READS, **OF_PROJECTS),
        base("workspace-viewer", "WorkspaceRole", "viewer", READS),
    )
    async with managing(tenancy.cluster.kubeconfig, old, gone, lock=CONFIG_MAPS) as manager:
        apply(tenancy, template(old, "ann"), template(gone, "ann"))
        for name in (old, gone):
            await until(partial(read, tenancy, WORKSPACE_ROLES, f"{name}-viewer"), "they make it")
        apply(tenancy, quota(old, pods="3", requests_memory="4Gi"), project(berth, old))
        await until(partial(is_ready, tenancy, berth), "the project")
        await nobody_writes(tenancy, manager, old)
        for gvr, name, place in (
            (WORKSPACES, old, ""),
            (WORKSPACE_ROLES, f"{old}-viewer", ""),
            (ROLES, "viewer", berth),
        ):
            assert read(tenancy, gvr, name, place) and not is_ours(tenancy, gvr, name, place)
        assert read(tenancy, WORKSPACE_ROLES, f"{old}-admin") is None
        assert read(tenancy, ROLES, "admin", berth) is None
        assert read(tenancy, ROLE_BINDINGS, "ann-admin", berth)["roleRef"]["name"] == "admin"
        # The quota as KubeSphere writes it. The console still allocates the shares.
        status = read(tenancy, WORKSPACE_QUOTAS, old)["status"]
        assert status["total"]["hard"] == {"pods": "3", "requests.memory": "4Gi"}
        assert read(tenancy, RESOURCE_QUOTAS, SHARE, berth)
        # KubeSphere reverts changes of other clients.
        writes = manager.writes
        change(tenancy, WORKSPACE_ROLES, f"{old}-viewer", {"rules": []})
        change(tenancy, ROLES, "viewer", {"rules": []}, berth)
        await nobody_writes(tenancy, manager, old)
        assert manager.writes == writes + 2
        assert read(tenancy, ROLES, "viewer", berth)["rules"] == READS
        # KubeSphere removes its own finalizers, however long that takes.
        manager.names.discard(gone)
        # The current round may be processing this object.
        await manager.some_rounds(2)
        delete(tenancy, WORKSPACES, gone)
        await manager.some_rounds()
        assert read(tenancy, WORKSPACES, gone) is not None
    # The lock expires.
    await until(lambda: is_ours(tenancy, WORKSPACE_ROLES, f"{old}-admin"), "its roles")
    await until(lambda: is_ours(tenancy, ROLES, "admin", berth), "its project's roles")
    await until(
        lambda: is_gone(tenancy, WORKSPACES, gone) or is_ours(tenancy, WORKSPACES, gone),
        "its end",
    )
    # Removed now, so that the garbage collector, which may be late, doesn't delete it later in the
    # test.
    delete(tenancy, WORKSPACE_TEMPLATES, gone)
    await until(partial(is_gone, tenancy, WORKSPACE_TEMPLATES, gone), "its template's end")
    await until(lambda: not rights_in(tenancy, gone), "the end of all of it")
    # Objects of other clients don't become managed: deleting by the managed label must not delete
    # them.
    assert not is_ours(tenancy, WORKSPACES, old)
    assert not is_ours(tenancy, WORKSPACE_ROLES, f"{old}-viewer")
    apply(tenancy, template(new, "ann"), project(wharf, new))
    await until(lambda: is_ours(tenancy, WORKSPACES, new), "one of ours")
    await until(lambda: is_ours(tenancy, ROLES, "viewer", wharf), "its project")
    await until(partial(is_ready, tenancy, wharf), "all of it")
    # KubeSphere starts again: it takes over the objects, and neither controller writes against the
    # other.
    async with managing(tenancy.cluster.kubeconfig, old, new, lock=ENDPOINTS) as manager:
        await until(lambda: not is_ours(tenancy, WORKSPACES, new), "they have it")
        await nobody_writes(tenancy, manager, new)
        assert not is_ours(tenancy, WORKSPACE_ROLES, f"{new}-viewer")
        assert not is_ours(tenancy, ROLES, "viewer", wharf)
        # A deletion that only KubeSphere completes.
        delete(tenancy, WORKSPACE_TEMPLATES, new)
        for gvr, name in ((WORKSPACE_TEMPLATES, new), (WORKSPACES, new), (NAMESPACES, wharf)):
            await until(partial(is_gone, tenancy, gvr, name), f"the end of {gvr.resource}")
