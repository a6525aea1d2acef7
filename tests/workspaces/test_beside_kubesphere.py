"""Beside KubeSphere's controllers: what is theirs is left to them while they live, and taken up after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from console.kube.client import ConsoleClient, Transport
from console.kube.credentials import Credentials
from console.kube.errors import NotFound
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
from workspaces.controllers import kubesphere
from workspaces.controllers.kubesphere import NAME, NAMESPACE
from workspaces.names import MANAGED

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubesphere, "LOOK_EVERY", 0.0)


THEIRS = "finalizers.tenant.kubesphere.io"


class Manager:
    """What ks-controller-manager does about workspaces: it makes them of their templates, with their
    labels and spec and nothing else, gives them a finalizer that it takes away, and holds a lease."""

    def __init__(self, tenancy: Tenancy) -> None:
        kubeconfig = str(tenancy.cluster.kubeconfig)
        self._transport = Transport(Credentials("admin", kubeconfig))
        self._client = ConsoleClient(self._transport)
        self.writes = self.rounds = 0
        self.names: set[str] = set()

    async def run(self) -> None:
        try:
            while True:
                await self._hold()
                for name in self.names:
                    await self._see_to(name)
                self.rounds += 1
                await asyncio.sleep(0.1)
        finally:
            await self._transport.close()

    async def some_rounds(self) -> None:
        """In which whoever writes against it would have been seen to."""
        end = self.rounds + 15
        await until(lambda: self.rounds >= end, "rounds")

    async def _hold(self) -> None:
        spec = {
            "holderIdentity": "ks-controller-manager-0",
            "leaseDurationSeconds": 4,
            "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        body: dict[str, Any] = {"metadata": {"name": NAME}, "spec": spec}
        try:
            await self._client.patch(LEASES, {"spec": spec}, namespace=NAMESPACE, name=NAME)
        except NotFound:
            body |= {"apiVersion": LEASES.group_version, "kind": "Lease"}
            await self._client.create(LEASES, body, namespace=NAMESPACE)

    async def _see_to(self, name: str) -> None:
        try:
            made_of = await self._client.get(WORKSPACE_TEMPLATES, name=name)
        except NotFound:
            return
        inner = made_of["spec"]["template"]
        labels = (inner.get("metadata") or {}).get("labels") or {}
        try:
            found = await self._client.get(WORKSPACES, name=name)
        except NotFound:
            self.writes += 1
            metadata = {"name": name, "labels": labels, "finalizers": [THEIRS]}
            await self._client.create(
                WORKSPACES,
                {
                    "apiVersion": WORKSPACES.group_version,
                    "kind": "Workspace",
                    "metadata": metadata,
                    "spec": inner.get("spec") or {},
                },
            )
            return
        if (found["metadata"].get("labels") or {}) == labels:
            return
        self.writes += 1
        found["metadata"]["labels"] = labels
        await self._client.replace(WORKSPACES, found, name=name)


@asynccontextmanager
async def managing(tenancy: Tenancy, *names: str) -> AsyncIterator[Manager]:
    manager = Manager(tenancy)
    manager.names.update(names)
    working = asyncio.create_task(manager.run())
    try:
        await until(lambda: read(tenancy, LEASES, NAME, NAMESPACE) is not None, "the lease")
        yield manager
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def labels_of(tenancy: Tenancy, name: str) -> dict[str, str]:
    found = read(tenancy, WORKSPACES, name) or {}
    return dict(found["metadata"].get("labels") or {})


async def test_what_is_theirs_is_left_to_them_and_taken_up_after(tenancy: Tenancy) -> None:
    apply(tenancy, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    apply(tenancy, user("ann"))
    async with managing(tenancy, "old", "gone") as manager:
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
    assert not MANAGED.items() <= labels_of(tenancy, "old").items()
    apply(tenancy, template("new", "ann"))
    await until(lambda: is_ours(tenancy, "new"), "one of ours")
    # And back again: they take ours over, and nobody writes against the other.
    async with managing(tenancy, "old", "new") as manager:
        await until(lambda: not is_ours(tenancy, "new"), "they have it")
        version = (read(tenancy, WORKSPACES, "new") or {})["metadata"]["resourceVersion"]
        change(tenancy, WORKSPACE_TEMPLATES, "new", {"metadata": {"annotations": {"a": "c"}}})
        await manager.some_rounds()
        assert manager.writes == 1
        now = (read(tenancy, WORKSPACES, "new") or {})["metadata"]["resourceVersion"]
        assert now == version
    # Controllers that start on this control plane later would wait until it has run out.
    delete(tenancy, LEASES, NAME, NAMESPACE)


def is_ours(tenancy: Tenancy, name: str) -> bool:
    found = read(tenancy, WORKSPACES, name) is not None
    return found and MANAGED.items() <= labels_of(tenancy, name).items()
