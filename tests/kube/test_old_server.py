"""The cluster core in front of the embedded cluster as Kubernetes 1.21 to 1.23."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.clients import UserClient
from console.kube.compatibility import limitations
from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS, PODS, Key
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from devcluster.releases import Release
from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api
from tests.kube.clusters import live

AUTOSCALERS = "/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers"
PLACE: dict[str, Any] = {"namespace": "default", "name": "web"}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
POD = {
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "app", "image": "example/app"}]},
}
BINDING = {
    "metadata": {"name": "jane"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    },
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
}


def autoscaler(name: str) -> dict[str, Any]:
    return {
        "apiVersion": HORIZONTAL_POD_AUTOSCALERS.group_version,
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3},
    }


@pytest.fixture(scope="module", params=[21, 22, 23])
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("cluster")
    with DevCluster(folder, release=Release(request.param)) as cluster:
        api = Api.of(cluster)
        api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", BINDING)
        yield api


@pytest.fixture(scope="module")
def runtime(old: Api) -> Iterator[Runtime]:
    found = Runtime(kubeconfig=str(old.cluster.kubeconfig))
    found.start()
    eventually(found.served.tried.is_set, "discovery was read")
    yield found
    found.stop()


@pytest.fixture
def client(runtime: Runtime) -> UserClient:
    return runtime.as_user(Identity("jane"))


def test_version_and_limitations_are_known(old: Api, runtime: Runtime) -> None:
    version = runtime.served.version
    assert version is not None
    assert version.name == old.get("/version")["gitVersion"] and version.supported
    protections = sum(one.protection for one in runtime.served.limitations)
    assert (protections, len(runtime.served.limitations)) == (5, 5 + 4 - (version.release[1] - 21))
    assert len(limitations(version, lambda _gvr: True)) < len(runtime.served.limitations)


async def test_autoscalers_are_read_and_written(
    old: Api, runtime: Runtime, client: UserClient
) -> None:
    """Kubernetes 1.21 and 1.22 serve them in `v2beta2` only."""
    gvr, place = HORIZONTAL_POD_AUTOSCALERS, PLACE
    made = await client.create(gvr, autoscaler("web"), namespace="default")
    assert made["apiVersion"] == "autoscaling/v2"
    changed = await client.patch(gvr, {"spec": {"maxReplicas": 5}}, **place)
    changed["spec"]["minReplicas"] = 2
    changed = await client.replace(gvr, changed, **place)
    assert (await client.get(gvr, **place)) == changed
    applied = {**autoscaler("web"), "metadata": {"name": "web", "namespace": "default"}}
    applied["spec"] = {**applied["spec"], "maxReplicas": 7}
    await client.apply(gvr, applied)
    informer = runtime.informer(gvr)

    def most() -> int | None:
        entry = informer.store.get(Key("default", "web"))
        return entry.projection.most if entry is not None else None

    eventually(lambda: live(informer) and most() == 7, "the change is in the cache")
    assert runtime.served.serves(gvr) is True
    assert b"HorizontalPodAutoscaler" in await client.get_resources("autoscaling", "v2")
    await client.delete(gvr, **place, uid=changed["metadata"]["uid"])
    eventually(lambda: most() is None, "the deletion is in the cache")


async def test_pods_are_evicted(old: Api, client: UserClient) -> None:
    """Kubernetes 1.21 rejects evictions of `policy/v1`."""
    made = old.post("/api/v1/namespaces/default/pods", POD)
    await client.evict(**PLACE, uid=made["metadata"]["uid"], dry_run=True)
    await client.evict(**PLACE, uid=made["metadata"]["uid"], grace=0)
    path = PODS.path("default", "web")
    eventually(
        lambda: (
            old.call("GET", path)[0] == 404 or old.get(path)["metadata"].get("deletionTimestamp")
        ),
        "it is evicted",
    )


async def test_unknown_fields_are_ignored(client: UserClient) -> None:
    body = autoscaler("lenient")
    body["spec"]["unknown"] = 1
    made = await client.create(HORIZONTAL_POD_AUTOSCALERS, body, namespace="default")
    assert "unknown" not in made["spec"]
