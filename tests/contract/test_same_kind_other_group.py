"""References to a custom resource beside a built-in object of the same kind and name."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    STATEFUL_SETS,
)
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, is_established
from tests.contract.objects import CRDS, create_pod, path, pod, unique
from tests.contract.pages import console_on, known
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

NAME = "db"
FREE = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


@dataclass(frozen=True)
class Beside:
    """Objects named `db` of both kinds named StatefulSet, and the URLs of their pages."""

    namespace: str
    custom: Obj
    built_in: Obj
    custom_url: str
    built_in_url: str

    def links(self, html: str) -> set[str]:
        return {self.custom_url, self.built_in_url} & set(re.findall(r'href="([^"]+)"', html))


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    types = [CUSTOM_RESOURCE_DEFINITIONS, HORIZONTAL_POD_AUTOSCALERS, PODS, STATEFUL_SETS]
    with console_on(cluster, types) as found:
        yield found


@pytest.fixture
def beside(admin: Client, runtime: Runtime, cleanup: Cleanup, empty_namespace: str) -> Beside:
    crd = definition(schema=FREE)
    group, names = crd["spec"]["group"], {"plural": "statefulsets", "singular": "statefulset"}
    crd["metadata"]["name"] = f"statefulsets.{group}"
    crd["spec"]["names"] = {**names, "kind": "StatefulSet", "listKind": "StatefulSetList"}
    cleanup.create(CRDS, crd)
    eventually(lambda: is_established(admin, crd), "the definition is established")
    at = path(empty_namespace, "statefulsets", group=f"{group}/v1")
    eventually(lambda: admin.get(at).status == 200, "the type is served")
    body = {"apiVersion": f"{group}/v1", "kind": "StatefulSet", "metadata": {"name": NAME}}
    custom = admin.post(at, body).ok()
    labels = {"app": NAME}
    spec = {
        "replicas": 0,
        "serviceName": NAME,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod(NAME)["spec"]},
    }
    body = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": NAME},
        "spec": spec,
    }
    built_in = admin.post(path(empty_namespace, "statefulsets", group="apps/v1"), body).ok()
    known(runtime, STATEFUL_SETS, built_in)
    eventually(lambda: runtime.types.by_group_kind(f"StatefulSet.{group}"), "the type is known")
    here = f"/clusters/host/projects/{empty_namespace}"
    return Beside(
        empty_namespace,
        custom,
        built_in,
        f"{here}/statefulsets.{group}/{NAME}",
        f"{here}/statefulsets/{NAME}",
    )


def reference(to: Obj) -> Obj:
    return {**{field: to[field] for field in ("apiVersion", "kind")}, "name": NAME}


async def page(url: str) -> str:
    """Return the page. Load it again, as a browser does, while its data is loading."""
    async with asyncio.timeout(20):
        while "Refresh" in (response := await ClientAs()("admin").get(url)):
            await asyncio.sleep(0.05)
    html = await text_of(response)
    assert response.status_code == 200, html
    return html


@pytest.mark.parametrize("part", ["", "/resources"])
async def test_a_pod_links_its_owner_by_group_kind_and_name(
    admin: Client, runtime: Runtime, beside: Beside, part: str
) -> None:
    body = pod(unique("pod"), {"app": "other"})
    uid = beside.custom["metadata"]["uid"]
    owner = {**reference(beside.custom), "uid": uid, "controller": True}
    body["metadata"]["ownerReferences"] = [owner]
    made = create_pod(admin, beside.namespace, body)
    known(runtime, PODS, made)
    here = f"/clusters/host/projects/{beside.namespace}/pods/{made['metadata']['name']}"
    assert beside.links(await page(f"{here}{part}")) == {beside.custom_url}
    assert NAME in await page(beside.custom_url)


async def test_an_autoscaler_links_its_target_by_group_kind_and_name(
    admin: Client, runtime: Runtime, beside: Beside
) -> None:
    at = path(beside.namespace, "horizontalpodautoscalers", group="autoscaling/v2")
    for target, url in (
        (beside.custom, beside.custom_url),
        (beside.built_in, beside.built_in_url),
    ):
        name = unique("hpa")
        spec = {"scaleTargetRef": reference(target), "maxReplicas": 3}
        made = admin.post(at, {"metadata": {"name": name}, "spec": spec}).ok()
        known(runtime, HORIZONTAL_POD_AUTOSCALERS, made)
        here = f"/clusters/host/projects/{beside.namespace}/horizontalpodautoscalers/{name}"
        assert beside.links(await page(here)) == {url}
