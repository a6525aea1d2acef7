"""Pods that change many times a second, written past the console by a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from console.kube.client import ConsoleClient, Transport
from console.kube.credentials import Credentials
from console.kube.gvr import PODS
from tests.controlplane.waiting import eventually

SPACE = "default"


class Churn:
    """Gives each of these pods one state after the other; one of ten changes makes a pod or deletes it.

    `done`: changes that the cluster has taken so far. `run` raises what the cluster said against one.
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
        """Waits until there were so many more."""
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
    """`rate`: changes a second that it tries to make."""
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
