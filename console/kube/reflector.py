"""Keeps a sink equal to the server: list once, then watch for ever.

Promises:
- After a list the sink equals the server at that resourceVersion.
- A watch that ends or breaks is taken up again from the last resourceVersion seen (bookmarks count);
  nothing is lost and nothing is applied out of order. 410 Gone makes it list again.
- Every failure waits: doubling delays with jitter up to 30 s, or what Retry-After asked for. `wake()`
  ends a wait early, when somebody knows that the server is back.
- The sink hears at once when the connection is good and when it is not.

It runs as one task until cancelled and never raises.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

import msgspec

from console.kube.clock import Clock
from console.kube.errors import ApiError, Gone, ServerError, Unauthorized, Unavailable
from console.kube.listwatch import Source, WatchEvent
from console.kube.ratelimit import Backoff

log = logging.getLogger(__name__)

#: A watch that lived at least this long (seconds) was a good one: the next failure starts a new backoff.
GOOD_WATCH = 10.0
#: Server errors in a row after which a watch is taken as impossible from where it is: kube-apiserver
#: answers 500, not 410, when the very next event has been compacted away.
HOPELESS = 3


class Sink(Protocol):
    """Where a reflector writes. Called in order, from the reflector's loop."""

    def replace(self, objects: Sequence[msgspec.Raw], resource_version: str) -> None: ...

    def event(self, event: WatchEvent) -> None: ...

    def bookmark(self, resource_version: str) -> None: ...

    def connected(self) -> None:
        """The server has accepted the watch: from here on the sink is up to date."""
        ...

    def disconnected(self, problem: str) -> None:
        """The server cannot be followed; `problem` says why, for people."""
        ...


class _BookmarkMeta(msgspec.Struct):
    resourceVersion: str


class _Versioned(msgspec.Struct):
    metadata: _BookmarkMeta


_version_decoder = msgspec.json.Decoder(_Versioned)


class Reflector:
    def __init__(
        self, name: str, source: Source, sink: Sink, *, clock: Clock, backoff: Backoff | None = None
    ) -> None:
        self._name = name
        self._source = source
        self._sink = sink
        self._clock = clock
        self._backoff = backoff or Backoff()
        self._wake = asyncio.Event()
        self._resource_version = ""
        self._server_errors = 0
        self.lists = 0
        self.watches = 0

    async def run(self) -> None:
        while True:
            started, seen = self._clock.monotonic(), self._resource_version
            try:
                if not self._resource_version:
                    await self._list()
                await self._watch()
            except Gone:
                # Not a failure: the server has forgotten where we were, so start over.
                log.info("%s: listing again, the server has compacted its history", self._name)
                self._resource_version = ""
                delay = self._backoff.next()
            except (ApiError, msgspec.DecodeError) as error:
                delay = await self._failed(error)
            else:
                lasted = self._clock.monotonic() - started >= GOOD_WATCH
                delay = self._ended(good=lasted or self._resource_version != seen)
            if self._clock.monotonic() - started >= GOOD_WATCH:
                self._backoff.reset()
                delay = min(delay, self._backoff.first)
            await self._wait(delay)

    def _ended(self, *, good: bool) -> float:
        """Seconds to wait after the server has ended a watch, which it does every few minutes, and
        whenever it finds us slow: one that lasted or had news is taken up again at once."""
        if good:
            self._backoff.reset()
            return 0.0
        # A watch that ends at once, again and again, must not become a busy loop.
        delay = self._backoff.next()
        self._sink.disconnected("The Kubernetes API ended the connection")
        return delay

    def wake(self) -> None:
        """Ends a wait early. Call it on the reflector's loop."""
        self._backoff.reset()
        self._wake.set()

    async def _list(self) -> None:
        self.lists += 1
        objects: list[msgspec.Raw] = []
        token = ""
        while True:
            page = await self._source.list_page(token)
            objects += page.items or []
            token = page.metadata.continue_
            if not token:
                break
        self._sink.replace(objects, page.metadata.resourceVersion)
        self._resource_version = page.metadata.resourceVersion

    async def _watch(self) -> None:
        self.watches += 1
        async with self._source.watch(self._resource_version) as events:
            self._sink.connected()
            async for event in events:
                self._server_errors = 0
                version = _version_decoder.decode(event.object).metadata.resourceVersion
                if event.type == "BOOKMARK":
                    self._sink.bookmark(version)
                else:
                    self._sink.event(event)
                self._resource_version = version

    async def _failed(self, error: ApiError | msgspec.DecodeError) -> float:
        """Tells the sink and returns the seconds to wait."""
        if isinstance(error, Unauthorized):
            await self._source.reload()
        if isinstance(error, ServerError):
            self._server_errors += 1
            if self._server_errors >= HOPELESS:
                self._server_errors, self._resource_version = 0, ""
        problem = error.message if isinstance(error, ApiError) else "An answer was cut off"
        log.log(
            logging.INFO if isinstance(error, Unavailable) else logging.WARNING,
            "%s: %s",
            self._name,
            error,
        )
        self._sink.disconnected(problem)
        asked = error.retry_after if isinstance(error, ApiError) else None
        return max(self._backoff.next(), asked or 0.0)

    async def _wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        self._wake.clear()
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        woken = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleep, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            woken.cancel()
