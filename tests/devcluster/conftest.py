"""Fixtures of the embedded cluster, and a small HTTP client."""

import http.client
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devcluster.server import DevCluster

Obj = dict[str, Any]


@dataclass(frozen=True)
class Api:
    """HTTP client with administrator permissions. Each request uses its own connection."""

    cluster: DevCluster
    token: str

    @classmethod
    def of(cls, cluster: DevCluster) -> "Api":
        return cls(cluster, cluster.issue_token("tester", ["system:masters"]))

    def open(self, method: str, path: str, body: Any = None) -> http.client.HTTPResponse:
        tls = ssl.create_default_context(cafile=str(self.cluster.ca_file))
        port = self.cluster.port
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=tls)
        # The server closes the connection after the response, so closing the response is
        # sufficient.
        headers = {"Authorization": f"Bearer {self.token}", "Connection": "close"}
        headers["Content-Type"] = "application/json"
        if method == "PATCH":
            headers["Content-Type"] = "application/merge-patch+json"
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            return connection.getresponse()
        except OSError:
            connection.close()
            raise

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        with self.open(method, path, body) as response:
            return response.status, json.loads(response.read())

    def get(self, path: str) -> Obj:
        status, found = self.call("GET", path)
        assert status == 200, found
        return dict(found)

    def post(self, path: str, body: Obj) -> Obj:
        status, found = self.call("POST", path, body)
        assert status == 201, found
        return dict(found)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DevCluster]:
    with DevCluster(tmp_path / "data") as running:
        yield running


@pytest.fixture
def api(cluster: DevCluster) -> Api:
    return Api.of(cluster)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("world"), world=True) as running:
        yield running


@pytest.fixture
def world_api(world: DevCluster) -> Api:
    return Api.of(world)


@pytest.fixture
def node(api: Api) -> Obj:
    ready = {"type": "Ready", "status": "True"}
    address = {"type": "InternalIP", "address": "10.1.0.1"}
    body = {
        "metadata": {"name": "node-1"},
        "spec": {"podCIDR": "10.244.9.0/24"},
        "status": {
            "addresses": [address],
            "conditions": [ready],
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"},
        },
    }
    return api.post("/api/v1/nodes", body)
