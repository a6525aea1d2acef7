"""Whether kube-apiserver is there, asked every few seconds, and who is to know.

A connection that hangs says nothing, so a watch alone would never notice.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from console.kube.client import ReaderClient
from console.kube.clock import Clock
from console.kube.errors import ApiError
from console.kube.informer import Informer

#: Seconds between two probes while they are answered, and while they are not.
PROBE_INTERVAL, PROBE_RETRY = 3.0, 1.0
#: Answers that a proxy gives for a server that is not there, or that mean that there was no answer.
ABSENT = frozenset({502, 503, 504})
#: In what kube-apiserver says when it cannot reach etcd. Its watches stay open then, and say nothing.
#: https://kubernetes.io/docs/reference/using-api/health-checks/
NO_ETCD = b"[-]etcd"
#: Seconds for which reasons to wake are gathered: a hundred new bindings are one reason.
WAKE_GAP = 0.25

Informers = Callable[[], Iterable[Informer[Any]]]


class Heartbeat:
    """`answered`: when kube-apiserver last gave a sign of life (UTC)."""

    def __init__(self, reader: ReaderClient, informers: Informers, clock: Clock) -> None:
        self._reader = reader
        self._informers = informers
        self._clock = clock
        self._waking = False
        self.answered: datetime = clock.now()

    async def run(self) -> None:
        """Doubts the informers while there is no answer. When there is one again it wakes those that
        wait, and has the others take up their watches anew."""
        silent = deaf = False
        while True:
            try:
                await self._reader.ready()
            except ApiError as error:
                silent = True
                if error.code in ABSENT or NO_ETCD in error.body:
                    deaf = True
                    self._doubt(self.answered)
                else:
                    # It is not ready, but there: what it says on open watches counts.
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
        self.answered = self._clock.now()
        self._doubt(None)

    def wake_soon(self) -> None:
        """What informers wait for may have come: a type, a right. On the core's loop."""
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(WAKE_GAP, self._wake)

    def _doubt(self, since: datetime | None) -> None:
        for informer in self._informers():
            informer.doubt(since)

    def _renew(self) -> None:
        """Whatever lost our questions may have lost the connections of the watches as well."""
        for informer in self._informers():
            informer.renew()

    def _wake(self) -> None:
        self._waking = False
        for informer in self._informers():
            informer.wake()
