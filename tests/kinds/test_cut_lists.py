"""Lists read with the user's permissions that are truncated at a limit."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import NAMESPACES, SECRETS
from console.ui.core.registry import kinds
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import LiveLists, informer_of
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import namespace
from tests.views.conftest import ClientAs

URL, DETAILS = "/clusters/host/secrets", "/clusters/host/projects/shop/secrets"


def secret(number: int) -> dict[str, Any]:
    meta = {"name": f"key-{number}", "namespace": "shop", "uid": f"u-{number}"}
    return {"metadata": {**meta, "resourceVersion": str(number)}, "type": "Opaque"}


@pytest.fixture
def limit() -> int:
    return 3


@pytest.fixture
def runtime(limit: int) -> Iterator[StaticRuntime]:
    kind = kinds.by_type(SECRETS)
    assert kind is not None
    lists = LiveLists(informer_of(kind, [secret(number) for number in range(5)]), limit)
    spaces = preloaded(NAMESPACES, [namespace("shop")])
    found = StaticRuntime({NAMESPACES: spaces}, live_lists=lists)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def test_truncated_list_is_marked(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(URL))
    assert (
        "Only 3 objects were loaded, and there may be more. Select a project to narrow the list."
    ) in html
    answer = await text_of(await client_as("admin").get(f"{URL}?format=json"))
    assert json.loads(answer)["truncated"] is True
    html = await text_of(await client_as("admin").get(f"{DETAILS}/key-4"))
    assert "Could not find secret shop/key-4 among the 3 loaded objects." in html


@pytest.mark.parametrize("limit", [6])
async def test_complete_list_is_not_marked(client_as: ClientAs) -> None:
    assert "there may be more" not in await text_of(await client_as("admin").get(URL))
    answer = await text_of(await client_as("admin").get(f"{URL}?format=json"))
    assert "truncated" not in json.loads(answer)
    html = await text_of(await client_as("admin").get(f"{DETAILS}/nothing"))
    assert "among the" not in html
