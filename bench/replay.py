"""Throughput of recorded events through parsing, reflector, store and listeners, without a server."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from statistics import median
from typing import Any

from bench.cluster import LoadedControlPlane
from bench.recording import Recording, record
from bench.result import Result
from console.kube.clients import ReaderClient
from console.kube.gvr import GVR, PODS, Key
from console.kube.informer import Informer
from console.kube.listwatch import ListWatch
from console.kube.projections import DECODERS
from console.kube.throttledreader import Chunks
from tests.controlplane.build import Report

_EVENTS = 5000
_PASSES = 7
#: Typical bytes per read of a busy connection.
_READ = 64 * 1024
#: Number of listeners in a process with controllers, live pages and the authorizer.
_LISTENERS = 4


class _RecordedResponse:
    """Recorded bytes behind the subset of the `aiohttp.StreamReader` interface that is used."""

    def __init__(self, data: bytes) -> None:
        self._chunks = [data[at : at + _READ] for at in range(0, len(data), _READ)]

    async def iter_any(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


class _Watch(_RecordedResponse):
    """A response that doesn't end."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.started = self.ended = 0.0
        self.all_read = asyncio.Event()

    async def iter_any(self) -> AsyncIterator[bytes]:
        self.started = time.perf_counter()
        async for chunk in super().iter_any():
            yield chunk
        # The consumer requests the next chunk after it has processed all others.
        self.ended = time.perf_counter()
        self.all_read.set()
        await asyncio.Event().wait()


class _Recorded(ReaderClient):
    """Client of a server that sends the recorded responses, and then stays silent."""

    def __init__(self, recording: Recording) -> None:
        self._listing = _RecordedResponse(recording.listing)
        self.watch = _Watch(recording.stream)

    @asynccontextmanager
    async def stream(
        self,
        gvr: GVR,
        namespace: str,
        params: Sequence[tuple[str, str]],
        *,
        read_timeout: float,
        throttled: bool = False,
    ) -> AsyncGenerator[Chunks, None]:
        yield self.watch if throttled else self._listing


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Run the benchmark. `rounds` is ignored: a pass takes a second, so the number of passes is
    fixed.
    """
    report(f"recording {_EVENTS} changes\n")
    recording = asyncio.run(record(cluster, _EVENTS, generation=1))
    rates = [asyncio.run(_rate(recording)) for _ in range(_PASSES)]
    size = len(recording.stream) / recording.events
    return [
        # The best pass: only interference from the machine makes a pass slower.
        Result("events_per_second_recorded", cluster.pods, max(rates), "1/s"),
        Result("events_per_second_recorded_median", cluster.pods, median(rates), "1/s"),
        Result("event_bytes_recorded", cluster.pods, size, "B"),
    ]


async def _rate(recording: Recording) -> float:
    informer: Informer[Any] = Informer(PODS, DECODERS[PODS])
    marked: list[set[Key]] = [set() for _ in range(_LISTENERS)]
    for keys in marked:
        informer.add_listener(keys.add)
    client = _Recorded(recording)
    running = asyncio.create_task(informer.follow({"": ListWatch(client, PODS)}))
    try:
        await client.watch.all_read.wait()
    finally:
        running.cancel()
    if informer.events != recording.events:
        raise AssertionError(f"{informer.events} of {recording.events} events were applied")
    return recording.events / (client.watch.ended - client.watch.started)
