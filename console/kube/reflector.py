"""Keep a sink in sync with the server: list once, then watch.

- After a list the sink equals the server's state at that resourceVersion.
- A watch that ends or breaks resumes from the last resourceVersion, including bookmarks. No
  event is lost or applied out of order. 410 Gone causes a new list.
- A server that was restored from a backup, and so has an older state, is detected and listed
  again.
- Failures are retried with exponential backoff and jitter up to 30 s, or after the server's
  Retry-After. `wake()` ends a backoff early when the server is known to be back, but not a
  Retry-After.
- A persistent failure causes at most about one list per 30 s.
- `renew()` restarts the list or watch when its connection may be dead.
- The sink is notified immediately when the connection is established or lost.

A reflector runs as one task until cancelled and never raises.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from console.kube.clock import Backoff, Clock
from console.kube.errors import (
    ApiError,
    Gone,
    InvalidResponse,
    ServerError,
    Unauthorized,
    Unavailable,
    UntrustedCertificate,
)
from console.kube.listwatch import Source, WatchEvent
from console.kube.messages import Message
from console.kube.store import UNREADABLE, is_older

log = logging.getLogger(__name__)

#: Seconds after which a watch counts as successful and resets the backoff.
GOOD_WATCH = 10.0
#: Number of consecutive server errors after which a watch is given up and a new list is made:
#: kube-apiserver responds with 500, not 410, if the very next event has been compacted.
HOPELESS = 3


class _Wait(NamedTuple):
    """Seconds until the next attempt. `asked` is the part that the server requested; it is never
    shortened.
    """

    seconds: float
    asked: float = 0.0

    def at_most(self, seconds: float) -> "_Wait":
        return _Wait(max(self.asked, min(self.seconds, seconds)), self.asked)


class ListSink(Protocol):
    """Receives a list in batches. Nothing is visible before `commit`."""

    def add(self, raws: Sequence[msgspec.Raw]) -> None: ...

    def commit(self, resource_version: str) -> None: ...


class Sink(Protocol):
    """The target of a reflector. Methods are called in order, on the reflector's loop."""

    def replacing(self) -> ListSink: ...

    def event(self, event: WatchEvent) -> str:
        """Apply an event. Return the object's resourceVersion, or "" if it cannot be decoded."""
        ...

    def bookmark(self, resource_version: str) -> None: ...

    def connected(self) -> None:
        """The server has accepted the watch: the sink is up to date from now on."""
        ...

    def disconnected(self, problem: str) -> None:
        """The server cannot be followed. `problem` is the reason, as a message for users."""
        ...


class _BookmarkMeta(msgspec.Struct):
    resourceVersion: str


class _Versioned(msgspec.Struct):
    metadata: _BookmarkMeta


_version_decoder = msgspec.json.Decoder(_Versioned)


def _version_of(event: WatchEvent) -> str:
    """Return the event's resourceVersion, or "" for an object nested too deeply to decode."""
    try:
        return _version_decoder.decode(event.object).metadata.resourceVersion
    except RecursionError:
        return ""


class Reflector:
    def __init__(
        self,
        name: str,
        source: Source,
        sink: Sink,
        *,
        clock: Clock,
        backoff: Backoff | None = None,
        oldest: str = "0",
    ) -> None:
        """`oldest` is the minimum resourceVersion of the first list: "0" accepts the server's
        cached state, "" requires the current state.
        """
        self._name = name
        self._source = source
        self._sink = sink
        self._clock = clock
        self._backoff = backoff or Backoff()
        # Lists are expensive. Only a watch that lasts resets this backoff.
        self._relists = Backoff(random=self._backoff.random)
        self._wake = asyncio.Event()
        self._resource_version = ""
        self._server_errors = 0
        # The first list may come from the server's cache. Later ones must not be older.
        self._oldest = oldest
        self._working: asyncio.Task[None] | None = None
        self._watched_since: float | None = None
        # After a disconnect, a different server or a restored state may respond next.
        self._lost = False
        self._warned = ""
        self.lists = 0
        self.watches = 0

    async def run(self) -> None:
        while True:
            seen, self._watched_since = self._resource_version, None
            wait = await self._round()
            if self._lasted():
                self._backoff.reset()
                self._relists.reset()
                wait = wait.at_most(self._backoff.first)
            elif self._watched_since is not None and self._resource_version != seen:
                # Events were received, so the next failure starts with the shortest delay.
                self._backoff.reset()
            await self._pause(wait)

    async def _round(self) -> "_Wait":
        """List if necessary and watch until the watch ends. Return the delay before the next round."""
        seen = self._resource_version
        try:
            whole = await self._undisturbed()
        except Gone:
            # Not a failure: the server has compacted our resourceVersion, so list again.
            log.info("%s: listing again, the server has compacted its history", self._name)
            self._resource_version = ""
            self._sink.disconnected(Message("The Kubernetes API no longer has the earlier changes"))
            return _Wait(self._relists.next())
        except ApiError as error:
            return await self._failed(error)
        except UNREADABLE as error:
            log.info("%s: %s", self._name, error)
            return await self._failed(
                Unavailable(Message("The response from the Kubernetes API was incomplete"))
            )
        except Exception:
            # An unexpected response of a server or proxy must not end this task.
            log.exception("%s: unexpected error", self._name)
            return await self._failed(InvalidResponse())
        if not whole:
            self._lost = True
            return _Wait(0.0)
        return self._ended(good=self._lasted() or self._resource_version != seen)

    async def _undisturbed(self) -> bool:
        """List and watch in a separate task, so that `restart` can cancel it. Return False if it did."""
        working = self._working = asyncio.ensure_future(self._list_and_watch())
        try:
            await asyncio.wait({working})
        finally:
            self._working = None
            working.cancel()
        if working.cancelled():
            return False
        working.result()
        return True

    async def _list_and_watch(self) -> None:
        if self._lost and self._resource_version:
            await self._recognize()
        if not self._resource_version:
            await self._list()
        self._lost = False
        await self._watch()

    def _lasted(self) -> bool:
        since = self._watched_since
        return since is not None and self._clock.monotonic() - since >= GOOD_WATCH

    def _ended(self, *, good: bool) -> "_Wait":
        """Return the delay after the server has ended a watch.

        The server ends watches every few minutes and when the client is slow. A watch that
        lasted or delivered events is resumed immediately.
        """
        if good:
            return _Wait(0.0)
        # Avoid a busy loop when watches end immediately again and again.
        delay = self._backoff.next()
        self._sink.disconnected(Message("The Kubernetes API closed the connection"))
        return _Wait(delay)

    def wake(self) -> None:
        """End a backoff early. Call it on the reflector's loop."""
        self._backoff.reset()
        self._wake.set()

    def restart(self) -> None:
        """Restart the list or watch from the last resourceVersion. Call it on the reflector's loop."""
        if self._working is not None:
            self._working.cancel()

    async def _recognize(self) -> None:
        """List again if the server was restored to an older state.

        A watch from a version that the server has not reached would be silent until it does.
        """
        latest = await self._source.latest()
        if is_older(latest, self._resource_version):
            log.warning("%s: listing again, the server was restored to an older state", self._name)
            self._resource_version = ""

    async def _list(self) -> None:
        self.lists += 1
        replacement = self._sink.replacing()
        async with self._source.list(self._oldest) as listing:
            async for objects in listing:
                replacement.add(objects)
                # Yield to the event loop between two batches.
                await asyncio.sleep(0)
        version = listing.metadata.resourceVersion
        if not version:
            # kube-apiserver always sends a version. This is not a complete list.
            raise InvalidResponse
        replacement.commit(version)
        self._resource_version, self._oldest = version, ""

    async def _watch(self) -> None:
        self.watches += 1
        async with self._source.watch(self._resource_version) as events:
            self._watched_since = self._clock.monotonic()
            self._warned = ""
            self._sink.connected()
            async for event in events:
                self._server_errors = 0
                if event.type == "BOOKMARK":
                    version = _version_of(event)
                    self._sink.bookmark(version)
                else:
                    # The sink decodes the object anyway. Decode it here only if the sink could not.
                    version = self._sink.event(event) or _version_of(event)
                # Without a readable version, a new watch resumes before this event.
                self._resource_version = version or self._resource_version

    async def _failed(self, error: ApiError) -> "_Wait":
        """Notify the sink and return the delay."""
        self._lost = True
        delay = self._backoff.next()
        if isinstance(error, Unauthorized | UntrustedCertificate):
            await self._source.reload()
        if isinstance(error, ServerError):
            self._server_errors += 1
            if self._server_errors >= HOPELESS:
                self._server_errors, self._resource_version = 0, ""
        if not self._resource_version:
            delay = max(delay, self._relists.next())
        # A persistent error is a warning only once.
        minor = isinstance(error, Unavailable) or str(error) == self._warned
        log.log(logging.INFO if minor else logging.WARNING, "%s: %s", self._name, error)
        self._warned = "" if isinstance(error, Unavailable) else str(error)
        self._sink.disconnected(error.message)
        asked = error.retry_after
        if not asked:
            return _Wait(delay)
        # The server's Retry-After shortens our backoff, except for lists, which are expensive.
        most = min(delay, asked * 2) if self._resource_version else delay
        return _Wait(max(asked, most), asked)

    async def _pause(self, wait: "_Wait") -> None:
        if wait.asked > 0:
            await self._clock.sleep(wait.asked)
        if wait.seconds > wait.asked:
            await self._wait(wait.seconds - wait.asked)

    async def _wait(self, seconds: float) -> None:
        self._wake.clear()
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        woken = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleep, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            woken.cancel()
