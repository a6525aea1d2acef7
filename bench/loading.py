"""Fills a cluster with pods that nothing runs."""

import asyncio
from collections.abc import Callable

import msgspec

from bench.podspec import NAMESPACES, PODS_PER_NODE, Pod, namespace_name
from bench.podstatus import status_of
from bench.writing import Access, Writer, spread

#: Part of the name of saved data: raise it whenever other objects come out.
FORMAT = 2

#: Seconds that loading may take, at least and for each pod; measured are 5 to 10 ms a pod.
_SECONDS, _SECONDS_PER_POD = 120.0, 0.06

Progress = Callable[[int], None]


def nodes_for(pods: int) -> int:
    """How many nodes the manifests of so many pods name."""
    return (pods - 1) // PODS_PER_NODE + 1


async def load(access: Access, pods: int, progress: Progress) -> None:
    """Creates the namespaces and the pods, each with a status of its own.

    `progress` is called with the number of pods there are. Raises `WriteRefused`, and TimeoutError if
    it takes much longer than it should.
    """
    writer = Writer(access)
    done = 0

    async def namespace(number: int) -> None:
        body = {"metadata": {"name": namespace_name(number)}}
        await writer.send("POST", "/api/v1/namespaces", body, manager="helm")

    async def pod(number: int) -> None:
        nonlocal done
        pod = Pod(number)
        collection = f"/api/v1/namespaces/{pod.namespace}/pods"
        manager = "kube-controller-manager"
        created = await writer.send("POST", collection, pod.manifest(), manager=manager)
        body = msgspec.json.decode(created)
        body["status"] = status_of(pod)
        await writer.send("PUT", f"{collection}/{pod.name}/status", body, manager="kubelet")
        done += 1
        if done % 1000 == 0:
            progress(done)

    try:
        async with asyncio.timeout(_SECONDS + _SECONDS_PER_POD * pods):
            await spread(range(NAMESPACES), namespace)
            await spread(range(pods), pod)
    finally:
        await writer.close()
