"""Users of a KubeSphere 3.4 cluster log in, choose a password, are locked, unlocked and deleted: on the
embedded cluster and on a real one, with the controllers at work."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import bcrypt
import pytest

from accounts.controllers import FINALIZER, UserReconciler
from accounts.farewell import FarewellReconciler
from accounts.protection.retention import LoginRecordReconciler
from console.kube import controller
from console.kube.client import ConsoleClient, Credentials, Transport
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    LOGIN_RECORDS,
    NAMESPACES,
    NODES,
    PODS,
    USERS,
    Key,
)
from console.kube.indexes import indexes_of
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime, StaticRuntime, set_runtime
from console.management.commands._installing import install_into
from devcluster.server import DevCluster
from rbac.authorizer import SOURCES
from rbac.controllers import FACTORIES
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.rbac.objects import binding, user

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "Quarterdeck-7"
FOLLOWED = (*SOURCES, GLOBAL_ROLE_BINDINGS, NAMESPACES, NODES, PODS, LOGIN_RECORDS)
CONTROLLERS: tuple[controller.Factory, ...] = (
    UserReconciler,
    FarewellReconciler,
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
        """Until the console knows."""
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


@pytest.fixture(scope="module", params=["embedded", "real"])
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """The console's own three identities, and its controllers."""
    folder = tmp_path_factory.mktemp("protection")
    cluster: ControlPlane | DevCluster
    if request.param == "embedded":
        cluster = DevCluster(folder / "cluster")
    else:
        request.getfixturevalue("control_plane_programs")
        cluster = ControlPlane(with_controllers=True)
    with cluster:
        world = World(cluster, folder)
        world.runtime.start()
        world.runtime.require(FOLLOWED)
        for factory in CONTROLLERS:
            world.runtime.spawn(controller.run(world.runtime, factory(world.runtime)))
        yield world
        world.runtime.stop()


@pytest.fixture
async def world(running: World, runtime: StaticRuntime) -> AsyncIterator[World]:
    """In the place of the preloaded users of other tests."""
    set_runtime(running.runtime)
    for gvr in FOLLOWED:
        assert await running.runtime.wait_synced(gvr, timeout=20)
    yield running
    await running.admin.close()
    await running.runtime.close_connections()


def of_kubesphere(name: str, **spec: Any) -> dict[str, Any]:
    """As `kubectl get users -o yaml` of a 3.4 cluster shows it: a hash of Go's bcrypt, and the mark."""
    item = user(
        name,
        password="$2a$" + HASH[4:],
        annotations={
            "iam.kubesphere.io/last-password-change-time": "2023-05-01T08:00:00Z",
            "iam.kubesphere.io/uninitialized": "true",
        },
        finalizers=[FINALIZER],
    )
    item["spec"] |= {"lang": "zh", "groups": [], **spec}
    item["status"] |= {
        "lastLoginTime": "2023-06-01T08:00:00Z",
        "lastTransitionTime": "2023-05-01T08:00:00Z",
    }
    return item


async def test_a_user_of_kubesphere_logs_in_and_chooses_a_password(world: World) -> None:
    await world.create(USERS, of_kubesphere("moved"))
    browser = Browser()
    assert (await browser.login("moved")).status_code == 302
    assert (await browser.get("/dashboard"))["Location"].startswith("/password/confirm")
    fields = {"current": PASSWORD, "password": NEW, "again": NEW}
    answer = await browser.post("/password/confirm", fields)
    assert answer.status_code == 302, answer.content.decode()
    assert (await browser.get("/dashboard")).status_code == 200
    found = world.cached("moved")
    assert found is not None
    assert bcrypt.checkpw(NEW.encode(), found["spec"]["password"].encode())
    assert (await browser.get("/account")).status_code == 200
    fields = {"email": "moved@example.com", "displayName": "M", "language": "en", "theme": "auto"}
    assert (await browser.post("/account/profile", fields)).status_code == 302
    assert (world.cached("moved") or {})["spec"]["displayName"] == "M"


async def test_failures_lock_and_an_administrator_unlocks(world: World) -> None:
    await world.create(USERS, user("lena", password=HASH))
    for _ in range(10):
        assert (await Browser().login("lena", "wrong")).status_code == 401
    assert (await Browser().login("lena")).status_code == 429
    await until(lambda: world.state("lena") == "AuthLimitExceeded", "the state says so")
    records = indexes_of(world.runtime.informer(LOGIN_RECORDS).store).by_label
    assert len(records.get("iam.kubesphere.io/user-ref=lena")) == 10
    admin = Browser()
    await admin.login("admin")
    page = await admin.get("/access/accounts/users/lena")
    assert "Unlock user" in page.content.decode()
    uid = (world.cached("lena") or {})["metadata"]["uid"]
    answer = await admin.post("/access/accounts/users/lena/unlock", {"uid": uid})
    assert answer.status_code == 302, answer.content.decode()
    assert world.state("lena") == "Active"
    assert (await Browser().login("lena")).status_code == 302
    await until(lambda: "lastLoginTime" in (world.cached("lena") or {})["status"], "the last login")
    assert world.state("lena") == "Active"


async def test_an_administrator_makes_disables_and_enables(world: World) -> None:
    admin, nina = Browser(), Browser()
    await admin.login("admin")
    fields = {"name": "nina", "email": "nina@example.com", "password": NEW}
    answer = await admin.post("/access/accounts/new", fields)
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: world.state("nina") == "Active", "nina is active")
    assert (await nina.login("nina", NEW)).status_code == 302
    uid = {"uid": (world.cached("nina") or {})["metadata"]["uid"]}
    assert (await admin.post("/access/accounts/users/nina/disable", uid)).status_code == 302
    assert (await nina.get("/dashboard"))["Location"].startswith("/login")
    assert (await Browser().login("nina", NEW)).status_code == 401
    assert (await admin.post("/access/accounts/users/nina/enable", uid)).status_code == 302
    assert (await Browser().login("nina", NEW)).status_code == 302


async def test_with_a_deleted_user_goes_what_the_name_could_do(world: World) -> None:
    await world.create(USERS, of_kubesphere("otto"))
    granted = binding("otto-platform-admin", ("User", "otto"))
    granted["metadata"]["labels"] = {"iam.kubesphere.io/user-ref": "otto"}
    await world.create(GLOBAL_ROLE_BINDINGS, granted)
    await ConsoleClient(world.admin).delete(USERS, name="otto")
    await until(lambda: world.cached("otto") is None, "otto is gone")
    name = "otto-platform-admin"
    await until(lambda: world.cached(name, GLOBAL_ROLE_BINDINGS) is None, "and the rights too")
