"""How many changes a second there really were, whatever was asked for."""

import time

import msgspec

from bench.cluster import LoadedControlPlane


class _Meta(msgspec.Struct):
    resourceVersion: str


class _List(msgspec.Struct):
    metadata: _Meta


class ChangeRate:
    """Counts from when it is made. Every write to etcd is one more resourceVersion."""

    def __init__(self, cluster: LoadedControlPlane) -> None:
        self._cluster = cluster
        self._since = time.monotonic()
        self._version = self._read()

    def per_second(self) -> float:
        return (self._read() - self._version) / (time.monotonic() - self._since)

    def _read(self) -> int:
        answer = self._cluster.api.get("/api/v1/nodes?limit=1")
        return int(msgspec.json.decode(answer.body, type=_List).metadata.resourceVersion)
