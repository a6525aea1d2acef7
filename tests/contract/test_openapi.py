"""The schema of a kind, extracted from kube-apiserver's OpenAPI documents, which are read with the
user's identity.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from console.kube.runtime import Runtime
from devcluster.server import DevCluster
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import JSON_PATCH, Client, Obj
from tests.contract.cluster import Clients, Cluster, Embedded
from tests.contract.crds import definition, establish
from tests.contract.objects import CRDS, RBAC
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

ROOT = "/clusters/host/openapi"
VIEWER = "editor"

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    yield runtime
    runtime.stop()


@pytest.fixture
def viewer(_runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[SignedIn]:
    """A signed-in user without any other permissions."""
    monkeypatch.setitem(VIEWERS, VIEWER, lambda: FakeAccess(VIEWER))
    set_host_cluster(_runtime)
    yield ClientAs()(VIEWER, Accept="application/json")
    unset_host_cluster()


@pytest.fixture
def crd(admin: Client, cleanup: Cleanup, namespace: str) -> Obj:
    made = definition()
    establish(admin, cleanup, made, namespace)
    return made


def url_of(crd: Obj, kind: str = "Widget") -> str:
    return f"{ROOT}/{crd['spec']['group']}/v1/{kind}"


async def schema_of(viewer: SignedIn, url: str) -> tuple[Obj, Any]:
    """Return the schema of the kind and the response."""
    answer = await viewer.get(url)
    assert answer.status_code == 200, answer.content
    found = json.loads(answer.content)
    prefix, _, name = found["$ref"].rpartition("/")
    assert prefix == "#/components/schemas"
    return found["components"]["schemas"][name], answer


async def test_the_schema_of_a_custom_type_is_returned(viewer: SignedIn, crd: Obj) -> None:
    properties = (await served(viewer, url_of(crd)))["properties"]
    assert {"apiVersion", "kind", "metadata", "spec", "status"} == properties.keys()
    assert properties["spec"]["required"] == ["size"]
    assert properties["spec"]["properties"]["color"]["enum"] == ["blue", "red"]


async def served(viewer: SignedIn, url: str) -> Obj:
    """Return the schema of the kind after it was published, which happens shortly after its objects
    are served.
    """
    while (await viewer.get(url)).status_code == 404:
        pass
    return (await schema_of(viewer, url))[0]


async def test_all_referenced_schemas_are_included(viewer: SignedIn) -> None:
    for path in ("apps/v1/Deployment", "core/v1/Pod"):
        schema, answer = await schema_of(viewer, f"{ROOT}/{path}")
        text = answer.content.decode()
        components = json.loads(text)["components"]["schemas"]
        named = {part.partition('"')[0] for part in text.split('"$ref":"#/components/schemas/')[1:]}
        assert named == components.keys()
        kinds = {one["kind"] for one in schema["x-kubernetes-group-version-kind"]}
        assert kinds == {path.rpartition("/")[2]}
        assert len(components) > 100


async def test_an_unchanged_schema_returns_304(viewer: SignedIn, crd: Obj) -> None:
    await served(viewer, url_of(crd))
    _schema, answer = await schema_of(viewer, url_of(crd))

    def having(etag: str) -> SignedIn:
        return ClientAs()(VIEWER, **{"If-None-Match": etag})

    again = await having(answer["ETag"]).get(url_of(crd))
    assert (again.status_code, again.content) == (304, b"")
    assert (await having('"other"').get(url_of(crd))).content == answer.content


async def test_a_changed_definition_updates_the_schema(
    viewer: SignedIn, admin: Client, crd: Obj
) -> None:
    await served(viewer, url_of(crd))
    _schema, before = await schema_of(viewer, url_of(crd))
    spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
    added = [{"op": "add", "path": f"{spec}/weight", "value": {"type": "string"}}]
    admin.patch(f"{CRDS}/{crd['metadata']['name']}", added, JSON_PATCH).ok()
    weight = None
    while weight is None:
        schema, answer = await schema_of(viewer, url_of(crd))
        weight = schema["properties"]["spec"]["properties"].get("weight")
    assert weight == {"type": "string"}
    assert answer["ETag"] != before["ETag"]


@pytest.mark.parametrize(
    "path",
    [
        "apps/v1/Nothing", "apps/v9/Deployment", "nothing.example.com/v1/Thing", "apps/v1/deployment",
        "core/v1/..", "../v1/Pod", "apps/v1/Dep%0Aloy", "apps/v1/" + "x" * 300, "APPS/v1/Deployment",
        "apps/v1%3Fhash=1/Deployment", "a%2Fb/v1/Pod", "core/v1/%F0%9F%92%A3",
    ],
)  # fmt: skip
async def test_unknown_kinds_return_404(viewer: SignedIn, path: str) -> None:
    answer = await viewer.get(f"{ROOT}/{path}")
    assert answer.status_code == 404


async def test_anonymous_requests_are_unauthorized(viewer: SignedIn) -> None:
    answer = await ClientAs()("", Accept="application/json").get(f"{ROOT}/core/v1/Pod")
    assert answer.status_code == 401


async def test_kube_apiserver_authorizes_each_schema_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This includes cached schemas. Without kube-apiserver no schema is returned."""
    server = DevCluster(tmp_path)
    server.start()
    runtime = Runtime(kubeconfig=str(server.kubeconfig))
    runtime.start()
    set_host_cluster(runtime)
    monkeypatch.setitem(VIEWERS, VIEWER, lambda: FakeAccess(VIEWER))
    viewer = ClientAs()(VIEWER, Accept="application/json")
    url = f"{ROOT}/core/v1/Pod"
    try:
        await schema_of(viewer, url)
        clusters = Embedded(server, tmp_path)
        with ExitStack() as stack:
            binding = f"{RBAC}/clusterrolebindings/system:discovery"
            Clients(clusters, stack).admin().delete(binding).ok()
        assert (await viewer.get(url)).status_code == 403
        server.kill()
        assert (await viewer.get(url)).status_code == 503
    finally:
        await runtime.close_connections()
        unset_host_cluster()
        runtime.stop()
        server.stop()
