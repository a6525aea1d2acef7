"""Health endpoints are public and reveal only the missing informers."""

import json
from typing import Any

from console.kube.gvr import NAMESPACES, PODS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs


async def test_livez_responds_while_the_process_runs(client_as: ClientAs) -> None:
    assert (await client_as("").get("/livez")).status_code == 200


async def test_readyz_succeeds_once_all_informers_have_synced(client_as: ClientAs) -> None:
    response = await client_as("").get("/readyz")
    assert response.status_code == 200
    assert json.loads(await text_of(response)) == {"status": "ok", "waiting_for": []}


async def test_readyz_lists_missing_informers(client_as: ClientAs) -> None:
    cold: Informer[Any] = Informer(PODS, DECODERS[PODS])
    set_host_cluster(StaticRuntime({PODS: cold, NAMESPACES: preloaded(NAMESPACES)}))
    response = await client_as("").get("/readyz")
    assert response.status_code == 503
    assert json.loads(await text_of(response))["waiting_for"] == ["pods"]


async def test_readyz_fails_without_a_runtime(client_as: ClientAs) -> None:
    unset_host_cluster()
    assert (await client_as("").get("/readyz")).status_code == 503
    assert (await client_as("").get("/livez")).status_code == 200
