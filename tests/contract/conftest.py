"""Fixtures that run each test of this directory on the embedded cluster, a real control plane, and an
old one (see `_on_old` in tests/conftest.py).
"""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from accounts.bootstrap import manifests
from console.kube import gvr as types
from console.kube.gvr import VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOTS
from devcluster.sample.addons import definitions
from devcluster.server import DevCluster
from tests.contract.cleanup import Cleanup, temporary_namespace
from tests.contract.client import Client
from tests.contract.cluster import Clients, Cluster, Embedded, Kubectl, Real, kubectl_program
from tests.contract.crds import served
from tests.contract.versions import watched
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.plugin import skip_or_fail


@pytest.fixture(scope="package")
def embedded_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    server = DevCluster(tmp_path_factory.mktemp("embedded"))
    server.start()
    yield Embedded(server, tmp_path_factory.mktemp("home"))
    server.stop()


@pytest.fixture(scope="package")
def real_cluster(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Real(control_plane, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="package")
def old_cluster(
    old_control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Cluster:
    return Real(old_control_plane, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="package", params=["embedded", "real", "old"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(f"{request.param}_cluster")
    return found


@pytest.fixture(scope="package")
def clients(cluster: Cluster) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(cluster, stack)


@pytest.fixture(scope="package")
def admin(clients: Clients) -> Client:
    return clients.admin()


@pytest.fixture(scope="module")
def namespace(admin: Client) -> Iterator[str]:
    """Yield one namespace for all tests of a module. Each test uses unique object names."""
    with temporary_namespace(admin) as name:
        yield name


@pytest.fixture
def empty_namespace(admin: Client) -> Iterator[str]:
    """Yield an empty namespace, for tests that read all objects in it."""
    with temporary_namespace(admin) as name:
        yield name


@pytest.fixture
def cleanup(admin: Client) -> Iterator[Cleanup]:
    """Create cluster-scoped objects and delete them after the test."""
    with ExitStack() as stack:
        yield Cleanup(admin, stack)


@pytest.fixture
def kubectl(cluster: Cluster, namespace: str) -> Kubectl:
    program = kubectl_program()
    if program is None:
        skip_or_fail("kubectl with the embedded cluster", "there is no kubectl on this machine")
    return Kubectl(program, cluster.kubeconfig, cluster.home, namespace)


@pytest.fixture(autouse=True)
def _says_what_it_writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    wrong = watched(monkeypatch)
    yield
    assert wrong == []


@pytest.fixture(scope="module")
def _snapshots(admin: Client) -> Iterator[None]:
    """Install the definitions of volume snapshots. No controller takes snapshots."""
    wanted = {VOLUME_SNAPSHOTS.qualified, VOLUME_SNAPSHOT_CLASSES.qualified}
    found = [one for one in definitions() if one["metadata"]["name"] in wanted]
    for one in found:
        # Kubernetes rejects definitions in this API group without the annotation.
        one["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    with served(admin, found):
        yield


@pytest.fixture(scope="module")
def _workspaces(admin: Client) -> Iterator[None]:
    """Install the definition of workspaces, because an action waits for the list of workspaces."""
    name = types.WORKSPACE_TEMPLATES.qualified
    with served(admin, [one for one in manifests("crds.yaml") if one["metadata"]["name"] == name]):
        yield
