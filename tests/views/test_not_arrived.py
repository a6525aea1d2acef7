"""While the first list of a kind is loading, no page reports an object as missing."""

import json
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.links import action_url, detail_url
from rbac.process_clusters import set_host_cluster
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs

ARRIVING = "Loading. The list appears as soon as the cluster responds."
URLS = [
    detail_url("host", "pods", Key("shop", "web-1")),
    *(action_url(name, "host", "pods", Key("shop", "web-1")) for name in ("labels", "delete")),
]


@pytest.fixture(autouse=True)
def _cold(runtime: StaticRuntime) -> None:
    cold: Informer[Any] = Informer(PODS, DECODERS[PODS])
    set_host_cluster(StaticRuntime({**runtime.informers(), PODS: cold}))


@pytest.mark.parametrize("url", URLS)
async def test_page_reports_that_the_list_is_loading(client_as: ClientAs, url: str) -> None:
    answer = await client_as("admin").get(url)
    assert answer.status_code == 503
    text = await text_of(answer)
    assert ARRIVING in text
    # Works without scripts.
    assert answer["Refresh"] == "5" and "reloads every few seconds" in text


@pytest.mark.parametrize("url", URLS)
async def test_json_response_contains_retry_after(client_as: ClientAs, url: str) -> None:
    answer = await client_as("admin", Accept="application/json").get(url)
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "Refresh" not in answer


@pytest.mark.parametrize("url", URLS[1:])
async def test_form_submission_reports_that_the_list_is_loading(
    client_as: ClientAs, url: str
) -> None:
    answer = await client_as("admin").post(url, {"uid": "u"})
    assert answer.status_code == 503 and ARRIVING in await text_of(answer)
    assert "Refresh" not in answer
    found = await client_as("admin", Accept="application/json").post(url, {"uid": "u"})
    status = json.loads(await text_of(found))
    assert (status["code"], status["reason"]) == (503, "ServiceUnavailable")
