"""What is broken in the sample world can be mended from the console's pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import Key
from console.kube.runtime import Runtime
from devcluster.server import DevCluster
from rbac.current import no_host, use_host
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api
from tests.kube.clusters import live
from tests.ui.support import FakeAccess
from tests.views.cast import CAST
from tests.views.conftest import ClientAs, _site
from tests.views.test_lists import text_of

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
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in FOLLOWED), "all is known")
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

    def known(self, namespace: str, name: str) -> Any:
        entry = self.runtime.informer(types.DEPLOYMENTS).store.get(Key(namespace, name))
        assert entry is not None
        return entry.projection

    def word(self, namespace: str, name: str) -> str:
        return str(self.known(namespace, name).status.word)

    def runs(self, namespace: str, name: str, image: str) -> None:
        """Returns once it runs with that image alone."""

        def done() -> bool:
            item = self.known(namespace, name)
            return item.status.word == "Running" and image in item.images

        eventually(done, f"{name} runs {image}")


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch, _runtime: Runtime) -> Iterator[Demo]:
    monkeypatch.setitem(CAST, WHO, lambda: FakeAccess(WHO, get_in=None))
    use_host(_runtime)
    yield Demo(_runtime)
    no_host()


async def it_mends_an_image_that_is_not_there(demo: Demo) -> None:
    where, image = ("web", "image-resizer"), "registry.shop.example/web/image-resizer"
    assert demo.word(*where) != "Running"
    await demo.do(*where, "set-image", **{"image.image-resizer": f"{image}:0.9.8"})
    demo.runs(*where, f"{image}:0.9.8")
    # Or by going back to the last revision that ran.
    await demo.do(*where, "set-image", **{"image.image-resizer": f"{image}:0.9.8-rc"})
    eventually(lambda: demo.word(*where) != "Running", "the rollout waits")
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
async def it_mends_what_crashes_or_does_not_get_ready(
    demo: Demo, namespace: str, name: str, image: str
) -> None:
    assert demo.word(namespace, name) != "Running"
    await demo.do(namespace, name, "set-image", **{f"image.{name}": image})
    demo.runs(namespace, name, image)


async def it_makes_room_in_a_full_quota(demo: Demo) -> None:
    """A new pod comes before an old one goes, which the quota does not let in."""
    where, image = ("checkout", "pricing"), "registry.shop.example/checkout/pricing"
    await demo.do(*where, "set-image", **{"image.pricing": f"{image}:1.19.5"})
    eventually(lambda: demo.word(*where) == "Cannot create pods", "the quota is full")
    await demo.do("checkout", "order-worker", "scale", replicas="2")
    demo.runs(*where, f"{image}:1.19.5")
