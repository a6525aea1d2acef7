"""Measure the actual rate of changes."""

import time

import msgspec

from bench.cluster import LoadedControlPlane


class _Meta(msgspec.Struct):
    resourceVersion: str


class _List(msgspec.Struct):
    metadata: _Meta


class ChangeRate:
    """Counts changes since its creation. Every write to etcd increases the resourceVersion by one."""

    def __init__(self, cluster: LoadedControlPlane) -> None:
        self._cluster = cluster
        self._since = time.monotonic()
        self._version = self._read()

    def per_second(self) -> float:
        return (self._read() - self._version) / (time.monotonic() - self._since)

    def _read(self) -> int:
        answer = self._cluster.api.get("/api/v1/nodes?limit=1")
        return int(msgspec.json.decode(answer.body, type=_List).metadata.resourceVersion)
