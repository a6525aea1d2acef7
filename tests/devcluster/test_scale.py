"""Lists with as many pods as a large cluster has."""

import json
from functools import partial

from devcluster.cluster import Cluster
from devcluster.server import DevCluster
from devcluster.write_options import Write
from tests.devcluster.conftest import Api

PODS = 10_000
#: Number of pods created in one step. The cluster handles no requests during a step.
PIECE = 500


def _fill(first: int, cluster: Cluster) -> None:
    declared = cluster.registry.get("pods")
    with cluster.store.batch():
        for number in range(first, first + PIECE):
            container = {"name": "c", "image": "example/web:1"}
            about = {"name": f"pod-{number}", "labels": {"group": f"g{number % 10}"}}
            spec = {"nodeName": f"node-{number % 50}", "containers": [container]}
            pod = {"metadata": about, "spec": spec}
            cluster.objects.create(declared, "v1", "default", pod, Write())


def test_ten_thousand_pods_are_listed_filtered_and_paginated(cluster: DevCluster, api: Api) -> None:
    for first in range(0, PODS, PIECE):
        cluster.run(partial(_fill, first))
    with api.open("GET", "/api/v1/pods") as response:
        data = response.read()
    assert len(json.loads(data)["items"]) == PODS
    chosen = api.get("/api/v1/pods?labelSelector=group%3Dg3&fieldSelector=spec.nodeName%3Dnode-3")
    assert len(chosen["items"]) == PODS // 50
    pages, token = 0, ""
    while pages == 0 or token:
        page = api.get(f"/api/v1/pods?limit=2500&continue={token}")
        pages, token = pages + 1, page["metadata"].get("continue", "")
    assert pages == PODS // 2500
