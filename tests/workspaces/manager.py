"""A stand-in for KubeSphere's controllers, as far as workspaces are concerned."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from console.kube.client import ConsoleClient, Transport
from console.kube.credentials import Credentials
from console.kube.errors import NotFound
from console.kube.gvr import LEASES, WORKSPACE_TEMPLATES, WORKSPACES
from tests.workspaces.cast import until
from workspaces.controllers.kubesphere import NAME, NAMESPACE

THEIRS = "finalizers.tenant.kubesphere.io"


class Manager:
    """What ks-controller-manager does about workspaces: it makes them of their templates, with their
    labels and spec and nothing else, gives them a finalizer that it takes away, and holds a lease."""

    def __init__(self, kubeconfig: Path) -> None:
        self._transport = Transport(Credentials("admin", str(kubeconfig)))
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
async def managing(kubeconfig: Path, *names: str) -> AsyncIterator[Manager]:
    manager = Manager(kubeconfig)
    manager.names.update(names)
    working = asyncio.create_task(manager.run())
    try:
        await until(lambda: manager.rounds or working.done(), "the lease")
        yield manager
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
