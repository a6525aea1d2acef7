"""ListWatch that simulates an expired watch on a signal, so that the console must list again.

No proxy is used to break the connection: it would have to forward all other traffic, and would
take CPU time from the measured processes.
"""

import os
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

import msgspec

from console.kube.errors import Gone
from console.kube.gvr import PODS
from console.kube.listwatch import Listing, ListWatch, WatchEvent

#: Environment variable with the path of the relist log.
VARIABLE = "BENCH_RELISTS"
#: Signal that makes the console's process list again.
SIGNAL = signal.SIGUSR1


class Relist(msgspec.Struct, frozen=True):
    """Duration of a relist (`time.monotonic()`): from the first byte of the list response to the
    next watch request, when the list is in the cache.
    """

    began: float
    ended: float


class ExpiringListWatch(ListWatch):
    """ListWatch whose pod watch fails at the signal with 410 Gone, like a watch of an expired
    version.
    """

    file: TextIO
    _forgotten = False
    _listing: float | None = None

    @classmethod
    def install(cls) -> None:
        cls.file = open(os.environ[VARIABLE], "a")  # noqa: SIM115  as long as the process
        signal.signal(SIGNAL, lambda *_: setattr(cls, "_forgotten", True))

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[Listing, None]:
        async with super().list(resource_version) as listing:
            self._listing = time.monotonic()
            yield listing

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        if self._gvr == PODS and self._listing is not None:
            relist = Relist(self._listing, time.monotonic())
            self._listing = None
            self.file.write(msgspec.json.encode(relist).decode() + "\n")
            self.file.flush()
        async with super().watch(resource_version) as events:
            yield self._until_forgotten(events) if self._gvr == PODS else events

    async def _until_forgotten(
        self, events: AsyncIterator[WatchEvent]
    ) -> AsyncGenerator[WatchEvent, None]:
        async for event in events:
            if self._forgotten:
                ExpiringListWatch._forgotten = False
                raise Gone(410, "too old resource version")
            yield event
