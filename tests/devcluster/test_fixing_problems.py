"""Fixing the problems of the sample data with the actions of the console."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import Key
from console.kube.runtime import Runtime
from console.ui.core.links import edit_form_url
from devcluster.server import DevCluster
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.wizard_pages import WizardVisitor
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

FOLLOWED = (types.NAMESPACES, types.DEPLOYMENTS, types.REPLICA_SETS)
WHO = "mender"


@pytest.fixture(scope="module")
def _runtime(world: DevCluster) -> Iterator[Runtime]:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": WHO}
    body = {"metadata": {"name": WHO}, "roleRef": role, "subjects": [subject]}
    Api.of(world).post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body)
    runtime = Runtime(kubeconfig=str(world.kubeconfig))
    runtime.start()
    runtime.require(FOLLOWED)
    eventually(
        lambda: all(live(runtime.informer(gvr)) for gvr in FOLLOWED), "all informers are synced"
    )
    yield runtime
    runtime.stop()


@dataclass(frozen=True)
class Demo:
    runtime: Runtime

    async def do(self, namespace: str, name: str, action: str, **data: str) -> None:
        url = f"/clusters/host/projects/{namespace}/deployments/{name}/actions/{action}"
        sent = {"uid": self.known(namespace, name).uid, **data}
        done = await ClientAs()(WHO).post(url, sent)
        assert done.status_code == 302, await text_of(done)

    async def set_image(self, namespace: str, name: str, image: str) -> str:
        """Set the image with the form, and return the page with the form."""
        visitor = WizardVisitor(WHO)
        where = "host", types.DEPLOYMENTS.resource, Key(namespace, name)
        await visitor.open(edit_form_url(*where, "set-image"))
        form = visitor.main
        await visitor.press("next", containers__0__image=image)
        await visitor.press("save")
        assert visitor.url.endswith(f"/{name}"), visitor.main
        return form

    def known(self, namespace: str, name: str) -> Any:
        entry = self.runtime.informer(types.DEPLOYMENTS).store.get(Key(namespace, name))
        assert entry is not None
        return entry.projection

    def word(self, namespace: str, name: str) -> str:
        return str(self.known(namespace, name).status.word)

    def runs(self, namespace: str, name: str, image: str) -> None:
        """Wait until all pods of the deployment run the image."""

        def done() -> bool:
            item = self.known(namespace, name)
            return item.status.word == "Running" and image in item.images

        eventually(done, f"{name} is running {image}")


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch, _runtime: Runtime) -> Iterator[Demo]:
    monkeypatch.setitem(VIEWERS, WHO, lambda: FakeAccess(WHO, get_in=None))
    set_host_cluster(_runtime)
    yield Demo(_runtime)
    unset_host_cluster()


async def test_a_missing_image_is_fixed_by_a_new_image_or_a_rollback(demo: Demo) -> None:
    where, image = ("web", "image-resizer"), "registry.shop.example/web/image-resizer"
    assert demo.word(*where) != "Running"
    await demo.set_image(*where, f"{image}:0.9.8")
    demo.runs(*where, f"{image}:0.9.8")
    # A rollback to the last working revision fixes the deployment too.
    await demo.set_image(*where, f"{image}:0.9.8-rc")
    eventually(lambda: demo.word(*where) != "Running", "the rollout is stuck")
    await demo.do(*where, "rollback", revision="1")
    demo.runs(*where, f"{image}:0.9.7")


@pytest.mark.parametrize(
    ("namespace", "name", "image"),
    [
        ("payments", "fraud-scorer", "registry.shop.example/payments/fraud-scorer:0.14.1"),
        ("shipping", "customs-forms", "registry.shop.example/shipping/customs-forms:1.4.1"),
        ("data", "feature-store", "registry.shop.example/data/feature-store:2.2.3"),
    ],
)
async def test_crashing_and_unready_deployments_are_fixed_by_a_new_image(
    demo: Demo, namespace: str, name: str, image: str
) -> None:
    assert demo.word(namespace, name) != "Running"
    form = await demo.set_image(namespace, name, image)
    assert 'class="cause"' in form
    demo.runs(namespace, name, image)


async def test_scaling_down_another_deployment_unblocks_a_rollout_at_the_quota(demo: Demo) -> None:
    """A rolling update creates a new pod before it deletes an old one, which exceeds the quota."""
    where, image = ("checkout", "pricing"), "registry.shop.example/checkout/pricing"
    await demo.set_image(*where, f"{image}:1.19.5")
    eventually(lambda: demo.word(*where) == "Cannot create pods", "the quota is exhausted")
    await demo.do("checkout", "order-worker", "scale", replicas="2")
    demo.runs(*where, f"{image}:1.19.5")
