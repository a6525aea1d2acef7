"""Built-in kinds whose types are installed and removed while the console runs."""

import asyncio
import json
import logging
import time
from collections.abc import Iterator

import pytest

from console.kube.gvr import HTTP_ROUTES
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.objects import CRDS
from tests.contract.pages import console_on
from tests.controlplane.waiting import eventually
from tests.live.conftest import Browser
from tests.support.responses import text_of
from tests.ui.support import admin as full_access
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

LIST = f"/clusters/host/{HTTP_ROUTES.qualified}"
ANYTHING: Obj = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
ROUTES: Obj = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": HTTP_ROUTES.qualified,
        # Groups that end with k8s.io require this annotation.
        "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
    },
    "spec": {
        "group": HTTP_ROUTES.group,
        "scope": "Namespaced",
        "names": {"plural": "httproutes", "singular": "httproute", "kind": "HTTPRoute"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}
        ],
    },
}


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, []) as runtime:
        eventually(lambda: clusters.host.kinds.served.find("", "pods"), "discovery is read")
        yield runtime


async def status_of(url: str = LIST, **headers: str) -> tuple[int, str]:
    answer = await ClientAs()("admin", **headers).get(url)
    return answer.status_code, await text_of(answer)


async def until(url: str, code: int, text: str) -> None:
    """Wait until the page has this status code and contains the text."""
    deadline = time.monotonic() + 30
    while True:
        found, html = await status_of(url)
        there = (found, text in html) == (code, True)
        if there or time.monotonic() > deadline:
            assert there, html.partition("<main")[2]
            return
        await asyncio.sleep(0.1)


async def test_type_that_is_not_installed_is_not_offered_and_not_requested(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        code, html = await status_of()
        assert code == 404 and "Not installed on this cluster" in html
        assert "Loading" not in html.partition("<main")[2]
        code, text = await status_of(f"{LIST}?format=json")
        assert (code, json.loads(text)["code"]) == (404, 404)
        for url in (f"/clusters/host/projects/default/{HTTP_ROUTES.qualified}/x", f"{LIST}?q=x"):
            code, html = await status_of(url)
            assert code == 404 and "not installed on this cluster" in html.casefold(), url
        for url in ("/clusters/host/resources", "/palette?q=httproute", "/clusters/host/services"):
            _code, html = await status_of(url)
            assert f'href="{LIST}' not in html, url
        code, text = await status_of("/search?q=anything&format=json")
        assert HTTP_ROUTES.qualified not in json.loads(text)["loading"]
    informer = runtime.informer(HTTP_ROUTES)
    assert informer.not_installed and not informer.reflectors
    assert not [one for one in caplog.records if "httproutes" in one.getMessage()]


async def test_list_appears_when_its_type_is_installed_and_disappears_when_it_is_removed(
    runtime: Runtime, admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    assert (await status_of())[0] == 404
    browser = Browser(full_access())
    assert await browser.connect()
    await browser.subscribe(LIST, etag="")
    cleanup.create(CRDS, ROUTES)
    where = HTTP_ROUTES.path(namespace)
    body = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "shop"},
    }
    eventually(lambda: admin.post(where, body).status in (201, 409), "the type is served")
    await until(LIST, 200, "/httproutes.gateway.networking.k8s.io/shop")
    # The open page is told to fetch the list.
    while (await browser.frame()) != '{"refresh":true}':
        pass
    assert f'href="{LIST}' in (await status_of("/clusters/host/resources"))[1]

    await browser.subscribe(LIST, etag="old")
    admin.delete(f"{CRDS}/{ROUTES['metadata']['name']}").ok()
    await until(LIST, 404, "Not installed on this cluster")
    while (await browser.frame()) != '{"refresh":true}':
        pass
    assert f'href="{LIST}' not in (await status_of("/clusters/host/resources"))[1]
    await browser.leave()
