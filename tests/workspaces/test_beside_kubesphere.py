"""Beside KubeSphere's controllers: what is theirs is left to them while they live, and taken up after."""

from collections.abc import Iterator
from functools import partial

import pytest

from console.kube.gvr import (
    LEASES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from tests.rbac.objects import user
from tests.workspaces.cast import apply, change, delete, is_gone, read, template, until
from tests.workspaces.conftest import Tenancy
from tests.workspaces.manager import managing
from workspaces.controllers import kubesphere
from workspaces.controllers.kubesphere import NAME, NAMESPACE
from workspaces.names import MANAGED

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubesphere, "LOOK_EVERY", 0.0)


@pytest.fixture(autouse=True)
def _leaves_no_lease(tenancy: Tenancy) -> Iterator[None]:
    """Controllers that start on this control plane later would wait until it has run out."""
    yield
    if read(tenancy, LEASES, NAME, NAMESPACE):
        delete(tenancy, LEASES, NAME, NAMESPACE)


def is_ours(tenancy: Tenancy, name: str) -> bool:
    found = read(tenancy, WORKSPACES, name)
    return bool(found) and MANAGED.items() <= found["metadata"].get("labels", {}).items()


async def test_what_is_theirs_is_left_to_them_and_taken_up_after(tenancy: Tenancy) -> None:
    apply(tenancy, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    apply(tenancy, user("ann"))
    async with managing(tenancy.cluster.kubeconfig, "old", "gone") as manager:
        for name in ("old", "gone"):
            apply(tenancy, template(name, "ann"))
        for name in ("old", "gone"):
            await until(partial(read, tenancy, WORKSPACES, name), "they make it")
        before = read(tenancy, WORKSPACES, "old")
        change(tenancy, WORKSPACE_TEMPLATES, "old", {"metadata": {"annotations": {"a": "b"}}})
        delete(tenancy, WORKSPACES, "gone")
        await manager.some_rounds()
        assert manager.writes == 2
        assert read(tenancy, WORKSPACES, "old") == before
        assert read(tenancy, WORKSPACE_ROLES, "old-admin") is None
        # Its finalizer is theirs to take away.
        assert read(tenancy, WORKSPACES, "gone") is not None
    # Nobody holds the lease any more.
    await until(lambda: bool(read(tenancy, WORKSPACE_ROLE_BINDINGS, "old-admin")), "a manager")
    await until(lambda: bool(read(tenancy, WORKSPACE_ROLES, "old-viewer")), "its roles")
    await until(lambda: is_gone(tenancy, WORKSPACES, "gone") or is_ours(tenancy, "gone"), "its end")
    # One that others made does not become ours: it is not deleted by our label.
    assert not is_ours(tenancy, "old")
    apply(tenancy, template("new", "ann"))
    await until(lambda: is_ours(tenancy, "new"), "one of ours")
    # And back again: they take ours over, and nobody writes against the other.
    async with managing(tenancy.cluster.kubeconfig, "old", "new") as manager:
        await until(lambda: not is_ours(tenancy, "new"), "they have it")
        version = (read(tenancy, WORKSPACES, "new") or {})["metadata"]["resourceVersion"]
        change(tenancy, WORKSPACE_TEMPLATES, "new", {"metadata": {"annotations": {"a": "c"}}})
        await manager.some_rounds()
        assert manager.writes == 1
        now = (read(tenancy, WORKSPACES, "new") or {})["metadata"]["resourceVersion"]
        assert now == version
