"""Keeps a sink equal to the server: list once, then watch for ever.

Promises:
- After a list the sink equals the server at that resourceVersion.
- A watch that ends or breaks is taken up again from the last resourceVersion seen (bookmarks count);
  nothing is lost and nothing is applied out of order. 410 Gone makes it list again.
- A server that comes back with a younger state, restored from a backup, is noticed and listed again.
- Every failure waits: doubling delays with jitter up to 30 s, or what Retry-After asked for. `wake()`
  ends a wait early, when somebody knows that the server is back, but none that the server asked for.
- A fault that lasts costs about one list in 30 s at most, whatever else works meanwhile.
- `renew()` takes up the list or the watch anew, when somebody knows that its connection may be dead.
- The sink hears at once when the connection is good and when it is not.

It runs as one task until cancelled and never raises.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from console.kube.clock import Clock
from console.kube.errors import (
    ApiError,
    Distrusted,
    Gone,
    ServerError,
    Unauthorized,
    Unavailable,
)
from console.kube.listwatch import Source, WatchEvent
from console.kube.ratelimit import Backoff
from console.kube.sentences import Sentence
from console.kube.store import UNREADABLE, older

log = logging.getLogger(__name__)

#: A watch that lived at least this long (seconds) was a good one: the next failure starts a new backoff.
GOOD_WATCH = 10.0
#: Server errors in a row after which a watch is taken as impossible from where it is: kube-apiserver
#: answers 500, not 410, when the very next event has been compacted away.
HOPELESS = 3


class _Wait(NamedTuple):
    """Seconds until the next try; of these `asked` are the server's own wish, which nothing shortens."""

    seconds: float
    asked: float = 0.0

    def at_most(self, seconds: float) -> "_Wait":
        return _Wait(max(self.asked, min(self.seconds, seconds)), self.asked)


class Replacing(Protocol):
    """Takes a list in batches; nothing of it shows before `commit`."""

    def add(self, raws: Sequence[msgspec.Raw]) -> None: ...

    def commit(self, resource_version: str) -> None: ...


class Sink(Protocol):
    """Where a reflector writes. Called in order, from the reflector's loop."""

    def replacing(self) -> Replacing: ...

    def event(self, event: WatchEvent) -> str:
        """The object's resourceVersion, "" if it has none that can be read."""
        ...

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


def _version_of(event: WatchEvent) -> str:
    """ "" for an object that is nested too deeply to be read."""
    try:
        return _version_decoder.decode(event.object).metadata.resourceVersion
    except RecursionError:
        return ""


def _not_understood() -> ServerError:
    return ServerError(502, Sentence("An answer of the Kubernetes API was not understood"))


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
        """`oldest`: the resourceVersion that the first list may have, "0" for whatever the server
        remembers, "" for none but the present."""
        self._name = name
        self._source = source
        self._sink = sink
        self._clock = clock
        self._backoff = backoff or Backoff()
        # Lists are dear: only a watch that lasts shows that they are worth it.
        self._relists = Backoff(random=self._backoff.random)
        self._wake = asyncio.Event()
        self._resource_version = ""
        self._server_errors = 0
        # The first list may be what the server remembers; a later one must not be older than that.
        self._oldest = oldest
        self._working: asyncio.Task[None] | None = None
        self._watched_since: float | None = None
        # The connection was lost, so another server, or another state of it, may answer next.
        self._lost = False
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
                # What was seen counts: the next failure is a first one again.
                self._backoff.reset()
            await self._pause(wait)

    async def _round(self) -> "_Wait":
        """Lists if need be and watches until that ends. What to wait before the next round."""
        seen = self._resource_version
        try:
            whole = await self._undisturbed()
        except Gone:
            # Not a failure: the server has forgotten where we were, so start over.
            log.info("%s: listing again, the server has compacted its history", self._name)
            self._resource_version = ""
            self._sink.disconnected(Sentence("The Kubernetes API has forgotten what came before"))
            return _Wait(self._relists.next())
        except ApiError as error:
            return await self._failed(error)
        except UNREADABLE as error:
            log.info("%s: %s", self._name, error)
            return await self._failed(Unavailable(Sentence("An answer was cut off")))
        except Exception:
            # Whatever a server, or somebody between, has thought of: it must not end what follows it.
            log.exception("%s: an answer was not understood", self._name)
            return await self._failed(_not_understood())
        if not whole:
            self._lost = True
            return _Wait(0.0)
        return self._ended(good=self._lasted() or self._resource_version != seen)

    async def _undisturbed(self) -> bool:
        """False if `renew` ended it. A task of its own, so that this ends nothing else."""
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
        """After the server has ended a watch, which it does every few minutes, and whenever it finds us
        slow: one that lasted or had news is taken up again at once."""
        if good:
            return _Wait(0.0)
        # A watch that ends at once, again and again, must not become a busy loop.
        delay = self._backoff.next()
        self._sink.disconnected(Sentence("The Kubernetes API ended the connection"))
        return _Wait(delay)

    def wake(self) -> None:
        """Ends a wait early. Call it on the reflector's loop."""
        self._backoff.reset()
        self._wake.set()

    def renew(self) -> None:
        """Asks anew for what it waits to hear, from where it is. Call it on the reflector's loop."""
        if self._working is not None:
            self._working.cancel()

    async def _recognize(self) -> None:
        """A watch from a version that the server has yet to reach would say nothing until it does."""
        latest = await self._source.latest()
        if older(latest, self._resource_version):
            log.warning("%s: listing again, the server was set back in time", self._name)
            self._resource_version = ""

    async def _list(self) -> None:
        self.lists += 1
        replacement = self._sink.replacing()
        async with self._source.list(self._oldest) as listing:
            async for objects in listing:
                replacement.add(objects)
                # Whatever else runs on this loop gets a turn between two batches.
                await asyncio.sleep(0)
        version = listing.metadata.resourceVersion
        if not version:
            # None of kube-apiserver's is without: this one says nothing about what there is.
            raise _not_understood()
        replacement.commit(version)
        self._resource_version, self._oldest = version, ""

    async def _watch(self) -> None:
        self.watches += 1
        async with self._source.watch(self._resource_version) as events:
            self._watched_since = self._clock.monotonic()
            self._sink.connected()
            async for event in events:
                self._server_errors = 0
                if event.type == "BOOKMARK":
                    version = _version_of(event)
                    self._sink.bookmark(version)
                else:
                    # The sink decodes the object anyway; only where it cannot, we look ourselves.
                    version = self._sink.event(event) or _version_of(event)
                # Where nobody can read it, the watch would be resumed from before it.
                self._resource_version = version or self._resource_version

    async def _failed(self, error: ApiError) -> "_Wait":
        """Tells the sink. What to wait."""
        self._lost = True
        delay = self._backoff.next()
        if isinstance(error, Unauthorized | Distrusted):
            await self._source.reload()
        if isinstance(error, ServerError):
            self._server_errors += 1
            if self._server_errors >= HOPELESS:
                self._server_errors, self._resource_version = 0, ""
        if not self._resource_version:
            delay = max(delay, self._relists.next())
        log.log(
            logging.INFO if isinstance(error, Unavailable) else logging.WARNING,
            "%s: %s",
            self._name,
            error,
        )
        self._sink.disconnected(error.message)
        asked = error.retry_after
        if not asked:
            return _Wait(delay)
        # The server's own word counts for more than our guess, but for lists, which are dear.
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
