"""The console on a cluster, for tests of pages that edit and create objects."""

from collections.abc import Iterator

import pytest

from console.kube.gvr import CONFIG_MAPS, DEPLOYMENTS, NAMESPACES
from console.kube.runtime import Runtime
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cluster import Cluster
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES, DEPLOYMENTS, CONFIG_MAPS])
    eventually(lambda: live(runtime.informer(DEPLOYMENTS)), "deployments are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()
