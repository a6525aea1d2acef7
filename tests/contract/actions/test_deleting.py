"""Deleting an object that owns others: the page lists the dependents and applies the selected
propagation policy.
"""

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
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import join
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

FOLLOWED = (types.NAMESPACES, types.DEPLOYMENTS, types.REPLICA_SETS, types.PODS)


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
    """A namespace and a user with permission to delete workloads in it. Its pods are never
    scheduled.
    """

    admin: Client
    runtime: Runtime
    namespace: str
    viewer: str

    def deployment(self) -> Obj:
        """Create a Deployment with three pods and wait until the console has loaded all of them."""
        name = unique("web")
        body = deployment(name, "example/one:1", replicas=3)
        body["spec"]["template"]["spec"]["schedulerName"] = "nobody"
        made: Obj = self.admin.post(path(self.namespace, "deployments", group="apps/v1"), body).ok()
        eventually(lambda: len(self.owned(name)) == 4 and self._known(name), f"{name} has its pods")
        return made

    def _known(self, name: str) -> bool:
        return all(
            self.runtime.informer(gvr).store.get(Key(self.namespace, one["metadata"]["name"]))
            for gvr, one in self.owned(name)
        )

    def owned(self, name: str) -> list[tuple[GVR, Obj]]:
        """Return the ReplicaSet and the pods of the Deployment."""
        return [
            (gvr, one)
            for gvr in (types.REPLICA_SETS, types.PODS)
            for one in self.admin.get(
                path(self.namespace, gvr.resource, group="apps/v1" if gvr.group else ""),
                labelSelector=f"app={name}",
            ).ok()["items"]
        ]

    def at(self, made: Obj) -> str:
        name = made["metadata"]["name"]
        return path(self.namespace, "deployments", name, group="apps/v1")

    def is_there(self, made: Obj) -> bool:
        return self.admin.get(self.at(made)).status == 200

    def url(self, made: Obj) -> str:
        name = made["metadata"]["name"]
        return f"/clusters/host/projects/{self.namespace}/deployments/{name}/actions/delete"

    def client(self) -> SignedIn:
        return ClientAs()(self.viewer)

    async def delete(self, made: Obj, **data: str) -> Any:
        sent = {"uid": made["metadata"]["uid"], **data}
        return await self.client().post(self.url(made), sent)


@pytest.fixture
def project(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Project:
    viewer = FakeAccess(unique("editor"), list_in={namespace}, delete_in={namespace})
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    rights = rule("list delete", "deployments", "apps")
    join(viewer, Grants(cleanup, namespace).team(rights, here=True))
    return Project(admin, runtime, namespace, name)


async def test_the_delete_page_lists_owned_objects(project: Project) -> None:
    made = project.deployment()
    page = await text_of(await project.client().get(project.url(made)))
    assert "Owned objects" in page
    for _gvr, one in project.owned(made["metadata"]["name"]):
        assert one["metadata"]["name"] in page


async def test_the_delete_page_omits_objects_the_user_cannot_list(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project.deployment()
    pods = [one for gvr, one in project.owned(made["metadata"]["name"]) if gvr == types.PODS]
    access = VIEWERS[project.viewer]()
    where = access.namespaces_where

    def without_pods(verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return frozenset() if gvr == types.PODS else where(verb, gvr, subresource)

    monkeypatch.setattr(access, "namespaces_where", without_pods)
    page = await text_of(await project.client().get(project.url(made)))
    assert "Owned objects" in page and len(pods) == 3
    assert not any(one["metadata"]["name"] in page for one in pods)


async def test_background_deletion_deletes_owned_objects_afterwards(project: Project) -> None:
    made = project.deployment()
    assert (await project.delete(made)).status_code == 302
    assert not project.is_there(made)
    name = made["metadata"]["name"]
    eventually(lambda: not project.owned(name), "what it owned is gone")


async def test_foreground_deletion_deletes_owned_objects_first(project: Project) -> None:
    made = project.deployment()
    name = made["metadata"]["name"]
    held = next(one for gvr, one in project.owned(name) if gvr == types.PODS)
    at = path(project.namespace, "pods", held["metadata"]["name"])
    patch = {"metadata": {"finalizers": ["example.com/hold"]}}
    project.admin.patch(at, patch, "application/merge-patch+json").ok()
    assert (await project.delete(made, policy="Foreground")).status_code == 302
    eventually(lambda: len(project.owned(name)) == 2, "the other pods are gone")
    assert project.admin.get(project.at(made)).ok()["metadata"]["deletionTimestamp"]
    none = {"metadata": {"finalizers": None}}
    project.admin.patch(at, none, "application/merge-patch+json").ok()
    eventually(lambda: not project.is_there(made), "it is gone")


async def test_orphan_deletion_keeps_owned_objects(project: Project) -> None:
    made = project.deployment()
    name = made["metadata"]["name"]
    assert (await project.delete(made, policy="Orphan")).status_code == 302
    eventually(lambda: not project.is_there(made), "it is gone")
    left = project.owned(name)
    assert len(left) == 4
    owners = {
        owner["kind"] for _, one in left for owner in one["metadata"].get("ownerReferences", ())
    }
    # The ReplicaSet has no owner now and still owns its pods.
    assert owners == {"ReplicaSet"}
    replica_set = left[0][1]["metadata"]["name"]
    where = path(project.namespace, "replicasets", replica_set, group="apps/v1")
    project.admin.delete(where, propagationPolicy="Background").ok()


async def test_an_unknown_propagation_policy_is_rejected(project: Project) -> None:
    made = project.deployment()
    refused = await project.delete(made, policy="Sideways")
    text = await text_of(refused)
    assert (
        refused.status_code == 400
        and "This option is no longer available. Choose another option." in text
    )
    assert "Owned objects" in text and project.is_there(made)


async def test_a_recreated_object_of_the_same_name_is_not_deleted(project: Project) -> None:
    made = project.deployment()
    refused = await project.client().post(
        project.url(made), {"uid": "another", "policy": "Foreground"}
    )
    assert refused.status_code == 409 and project.is_there(made)


async def test_the_delete_page_shows_the_kubectl_command(project: Project) -> None:
    made = project.deployment()
    name = made["metadata"]["name"]
    line = f"kubectl delete deployments.apps {name} -n {project.namespace}"
    assert line in await text_of(await project.client().get(project.url(made)))
    refused = await project.client().post(project.url(made), {"uid": "another", "policy": "Orphan"})
    assert f"{line} --cascade=orphan" in await text_of(refused)
