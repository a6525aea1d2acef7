"""A console in front of the embedded cluster, whose pods write logs."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pytest_django import Settings

from console.kube.gvr import NAMESPACES, PODS, Key
from console.kube.runtime import Runtime
from console.ui.core.links import log_url
from devcluster.audit import RequestRecord
from devcluster.releases import Release
from devcluster.server import DevCluster
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj
from tests.kube.clusters import live

RBAC = "/apis/rbac.authorization.k8s.io/v1"
POD_PATH = "/api/v1/namespaces/default/pods"
NODE: Obj = {
    "metadata": {"name": "node-1"},
    "spec": {"podCIDR": "10.244.9.0/24"},
    "status": {
        "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"},
    },
}


def binding(name: str, role: str, *users: str) -> Obj:
    kind = {"apiGroup": "rbac.authorization.k8s.io"}
    return {
        "metadata": {"name": name},
        "roleRef": {**kind, "kind": "ClusterRole", "name": role},
        "subjects": [{**kind, "kind": "User", "name": user} for user in users],
    }


@dataclass
class World:
    """The pods, and the console that shows them. `api` uses the administrator's permissions."""

    cluster: DevCluster
    api: Api
    runtime: Runtime

    def pod(self, name: str, *containers: str, **notes: str) -> Obj:
        names = containers or ("app",)
        spec = [{"name": one, "image": f"example/{one}:1"} for one in names]
        return {"metadata": {"name": name, "annotations": notes}, "spec": {"containers": spec}}

    def start(self, pod: Obj) -> str:
        """Create the pod, wait until the console received it as started, and return the path of its
        log.
        """
        name = self.api.post(POD_PATH, pod)["metadata"]["name"]
        key = Key("default", name)

        def started() -> bool:
            entry = self.runtime.informer(PODS).store.get(key)
            status = entry.original().get("status") or {} if entry is not None else {}
            states = [one.get("state") or {} for one in status.get("containerStatuses") or ()]
            return bool(states) and all("running" in one or "terminated" in one for one in states)

        eventually(started, f"{name} has started")
        return log_url("host", "pods", key).partition("?")[0]

    def stop(self, name: str) -> None:
        self.api.call("DELETE", f"{POD_PATH}/{name}?gracePeriodSeconds=0")

    def asked(self, mark: int = 0) -> list[RequestRecord]:
        """Return the log requests that the cluster received since `mark`."""
        return self.cluster.audit.requests_since(mark, subresource="log")


@pytest.fixture(scope="module")
def release() -> Release:
    """Return the Kubernetes release of the cluster. Test modules may override this fixture."""
    return Release()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, release: Release) -> Iterator[World]:
    with DevCluster(tmp_path_factory.mktemp("cluster"), release=release) as cluster:
        api = Api.of(cluster)
        api.post("/api/v1/nodes", NODE)
        api.post(f"{RBAC}/clusterrolebindings", binding("admins", "cluster-admin", "admin"))
        runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
        runtime.start()
        try:
            runtime.require([NAMESPACES, PODS])
            eventually(lambda: live(runtime.informer(PODS)), "pods are known")
            yield World(cluster, api, runtime)
        finally:
            runtime.stop()


@pytest.fixture
def world(made: World) -> Iterator[World]:
    set_host_cluster(made.runtime)
    yield made
    unset_host_cluster()


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.views.urls"
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MIDDLEWARE = [
        "console.web.async_middleware.InlineLocaleMiddleware",
        "accounts.csrf.CsrfMiddleware",
        "console.web.async_middleware.InlineMessageMiddleware",
        "django_htmx.middleware.HtmxMiddleware",
        "tests.views.viewers.CastMiddleware",
    ]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
