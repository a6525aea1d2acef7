"""Simulated resource usage of nodes and pods, served like metrics-server: `metrics.k8s.io/v1beta1`.

The values are computed from the pods' requests and the time as slow waves with a different phase
for each container. Two responses at the same time are equal. A container without requests uses a
small constant amount.

https://github.com/kubernetes/metrics/blob/master/pkg/apis/metrics/v1beta1/types.go
"""

import math
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime

from devcluster.crud import Objects
from devcluster.errors import method_not_allowed, not_found
from devcluster.objects import Obj, dicts, dig, meta, timestamp
from devcluster.options import read_selection
from devcluster.quantities import parse_quantity
from devcluster.requests import Request, Response, json_response
from devcluster.resources import ResourceType, Version
from devcluster.store import Record

GROUP = "metrics.k8s.io"
#: Resolution of metrics-server, in seconds.
_WINDOW = 15
#: CPU cores and memory bytes of a container without requests, and of a node's system processes.
_LITTLE, _NODE = (0.004, 24 * 2**20), (0.12, 900 * 2**20)


def metrics_types() -> Iterator[ResourceType]:
    for plural, kind in (("nodes", "NodeMetrics"), ("pods", "PodMetrics")):
        yield ResourceType(
            group=GROUP,
            plural=plural,
            kind=kind,
            versions=(Version("v1beta1"),),
            namespaced=plural == "pods",
            verbs=("get", "list"),
            virtual=True,
        )


class Metrics:
    """Handle requests for the metrics types. Requests are already authorized."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def answer(self, call: Request) -> Response:
        """Raise a 405 error for verbs other than get and list, and 404 for a pod without running
        containers.
        """
        info, declared = call.info, call.declared
        if info.subresource or info.verb not in declared.verbs:
            raise method_not_allowed()
        moment = int(time.time()) // _WINDOW * _WINDOW
        measured = self._objects.registry.get(info.resource)
        if info.verb == "get":
            found = self._measured([self._objects.get(measured, call.namespace, info.name)], moment)
            if not found:
                raise not_found(GROUP, info.resource, info.name)
            return json_response(declared.with_type_meta(found[0], call.version))
        selection = read_selection(measured, call.query)
        records = self._objects.store.collection(measured.storage).records_in(call.namespace)
        head = {
            "kind": declared.list_kind_name,
            "apiVersion": declared.group_version(call.version),
            "metadata": {},
        }
        chosen = [record for record in records if selection.matches(record)]
        return json_response({**head, "items": self._measured(chosen, moment)})

    def _measured(self, records: list[Record], moment: int) -> list[Obj]:
        """Return the metrics of the running pods or of the nodes. `moment` is in seconds since
        1970.
        """
        if records and not records[0].namespace:
            used = self._by_node(moment)
            return [
                {**_head(record, moment), "usage": _amounts(*used.get(record.name, _NODE))}
                for record in records
            ]
        found = ((record, _containers(record.load(), moment)) for record in records)
        return [{**_head(record, moment), "containers": used} for record, used in found if used]

    def _by_node(self, moment: int) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for record in self._objects.store.collection("pods").records_in():
            node = record.fields["spec.nodeName"]
            for _name, cpu, memory in _used(record.load(), moment):
                before = found.get(node, _NODE)
                found[node] = (before[0] + cpu, before[1] + memory)
        return found


def _head(record: Record, moment: int) -> Obj:
    about = {"name": record.name, "namespace": record.namespace, "labels": dict(record.labels)}
    now = timestamp(datetime.fromtimestamp(moment, UTC))
    kept = {name: value for name, value in about.items() if value}
    return {"metadata": {**kept, "creationTimestamp": now}, "timestamp": now, "window": "15s"}


def _containers(pod: Obj, moment: int) -> list[Obj]:
    used = _used(pod, moment)
    return [{"name": name, "usage": _amounts(cpu, memory)} for name, cpu, memory in used]


def _used(pod: Obj, moment: int) -> Iterator[tuple[str, float, float]]:
    """Yield the name, CPU cores and memory bytes of each running container."""
    if dig(pod, "status.phase") != "Running":
        return
    for status in dicts(dig(pod, "status.containerStatuses")):
        if not dig(status, "state.running"):
            continue
        name = str(status.get("name"))
        requests = _requests(pod, name)
        cpu = parse_quantity(requests.get("cpu") or 0) or _LITTLE[0]
        memory = parse_quantity(requests.get("memory") or 0) or _LITTLE[1]
        seed = zlib.crc32(f"{meta(pod).get('uid')}/{name}".encode())
        yield name, cpu * _wave(seed, moment, 0.5, 0.4), memory * _wave(seed >> 8, moment, 0.7, 0.1)


def _requests(pod: Obj, container: str) -> Obj:
    for found in dicts(dig(pod, "spec.containers")):
        if found.get("name") == container:
            return dig(found, "resources.requests") or {}
    return {}


def _wave(seed: int, moment: int, middle: float, swing: float) -> float:
    """Return a value between `middle - swing` and `middle + swing`.

    The value is the sum of a wave with a period of one hour and a shorter one of four minutes.
    """
    phase = seed % 3600
    slow = math.sin(2 * math.pi * (moment + phase) / 3600)
    quick = math.sin(2 * math.pi * (moment + seed % 240) / 240)
    return middle + swing * (0.75 * slow + 0.25 * quick)


def _amounts(cpu: float, memory: float) -> Obj:
    return {"cpu": f"{int(cpu * 1e9)}n", "memory": f"{int(memory / 1024)}Ki"}
