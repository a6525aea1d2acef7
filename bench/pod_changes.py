"""`python -m bench.pod_changes KUBECONFIG`: change the pods of a small cluster until stopped.

Most changes are status changes; every tenth deletes the oldest pod and creates another. The
script writes a line when all pods exist, and then the number of changes in each minute.
"""

import argparse
import asyncio
import sys
import time
from collections import deque
from contextlib import suppress

from bench.podspec import Pod
from bench.podstatus import status_of
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.errors import Unavailable
from console.kube.gvr import PODS
from console.kube.kubeconfig import CONSOLE
from console.kube.transport import Transport

_NAMESPACE = "default"
_TURNOVER = 10


class PodChanges:
    """Keeps `pods` pods and changes them."""

    def __init__(self, transport: Transport, pods: int) -> None:
        self._transport, self._client = transport, ConsoleClient(transport)
        self._standing = deque(map(Pod, range(pods)))
        self._next = pods

    async def fill(self) -> None:
        for pod in self._standing:
            await self._create(pod)

    async def change(self, number: int) -> None:
        if number % _TURNOVER == 0:
            oldest, new = self._standing.popleft(), Pod(self._next)
            self._next += 1
            await self._delete(oldest)
            await self._create(new)
            self._standing.append(new)
        else:
            pod = self._standing[number * 7 % len(self._standing)]
            await self._set_status(pod, generation=number)

    async def _create(self, pod: Pod) -> None:
        manifest = pod.manifest()
        # The node and owner don't exist, so the garbage collector would delete the pod.
        del manifest["metadata"]["ownerReferences"], manifest["spec"]["nodeName"]
        manifest["metadata"]["namespace"] = _NAMESPACE
        await self._client.create(PODS, manifest, namespace=_NAMESPACE)
        await self._set_status(pod)

    async def _set_status(self, pod: Pod, generation: int = 0) -> None:
        body = {"status": status_of(pod, generation)}
        await self._client.patch(
            PODS, body, namespace=_NAMESPACE, name=pod.name, subresource="status"
        )

    async def _delete(self, pod: Pod) -> None:
        path = PODS.path(_NAMESPACE, pod.name)
        query = [("gracePeriodSeconds", "0")]
        await self._transport.request("DELETE", path, params=query)


async def run(kubeconfig: str, pods: int, rate: float) -> None:
    transport = Transport(Credentials(CONSOLE, kubeconfig))
    changes = PodChanges(transport, pods)
    try:
        await changes.fill()
        _say("ready")
        started = minute = time.monotonic()
        counted = number = 0
        while True:
            await asyncio.sleep(started + number / rate - time.monotonic())
            number += 1
            # A busy machine can reject a change. Continue with the next one.
            with suppress(Unavailable):
                await changes.change(number)
            if time.monotonic() - minute >= 60:
                _say(str(number - counted))
                counted, minute = number, minute + 60
    finally:
        await transport.close()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pod_changes", description=__doc__)
    parser.add_argument("kubeconfig")
    parser.add_argument("--pods", type=int, default=80)
    parser.add_argument("--rate", type=float, default=50.0, help="changes per second")
    given = parser.parse_args()
    asyncio.run(run(given.kubeconfig, given.pods, given.rate))


if __name__ == "__main__":
    main()
