"""Pods that change many times per second, written directly to the cluster by a separate thread."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import PODS
from console.kube.transport import Transport
from tests.controlplane.waiting import eventually

SPACE = "default"


class Churn:
    """Cycles each of these pods through the states. One change in ten creates or deletes a pod.
    `done` counts the changes so far. `run` raises an error of the cluster.
    """

    def __init__(
        self, kubeconfig: Path, names: Sequence[str], states: Sequence[Any], rate: float
    ) -> None:
        self.done = 0
        self._kubeconfig, self._names, self._states = kubeconfig, names, states
        self._pause = 1 / rate
        self._stopped = threading.Event()

    def run(self) -> None:
        asyncio.run(self._run())

    def stop(self) -> None:
        self._stopped.set()

    def go_on(self, changes: int) -> None:
        """Wait for this number of further changes."""
        wanted = self.done + changes
        eventually(lambda: self.done >= wanted, f"{changes} changes", timeout=60)

    async def _run(self) -> None:
        transport = Transport(Credentials("admin", str(self._kubeconfig)))
        try:
            begun = time.monotonic()
            for number in count():
                if self._stopped.is_set():
                    return
                await self._change(ConsoleClient(transport), number)
                self.done += 1
                await asyncio.sleep(begun + number * self._pause - time.monotonic())
        finally:
            await transport.close()

    async def _change(self, client: ConsoleClient, number: int) -> None:
        tens, ones = divmod(number, 10)
        if ones:
            turn, which = divmod(number, len(self._names))
            status = {"status": self._states[(turn + which) % len(self._states)]}
            name = self._names[which]
            await client.patch(PODS, status, namespace=SPACE, name=name, subresource="status")
        elif tens % 2:
            await client.delete(PODS, namespace=SPACE, name=f"guest-{tens - 1}")
        else:
            spec = {"containers": [{"name": "c", "image": "example/image:1"}]}
            pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
            await client.create(
                PODS, {**pod, "metadata": {"name": f"guest-{tens}"}}, namespace=SPACE
            )


@contextmanager
def churn(
    kubeconfig: Path, names: Sequence[str], states: Sequence[Any], *, rate: float
) -> Iterator[Churn]:
    """Change pods in the background. `rate` is the target number of changes per second."""
    churning = Churn(kubeconfig, names, states, rate)
    problems: list[BaseException] = []

    def run() -> None:
        try:
            churning.run()
        except BaseException as error:  # noqa: BLE001  told by whoever waits for the thread
            problems.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield churning
    finally:
        churning.stop()
        thread.join(timeout=30)
    assert problems == []
