"""Two people who are signed in: one changes things, by the console and by kubectl; one reads pages."""

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
from bench.worldspec import Other
from bench.writing import Writer, spread
from console.kube.gvr import NAMESPACES
from tests.controlplane.build import Report

#: All that is changed is in a namespace of its own.
NAMESPACE = "acting"
PLACE = f"/clusters/host/projects/{NAMESPACE}"
_MANAGER = "bench-acting"

T = TypeVar("T")


async def make(cluster: LoadedControlPlane, objects: Iterable[Other]) -> None:
    """The namespace with these in it. Raises `WriteRefused`."""
    writer = Writer(cluster.access)

    async def one(other: Other) -> None:
        await writer.send("POST", other.gvr.path(NAMESPACE), other.body, manager=_MANAGER)

    try:
        namespace = {"metadata": {"name": NAMESPACE}}
        await writer.send("POST", NAMESPACES.path(), namespace, manager=_MANAGER)
        await spread(objects, one)
    finally:
        await writer.close()


@dataclass(frozen=True, slots=True)
class Stage:
    """`acting`: the session of whoever changes things; `kubeconfig`: the same one's; `looking`: the
    other one's session."""

    cluster: LoadedControlPlane
    console: WebConsole
    acting: aiohttp.ClientSession
    kubeconfig: Path
    looking: aiohttp.ClientSession
    report: Report

    async def kubectl(
        self, *arguments: str, input: str | None = None, code: int = 0
    ) -> tuple[float, str]:
        """Milliseconds that the whole process takes, as for whoever types it, and its output. Raises
        OSError if it ends in another way than with `code`."""
        run, words = self.cluster.kubectl, (f"--namespace={NAMESPACE}", *arguments)
        started = time.perf_counter()
        done = await asyncio.to_thread(run, *words, input=input, kubeconfig=self.kubeconfig)
        took = (time.perf_counter() - started) * 1000
        if done.returncode != code:
            raise OSError(f"kubectl {' '.join(words)}: {done.returncode} {done.stderr[:500]}")
        return took, done.stdout

    async def pages(self, number: int) -> list[float]:
        """Milliseconds of pages that the other one reads while nobody changes anything."""
        return [page.server for page in await self._looker.read(LIST, number)]

    async def beside(self, work: Awaitable[T]) -> tuple[T, list[float]]:
        """What comes of it, and the milliseconds of pages that the other one reads meanwhile."""
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
