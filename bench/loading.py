"""Fill a cluster with pods that don't run, and with related objects."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from bench.podspec import NAMESPACES, PODS_PER_NODE, REPLICAS, Pod, namespace_name
from bench.podstatus import status_of
from bench.worldspec import BACKUPS, RelatedObject, around, around_namespace, custom_type
from bench.writing import Access, Writer, WriteRefused, spread
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, PODS
from console.kube.gvr import NAMESPACES as NAMESPACES_TYPE

#: Part of the file name of saved data. Increase it when the created objects change.
FORMAT = 3

#: Timeout for loading: base, and seconds per pod. Measured are 20 to 40 ms per pod.
_SECONDS, _SECONDS_PER_POD = 300.0, 0.2
#: Seconds between two checks whether the custom resource is served.
_LOOK = 0.2

Progress = Callable[[int], None]
Obj = dict[str, Any]
#: UIDs of created objects, by kind and name.
_Uids = dict[tuple[str, str], str]


def nodes_for(pods: int) -> int:
    """Return the number of nodes that the manifests of `pods` pods refer to."""
    return (pods - 1) // PODS_PER_NODE + 1


async def load(access: Access, pods: int, progress: Progress) -> None:
    """Create the namespaces, the workloads with related objects, and the pods with their status.

    `progress` is called with the number of created pods. Raise `WriteRefused`, or TimeoutError
    if loading takes much longer than expected.
    """
    writer = Writer(access)
    try:
        async with asyncio.timeout(_SECONDS + _SECONDS_PER_POD * pods):
            await _Loading(writer, pods, progress).run()
    finally:
        await writer.close()


class _Loading:
    def __init__(self, writer: Writer, pods: int, progress: Progress) -> None:
        self._writer = writer
        self._pods = pods
        self._progress = progress
        self._done = 0

    async def run(self) -> None:
        await self._define()
        await spread(range(NAMESPACES), self._namespace)
        # Each workload is created sequentially, so that owners exist before their dependents.
        await spread(range(-(-self._pods // REPLICAS)), self._workload)
        # Quotas come last, because pod creation in a namespace with a quota is slower.
        await spread(range(NAMESPACES), self._in_namespace)

    async def _define(self) -> None:
        """Create the CRD, and wait until its resource is served."""
        await self._create(CUSTOM_RESOURCE_DEFINITIONS.path(), custom_type(), "helm")
        while True:
            try:
                await self._writer.send("GET", BACKUPS.path(), None, manager="helm")
            except WriteRefused:
                await asyncio.sleep(_LOOK)
            else:
                return

    async def _namespace(self, number: int) -> None:
        body = {"metadata": {"name": namespace_name(number)}}
        await self._create(NAMESPACES_TYPE.path(), body, "helm")

    async def _in_namespace(self, number: int) -> None:
        for other in around_namespace(number):
            await self._other(other, {})

    async def _workload(self, number: int) -> None:
        uids: _Uids = {}
        for other in around(number):
            await self._other(other, uids)
        first = number * REPLICAS
        for at in range(first, min(first + REPLICAS, self._pods)):
            await self._pod(Pod(at), uids)

    async def _other(self, other: RelatedObject, uids: _Uids) -> None:
        body, metadata = _owned(other.body, uids), other.body["metadata"]
        collection = other.gvr.path(metadata["namespace"])
        created = await self._create(collection, body, "kube-controller-manager")
        uids[body["kind"], metadata["name"]] = created["metadata"]["uid"]
        if other.status is not None:
            created["status"] = other.status
            await self._status(collection, created, "kube-controller-manager")

    async def _pod(self, pod: Pod, uids: _Uids) -> None:
        collection = PODS.path(pod.namespace)
        body = _owned(pod.manifest(), uids)
        created = await self._create(collection, body, "kube-controller-manager")
        created["status"] = status_of(pod)
        await self._status(collection, created, "kubelet")
        self._done += 1
        if self._done % 1000 == 0:
            self._progress(self._done)

    async def _create(self, collection: str, body: Obj, manager: str) -> Obj:
        answer = await self._writer.send("POST", collection, body, manager=manager)
        created: Obj = msgspec.json.decode(answer)
        return created

    async def _status(self, collection: str, body: Obj, manager: str) -> None:
        path = f"{collection}/{body['metadata']['name']}/status"
        await self._writer.send("PUT", path, body, manager=manager)


def _owned(body: Obj, uids: _Uids) -> Obj:
    """Return the object with the UIDs of its owners, which exist already."""
    metadata = body["metadata"]
    owners = [
        {**owner, "uid": uids[owner["kind"], owner["name"]]}
        for owner in metadata.get("ownerReferences", ())
    ]
    return {**body, "metadata": {**metadata, "ownerReferences": owners}} if owners else body
