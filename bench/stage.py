"""Two signed-in users: one changes objects with the console and kubectl, the other requests pages."""

import asyncio
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiohttp

from bench.cluster import LoadedControlPlane
from bench.pages import LIST
from bench.reading import Reader
from bench.webconsole import WebConsole
from bench.worldspec import RelatedObject
from bench.writing import Writer, spread
from console.kube.gvr import NAMESPACES
from tests.controlplane.build import Report

#: All changes are made in this namespace.
NAMESPACE = "acting"
PLACE = f"/clusters/host/projects/{NAMESPACE}"
_MANAGER = "bench-acting"

T = TypeVar("T")


async def make(cluster: LoadedControlPlane, objects: Iterable[RelatedObject]) -> None:
    """Create the namespace with `objects`. Raise `WriteRefused`."""
    writer = Writer(cluster.access)

    async def one(other: RelatedObject) -> None:
        await writer.send("POST", other.gvr.path(NAMESPACE), other.body, manager=_MANAGER)

    try:
        namespace = {"metadata": {"name": NAMESPACE}}
        await writer.send("POST", NAMESPACES.path(), namespace, manager=_MANAGER)
        await spread(objects, one)
    finally:
        await writer.close()


@dataclass(frozen=True, slots=True)
class TwoUsers:
    """`acting`: session of the user who makes changes. `kubeconfig`: of the same user. `looking`:
    session of the other user.
    """

    cluster: LoadedControlPlane
    console: WebConsole
    acting: aiohttp.ClientSession
    kubeconfig: Path
    looking: aiohttp.ClientSession
    report: Report

    async def kubectl(
        self, *arguments: str, input: str | None = None, code: int = 0
    ) -> tuple[float, str]:
        """Run kubectl. Return the duration of the process in milliseconds and its output.

        Raise OSError if the exit code isn't `code`.
        """
        run, words = self.cluster.kubectl, (f"--namespace={NAMESPACE}", *arguments)
        started = time.perf_counter()
        done = await asyncio.to_thread(run, *words, input=input, kubeconfig=self.kubeconfig)
        took = (time.perf_counter() - started) * 1000
        if done.returncode != code:
            raise OSError(f"kubectl {' '.join(words)}: {done.returncode} {done.stderr[:500]}")
        return took, done.stdout

    async def pages(self, number: int) -> list[float]:
        """Return response times in milliseconds for the other user, without concurrent changes."""
        return [page.server for page in await self._looker.read(LIST, number)]

    async def measure_during(self, work: Awaitable[T]) -> tuple[T, list[float]]:
        """Await `work` while the other user requests pages. Return its result and the response
        times.
        """
        done = asyncio.Event()
        reading = asyncio.create_task(self._looker.until(LIST, done))
        try:
            found = await work
        finally:
            done.set()
            pages = await reading
        return found, [page.server for page in pages]

    @property
    def _looker(self) -> Reader:
        return Reader(self.console, self.looking)
