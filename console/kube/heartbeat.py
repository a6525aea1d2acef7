"""Probe kube-apiserver every few seconds and notify the informers.

A hanging connection reports nothing, so a watch alone would not notice an outage.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from console.kube.clients import ReaderClient
from console.kube.clock import Clock
from console.kube.errors import ApiError
from console.kube.informer import Informer

#: Seconds between two probes after a success and after a failure.
PROBE_INTERVAL, PROBE_RETRY = 3.0, 1.0
#: Statuses that mean the server cannot be reached: sent by a proxy, or set when there was no
#: response.
ABSENT = frozenset({502, 503, 504})
#: Part of the /readyz response when kube-apiserver cannot reach etcd. Watches then stay open
#: without events. https://kubernetes.io/docs/reference/using-api/health-checks/
NO_ETCD = b"[-]etcd"
#: Seconds during which wake requests are merged, for example for a hundred new bindings.
WAKE_GAP = 0.25

Informers = Callable[[], Iterable[Informer[Any]]]


class Heartbeat:
    """Probe kube-apiserver. `last_response` is the time of its last response (UTC)."""

    def __init__(self, reader: ReaderClient, informers: Informers, clock: Clock) -> None:
        self._reader = reader
        self._informers = informers
        self._clock = clock
        self._waking = False
        self.last_response: datetime = clock.now()

    async def run(self) -> None:
        """Mark the informers as stale while the server does not respond.

        When it responds again, wake the informers that wait for a retry and restart the watches
        of the others.
        """
        silent = deaf = False
        while True:
            try:
                await self._reader.ready()
            except ApiError as error:
                silent = True
                if error.code in ABSENT or NO_ETCD in error.body:
                    deaf = True
                    self._doubt(self.last_response)
                else:
                    # The server is not ready but running, and open watches still deliver events.
                    self._alive()
            else:
                if deaf:
                    self._renew()
                self._alive()
                if silent:
                    self._wake()
                silent = deaf = False
            await self._clock.sleep(PROBE_RETRY if silent else PROBE_INTERVAL)

    def _alive(self) -> None:
        self.last_response = self._clock.now()
        self._doubt(None)

    def wake_soon(self) -> None:
        """Retry failed informers soon because a type or permission may have been added. Core thread
        only.
        """
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(WAKE_GAP, self._wake)

    def _doubt(self, since: datetime | None) -> None:
        for informer in self._informers():
            informer.set_unresponsive_since(since)

    def _renew(self) -> None:
        """Restart all watches. Their connections may have been lost together with the probes."""
        for informer in self._informers():
            informer.restart_watches()

    def _wake(self) -> None:
        self._waking = False
        for informer in self._informers():
            informer.wake()
