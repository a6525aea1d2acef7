"""A list that is read on behalf of one user, for objects that the shared cache must not contain.

A `LiveList` has the interface of an `Informer`: a store, a freshness and listeners. It lives as
long as its `with` block, which is that of a page or a websocket.

- Every request carries the user's identity, so kube-apiserver authorizes it. A watch is
  reauthorized every `RECHECK` seconds and ends by then if the user lost the permission.
- At most `LIMIT` objects are requested and stored. `truncated` is True if there may be more.
- Objects of a private type are redacted by `console.kube.uncached` before they are stored.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import msgspec

from console.kube.cachewait import wait_until
from console.kube.clients import ReaderClient, UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.liststream import ListMeta, ListStream
from console.kube.listwatch import LIST_READ_TIMEOUT, Listing, ListWatch, WatchEvent
from console.kube.messages import Message
from console.kube.recent_events import last_seen
from console.kube.store import Decode, P
from console.kube.transport import Transport

LIMIT = 5_000
#: Seconds after which a watch is restarted, so that the server authorizes it again.
RECHECK = 60.0
#: Seconds between two requests of a `LiveObject`.
INTERVAL = 5.0
ENDED = Message("This list is closed")

Redact = Callable[[msgspec.Raw], msgspec.Raw]
Spawn = Callable[[Coroutine[Any, Any, None]], Any]


class UserReader(ReaderClient):
    """List and watch on behalf of a user. Its credential grants nothing but impersonation."""

    _reads_much = False

    def __init__(self, transport: Transport, identity: Identity) -> None:
        if not isinstance(identity, Identity):
            raise TypeError("UserReader requires an Identity")
        super().__init__(transport)
        self._headers = identity.headers()


class UserSource(ListWatch):
    def __init__(
        self, client: UserReader, gvr: GVR, namespace: str, redact: Redact | None = None
    ) -> None:
        super().__init__(client, gvr, namespace)
        self._redact = redact or unredacted

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[Listing, None]:
        # Without a resourceVersion: with "0" the server would ignore the limit.
        with self._noting_refusals("list"):
            async with self._client.stream(
                self._gvr, self._namespace, [("limit", str(LIMIT))], read_timeout=LIST_READ_TIMEOUT
            ) as content:
                self.refused = None
                yield _Redacted(ListStream(content.iter_any()), self._redact)

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        with self._noting_refusals("watch"):
            async with super().watch(resource_version) as events:
                # The permission was granted again while the list is still shown.
                self.refused = None
                yield self._for_a_while(events)

    async def _for_a_while(
        self, events: AsyncIterator[WatchEvent]
    ) -> AsyncGenerator[WatchEvent, None]:
        now = asyncio.get_running_loop().time
        end = now() + RECHECK
        while True:
            try:
                event = await asyncio.wait_for(anext(events), end - now())
            except (StopAsyncIteration, TimeoutError):
                return
            yield WatchEvent(event.type, self._redact(event.object))


class _Redacted:
    """A listing whose objects are redacted."""

    def __init__(self, listing: ListStream, redact: Redact) -> None:
        self._listing = listing
        self._redact = redact
        self.metadata = ListMeta()

    async def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]:
        async for raws in self._listing:
            yield [self._redact(raw) for raw in raws]
        self.metadata = self._listing.metadata


def unredacted(raw: msgspec.Raw) -> msgspec.Raw:
    return raw


class LiveList(Informer[P]):
    """An informer for one user. Use it as a context manager.

    `sources` are by namespace; "" is the source of all namespaces.
    """

    def __init__(
        self,
        gvr: GVR,
        decode: Decode[P],
        sources: Mapping[str, UserSource],
        spawn: Spawn,
        *,
        clock: Clock | None = None,
        limit: int = LIMIT,
    ) -> None:
        super().__init__(gvr, decode, clock=clock)
        self._sources = sources
        self._spawn = spawn
        self._limit = limit
        self._running: Any = None

    def __enter__(self) -> Self:
        self._running = self._spawn(self._run())
        return self

    def __exit__(self, *_: object) -> None:
        self._running.cancel()

    @property
    def truncated(self) -> bool:
        return len(self.store) >= self._limit

    async def wait(self, *, timeout: float) -> bool:  # noqa: ASYNC109
        """Return True once all namespaces are listed, or False after `timeout` seconds.

        A `LiveObject` returns False immediately after a failed request. Raise `Forbidden`.
        """
        await wait_until(self, self._is_answered, timeout)
        refusal = self.refusal
        if refusal is not None:
            raise refusal
        return self.freshness.synced

    def _is_answered(self) -> bool:
        return self.freshness.synced or self.refusal is not None

    def event(self, event: WatchEvent) -> str:
        version = super().event(event)
        if len(self.store) > self._limit and (found := last_seen(event.object)):
            for key in self.store.evict([found[0]]):
                self._changed(key)
        return version

    async def _run(self) -> None:
        try:
            await self.follow(self._sources)
        finally:
            self.disconnected(ENDED)


class LiveObject(LiveList[P]):
    """A `LiveList` of one object, for a user who may get it by name but not list its type.

    A rule with `resourceNames` usually grants `get` but neither list nor watch. Therefore the
    object is polled every `INTERVAL` seconds.
    """

    def __init__(
        self,
        gvr: GVR,
        decode: Decode[P],
        key: Key,
        client: UserClient,
        spawn: Spawn,
        redact: Redact | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(gvr, decode, {}, spawn, clock=clock)
        self._key = key
        self._client = client
        self._redact = redact or unredacted
        self._sleep = (clock or SystemClock()).sleep
        self._refusal: Forbidden | None = None

    @property
    def refusal(self) -> Forbidden | None:
        return self._refusal

    @property
    def refused_verb(self) -> str:
        return "get"

    def _is_answered(self) -> bool:
        # A failed request is not retried before the next interval.
        return super()._is_answered() or bool(self.freshness.problem)

    async def _run(self) -> None:
        try:
            while True:
                await self._look()
                await self._sleep(INTERVAL)
        finally:
            self.disconnected(ENDED)

    async def _look(self) -> None:
        found: list[msgspec.Raw] = []
        version = self.store.resource_version
        try:
            item, version = await self._fetch()
            found = [item]
        except NotFound:
            pass
        except ApiError as error:
            self._refusal = error if isinstance(error, Forbidden) else None
            self.disconnected(error.message)
            return
        self._refusal = None
        self.replace(found, version)
        self.connected()

    async def _fetch(self) -> tuple[msgspec.Raw, str]:
        """Return the object and its version. Raise `ApiError`."""
        place, name = self._key
        item = await self._client.get(self.gvr, namespace=place, name=name)
        found = self._redact(msgspec.Raw(msgspec.json.encode(item)))
        return found, item["metadata"].get("resourceVersion", "")
