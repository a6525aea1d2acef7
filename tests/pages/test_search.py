"""The search page and its JSON: permissions, hostile input and lists that are not loaded yet."""

import json
from typing import Any

import pytest
from django.utils.html import escape

from console.kube.gvr import DEPLOYMENTS, GATEWAYS, PODS, SECRETS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.lists.columns import LinkTarget, target_url
from tests.support.informers import bring
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import pod
from tests.views.conftest import ClientAs


async def data_of(client_as: ClientAs, query: str, who: str = "admin") -> Any:
    response = await client_as(who).get(f"/search?format=json&q={query}")
    return response.status_code, json.loads(response.content)


async def test_results_are_grouped_by_kind(client_as: ClientAs) -> None:
    response = await client_as("admin").get("/search?q=web")
    html = await text_of(response)
    assert response.status_code == 200
    assert 'data-resource="pods" data-total="3"' in html
    assert escape(target_url("host", LinkTarget("pods", "shop", "web-1"))) in html
    assert 'value="web"' in html


async def test_large_group_links_to_the_full_list(client_as: ClientAs, pods: Informer[Any]) -> None:
    for number in range(300):
        bring(pods, pod(f"many-{number}"))
    html = await text_of(await client_as("admin").get("/search?q=many"))
    assert 'data-resource="pods" data-total="300"' in html
    assert html.count('class="hit"') == 5
    assert '<a class="link" href="/clusters/host/pods?q=many">All 300</a>' in html


async def test_results_are_available_as_json(client_as: ClientAs) -> None:
    status, found = await data_of(client_as, "web-2")
    assert (status, found["total"], found["query"], found["loading"]) == (200, 1, "web-2", [])
    [group] = found["groups"]
    assert (group["resource"], group["total"]) == ("pods", 1)
    [item] = group["items"]
    assert item["name"] == "web-2"
    assert item["status"]["word"] == "Crash loop"
    assert item["created"] == "2026-11-20T10:00:00+00:00"


async def test_json_is_not_translated(client_as: ClientAs) -> None:
    client = client_as("admin", **{"Accept-Language": "zh-hans"})
    response = await client.get("/search?format=json&q=web-2")
    assert "Crash loop" in response.content.decode()


async def test_counts_include_only_objects_the_viewer_may_list(client_as: ClientAs) -> None:
    assert (await data_of(client_as, "web", "alice"))[1]["groups"] == []
    assert (await data_of(client_as, "api", "alice"))[1]["total"] == 2
    assert (await data_of(client_as, "a", "charlie"))[1]["total"] == 0
    there, not_there = [(await data_of(client_as, q, "charlie"))[1] for q in ("web", "zz")]
    assert there == not_there | {"query": "web"}


async def test_search_requires_sign_in(client_as: ClientAs) -> None:
    assert (await client_as("").get("/search?q=web")).status_code == 302
    assert (await data_of(client_as, "web", ""))[0] == 401
    assert (await client_as("admin").post("/search")).status_code == 405


@pytest.mark.parametrize(
    "query",
    ["%00", "label=((", "x" * 5000, "%ED%A0%80", "%FF", "label=a%3D%3D%3D", "%E2%80%AEa"],
)
async def test_malformed_query_does_not_fail(client_as: ClientAs, query: str) -> None:
    response = await client_as("admin").get(f"/search?q={query}")
    assert response.status_code in (200, 400)
    status, found = await data_of(client_as, query)
    assert status == response.status_code
    assert (found.get("kind") == "Status") is (status == 400)


async def test_markup_is_escaped(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get("/search?q=<img src=x>"))
    assert "<img src=x>" not in html
    assert "&lt;img src=x&gt;" in html


@pytest.mark.parametrize("fmt", ["csv", "tsv", "xml", "json&format=json"])
async def test_unsupported_format_is_refused(client_as: ClientAs, fmt: str) -> None:
    assert (await client_as("admin").get(f"/search?q=a&format={fmt}")).status_code == 400


async def test_unsynced_kinds_are_listed_as_loading(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    cold: Informer[Any] = Informer(DEPLOYMENTS, DECODERS[DEPLOYMENTS])
    runtime._informers[DEPLOYMENTS] = cold
    _status, found = await data_of(client_as, "web")
    assert found["loading"] == ["deployments"]
    assert "Deployments" in await text_of(await client_as("admin").get("/search?q=web"))


async def test_search_does_not_wait_for_lists_the_server_refuses(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: Informer[Any] = Informer(DEPLOYMENTS, DECODERS[DEPLOYMENTS])
    runtime._informers[DEPLOYMENTS] = refused
    waited = []

    async def wait_synced(gvr: Any, *, timeout: float) -> bool:  # noqa: ASYNC109
        waited.append(gvr)
        return False

    monkeypatch.setattr(runtime, "wait_synced", wait_synced)
    await data_of(client_as, "web")
    refused.disconnected("deployments.apps is forbidden")
    _status, found = await data_of(client_as, "web")
    assert waited == [DEPLOYMENTS]
    assert found["loading"] == ["deployments"]


async def test_search_starts_informers_only_for_kinds_the_viewer_may_list(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    own = runtime.informer

    def informer(gvr: Any) -> Any:
        asked.append(gvr)
        return own(gvr)

    monkeypatch.setattr(runtime, "informer", informer)
    await data_of(client_as, "web", "charlie")
    await data_of(client_as, "", "admin")
    assert asked == []
    await data_of(client_as, "web")
    assert {PODS, DEPLOYMENTS} <= set(asked)
    # Excludes types that are never cached and types that the cluster does not serve.
    assert not {SECRETS, GATEWAYS} & set(asked)
