"""A watch that kube-apiserver forgets when it is told to, so that the console must list again.

Without a proxy between the two: one that breaks connections has to pass on everything else, and would
take the processor from what is measured.
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

#: The environment variable that names the file of relists.
VARIABLE = "BENCH_RELISTS"
#: Tells the console's process to forget.
SIGNAL = signal.SIGUSR1


class Relist(msgspec.Struct, frozen=True):
    """From when kube-apiserver began to answer until the next watch was asked for (`time.monotonic()`),
    which is when the list is in the cache."""

    began: float
    ended: float


class ForgetfulListWatch(ListWatch):
    """Pods' watch ends at the signal with what kube-apiserver says of a version that is too old."""

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
                ForgetfulListWatch._forgotten = False
                raise Gone(410, "too old resource version")
            yield event
