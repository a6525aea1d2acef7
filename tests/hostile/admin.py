"""A client with all permissions that checks each response without a browser, for the many pages
that differ by their input. The console and the cluster run in the same process.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils.html import strip_tags

from console.kube import gvr as types
from console.kube.gvr import CONFIG_MAPS, GVR, Key
from console.kube.runtime import Runtime
from console.kube.store import Store
from console.ui.core.clusters import HOST, clusters
from devcluster.custom_types import CRDS
from devcluster.rbac import CLUSTER_ROLE_BINDINGS
from devcluster.server import DevCluster
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.edit_forms import Form, form_of
from tests.controlplane.waiting import eventually
from tests.hostile.conftest import ADMINS
from tests.hostile.foreign_content import wrong_in
from tests.hostile.world import define, write
from tests.kinds.custom_types import definition
from tests.kinds.world import Obj
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.views.conftest import Utf8Client

WIDGETS, ANYTHING = GVR("zqx.org", "v1", "widgets"), GVR("zqx.org", "v1", "anythings")
#: Maximum CPU seconds per response, including the cluster in the same process.
BOUND = 3.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("written")) as found:
        found.run(lambda parts: parts.ensure(CLUSTER_ROLE_BINDINGS, deepcopy(ADMINS)))
        found.run(lambda parts: parts.ensure("namespaces", {"metadata": {"name": "shop"}}))
        found.run(define)
        found.run(lambda parts: parts.store.put(CRDS, anything()))
        yield found


def anything() -> Obj:
    """Return the definition of a type whose objects can hold any values."""
    crd = definition(ANYTHING.qualified, kind="Anything", uid="u3")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    return crd


@pytest.fixture(scope="module")
def _runtime(cluster: DevCluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    needed = [types.NAMESPACES, CONFIG_MAPS, types.CLUSTER_ROLES, types.CUSTOM_RESOURCE_DEFINITIONS]
    runtime.require(needed)
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in needed), "all is known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime, caplog: pytest.LogCaptureFixture) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()
    faults = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert faults == [], [one.getMessage() for one in faults]


@dataclass(frozen=True)
class Answer:
    status: int
    html: str
    headers: Mapping[str, str]

    @property
    def form(self) -> Form:
        return form_of(self.status, self.html)

    @property
    def said(self) -> str:
        """Return the text of the page, for assertion messages."""
        main = self.html.partition("<main")[2].rpartition("</main>")[0]
        return " ".join(strip_tags(main or self.html).split())[:2000]


class Admin:
    """A user with all permissions. Every response is checked."""

    def __init__(self) -> None:
        self._client = Utf8Client(raise_request_exception=False)

    async def get(self, url: str) -> Answer:
        return await self._looked_at(url, self._client.get(url, headers={"X-Cast": "admin"}))

    async def post(self, url: str, data: dict[str, Any], what: object = "") -> Answer:
        sent = self._client.post(url, data, headers={"X-Cast": "admin"})
        return await self._looked_at(f"{url} {what!r:.200}", sent)

    async def _looked_at(self, what: str, sent: Any) -> Answer:
        began = time.process_time()
        response = await sent
        html = await text_of(response)
        took = time.process_time() - began
        answer = Answer(response.status_code, html, response.headers)
        assert response.status_code < 500, (what, answer.said)
        assert took < BOUND, (what, took)
        if "html" in response.headers.get("Content-Type", "html"):
            assert not (wrong := wrong_in(html)), (what, wrong)
        return answer


@pytest.fixture
def admin() -> Admin:
    return Admin()


def put(cluster: DevCluster, gvr: GVR, obj: Obj) -> Obj:
    cluster.run(lambda parts: write(parts, gvr, obj))
    return obj


def await_object(runtime: Runtime, gvr: GVR, key: Key) -> Store[Any]:
    """Wait until the store contains the object and return the store."""
    store = runtime.informer(gvr).store
    eventually(lambda: store.get(key), "it is known")
    return store


def known_kind(gvr: GVR) -> str:
    """Wait until the console has loaded the kind and return its URL segment."""
    found = clusters.get(HOST)
    assert found is not None
    eventually(lambda: found.kinds.find(gvr.qualified), "the kind is known")
    return gvr.qualified
