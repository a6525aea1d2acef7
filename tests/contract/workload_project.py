"""A project, and a user who may change the workloads in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.runtime import Runtime
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import Grants, rule
from tests.contract.objects import path, unique
from tests.contract.pages import join
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn
from tests.views.viewers import VIEWERS

FOLLOWED = (
    types.NAMESPACES,
    types.DEPLOYMENTS,
    types.STATEFUL_SETS,
    types.DAEMON_SETS,
    types.REPLICA_SETS,
    types.CONTROLLER_REVISIONS,
    types.JOBS,
    types.CRON_JOBS,
    types.HORIZONTAL_POD_AUTOSCALERS,
)
RIGHTS = (
    rule("get list patch", "deployments statefulsets daemonsets", "apps"),
    rule("list", "replicasets controllerrevisions", "apps"),
    rule("patch", "deployments/scale statefulsets/scale", "apps"),
    rule("get list create patch", "jobs cronjobs", "batch"),
    rule("list", "horizontalpodautoscalers", "autoscaling"),
)


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require(FOLLOWED)
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in FOLLOWED), "all is known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@dataclass(frozen=True)
class Project:
    """A namespace and a user with permission to change workloads in it."""

    admin: Client
    runtime: Runtime
    namespace: str
    viewer: str

    def path(self, gvr: GVR, *name: str) -> str:
        return path(self.namespace, gvr.resource, *name, group=gvr.group_version)

    def make(self, gvr: GVR, body: Obj) -> Obj:
        """Create the object and wait until the console has loaded it."""
        made: Obj = self.admin.post(self.path(gvr), body).ok()
        key = Key(self.namespace, made["metadata"]["name"])
        store = self.runtime.informer(gvr).store
        eventually(lambda: store.get(key) is not None, f"{key} is known")
        return made

    def read(self, gvr: GVR, made: Obj) -> Obj:
        found: Obj = self.admin.get(self.path(gvr, made["metadata"]["name"])).ok()
        return found

    def known(self, gvr: GVR, made: Obj) -> Any:
        """Return the object as the console's cache has it."""
        entry = self.runtime.informer(gvr).store.get(Key(self.namespace, made["metadata"]["name"]))
        assert entry is not None
        return entry.projection

    def url(self, gvr: GVR, made: Obj, action: str = "") -> str:
        name = made["metadata"]["name"]
        found = f"/clusters/host/projects/{self.namespace}/{gvr.resource}/{name}"
        return f"{found}/actions/{action}" if action else found

    def client(self, **headers: str) -> SignedIn:
        return ClientAs()(self.viewer, **headers)

    async def do(self, gvr: GVR, made: Obj, action: str, **data: Any) -> None:
        """Submit the action's form."""
        sent = {"uid": made["metadata"]["uid"], **data}
        done = await self.client().post(self.url(gvr, made, action), sent)
        assert done.status_code == 302, await text_of(done)

    async def page(self, gvr: GVR, made: Obj, action: str, query: str = "") -> str:
        found = await self.client().get(f"{self.url(gvr, made, action)}?{query}")
        text: str = await text_of(found)
        assert found.status_code == 200, text
        return text


@pytest.fixture
def project(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Project:
    viewer = FakeAccess(
        unique("editor"), list_in={namespace}, delete_in={namespace}, get_in={namespace}
    )
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    join(viewer, Grants(cleanup, namespace).team(*RIGHTS, here=True))
    return Project(admin, runtime, namespace, name)
