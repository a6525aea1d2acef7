"""The console's three identities and its controllers in this process, on the embedded or a real
cluster.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from accounts.protection.retention import LoginRecordReconciler
from accounts.users.finalizer import UserFinalizer
from accounts.users.reconciler import UserReconciler
from console.kube import controller
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    LOGIN_RECORDS,
    NAMESPACES,
    NODES,
    PODS,
    USERS,
    Key,
)
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime
from console.kube.transport import Transport
from console.management.commands.install import install_into
from devcluster.server import DevCluster
from rbac.authorizer import SOURCES
from rbac.controllers import FACTORIES
from rbac.process_clusters import set_host_cluster
from tests.accounts.conftest import PASSWORD
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer
from tests.support.staticruntime import StaticRuntime

FOLLOWED = (*SOURCES, GLOBAL_ROLE_BINDINGS, NAMESPACES, NODES, PODS, LOGIN_RECORDS)
CONTROLLERS: tuple[controller.Factory, ...] = (
    UserReconciler,
    UserFinalizer,
    LoginRecordReconciler,
    *FACTORIES,
)


class World:
    def __init__(self, cluster: ControlPlane | DevCluster, folder: Path) -> None:
        self.admin = Transport(Credentials("admin", str(cluster.kubeconfig)))
        path = folder / "kubeconfig"
        tokens = asyncio.run(self._prepare())
        write_console_kubeconfig(path, cluster.url, Path(cluster.ca_file), tokens)
        self.runtime = Runtime(kubeconfig=str(path))

    async def _prepare(self) -> dict[str, str]:
        try:
            return await install_into(ConsoleClient(self.admin), admin_password=PASSWORD)
        finally:
            await self.admin.close()

    async def create(self, gvr: Any, item: dict[str, Any]) -> None:
        """Create an object and wait until it is in the console's cache."""
        meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
        await ConsoleClient(self.admin).create(gvr, {**item, "metadata": meta})
        name = item["metadata"]["name"]
        await until(lambda: self.cached(name, gvr) is not None, f"{name} is known")

    def cached(self, name: str, gvr: Any = USERS) -> dict[str, Any] | None:
        entry = self.runtime.informer(gvr).store.get(Key("", name))
        return entry.original() if entry is not None else None

    def state(self, name: str) -> str:
        return str(((self.cached(name) or {}).get("status") or {}).get("state"))


async def until(check: Callable[[], object], what: str) -> None:
    await asyncio.to_thread(eventually, check, what)


def on(*gate: str) -> pytest.MarkDecorator:
    """Return a mark with the clusters that a file's tests run on. The deep run uses all clusters."""
    clusters = fewer(["embedded", "real"], *gate)
    return pytest.mark.parametrize("running", clusters, indirect=True, scope="module")


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Start a cluster with the console's three identities and its controllers."""
    folder = tmp_path_factory.mktemp("protection")
    with ExitStack() as stack:
        cluster: ControlPlane | DevCluster
        if request.param == "embedded":
            cluster = stack.enter_context(DevCluster(folder / "cluster"))
        else:
            cluster = request.getfixturevalue("control_plane")
        world = World(cluster, folder)
        world.runtime.start()
        stack.callback(world.runtime.stop)
        world.runtime.require(FOLLOWED)
        for factory in CONTROLLERS:
            world.runtime.spawn(controller.run(world.runtime, factory(world.runtime)))
        yield world


@pytest.fixture
async def world(running: World, runtime: StaticRuntime) -> AsyncIterator[World]:
    """Use the cluster instead of the preloaded users."""
    set_host_cluster(running.runtime)
    for gvr in FOLLOWED:
        assert await running.runtime.wait_synced(gvr, timeout=20)
    yield running
    await running.admin.close()
    await running.runtime.close_connections()
