"""List and watch one resource type as a stream of decoded envelopes around raw objects.

`ListWatch` implements the protocol of
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes. It
does not retry, cache or interpret objects. `Source` is the interface the reflector needs, so
that tests can provide a scripted one.
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Protocol

import msgspec

from console.kube.clients import ReaderClient
from console.kube.errors import Forbidden, InvalidResponse, Unavailable, error_from_status
from console.kube.gvr import GVR
from console.kube.liststream import ListMeta, ListStream
from console.kube.messages import Message
from console.kube.store import UNREADABLE
from console.kube.throttledreader import Chunks

#: Seconds without data after which a watch is closed. Bookmarks arrive about once a minute.
READ_TIMEOUT = 90.0
#: Maximum seconds between two chunks of a list. kube-apiserver limits the whole list to a minute.
LIST_READ_TIMEOUT = 60.0
#: Maximum bytes of an event: an object (limited to 1.5 MB by etcd) and its envelope.
LINE_LIMIT = 16 * 1024 * 1024


class WatchEvent(msgspec.Struct):
    """An event of a watch. `type` is ADDED, MODIFIED, DELETED or BOOKMARK; ERROR events are raised."""

    type: str
    object: msgspec.Raw


class Listing(Protocol):
    """A list's objects in batches, iterable once. `metadata` is set when the iteration has ended."""

    metadata: ListMeta

    def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]: ...


class Source(Protocol):
    def list(self, resource_version: str) -> AbstractAsyncContextManager[Listing]:
        """List all objects at `resource_version` or later.

        "0" returns the state in the server's cache. "" returns the current state, which is never
        older than any state returned before.
        """
        ...

    def watch(
        self, resource_version: str
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """Yield an iterator of events as soon as the server accepts the watch. It ends when the
        server ends it.

        Raise `Gone` if `resource_version` is too old, `Unavailable` if the connection breaks.
        """
        ...

    async def latest(self) -> str:
        """Return the server's current resourceVersion. If it is lower than before, the server was
        restored.
        """
        ...

    async def reload(self) -> None:
        """Reload the credentials."""
        ...


class _Latest(msgspec.Struct):
    metadata: ListMeta


_latest_decoder = msgspec.json.Decoder(_Latest)
_event_decoder = msgspec.json.Decoder(WatchEvent)
_status_decoder = msgspec.json.Decoder(dict[str, Any])


class ListWatch:
    """The `Source` over HTTP. An empty `namespace` means all namespaces."""

    def __init__(self, client: ReaderClient, gvr: GVR, namespace: str = "") -> None:
        self._client = client
        self._gvr = gvr
        self._namespace = namespace
        #: The error if kube-apiserver's last response was that the request is forbidden.
        self.refused: Forbidden | None = None
        #: The verb of the forbidden request.
        self.refused_verb = "list"

    @contextmanager
    def _noting_refusals(self, verb: str) -> Iterator[None]:
        try:
            yield
        except Forbidden as error:
            self.refused, self.refused_verb = error, verb
            raise

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[Listing, None]:
        # Not paginated: kube-apiserver serves a full list from its watch cache and streams it.
        params = [("resourceVersion", resource_version)] if resource_version else []
        with self._noting_refusals("list"):
            async with self._client.stream(
                self._gvr, self._namespace, params, read_timeout=LIST_READ_TIMEOUT
            ) as content:
                self.refused = None
                yield ListStream(content.iter_any())

    async def latest(self) -> str:
        answer = await self._client.latest(self._gvr, self._namespace)
        try:
            return _latest_decoder.decode(answer).metadata.resourceVersion
        except UNREADABLE as error:
            raise InvalidResponse from error

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        params = [
            ("watch", "true"),
            ("resourceVersion", resource_version),
            ("allowWatchBookmarks", "true"),
            # Randomized, so that a restarted server does not receive all watches at the same time.
            ("timeoutSeconds", str(random.randint(300, 600))),  # noqa: S311
        ]
        async with self._client.stream(
            self._gvr, self._namespace, params, read_timeout=READ_TIMEOUT, throttled=True
        ) as content:
            yield watch_events(content)

    async def reload(self) -> None:
        await self._client.reload()


async def watch_events(content: Chunks) -> AsyncGenerator[WatchEvent, None]:
    """Decode the response of a watch. Raise `ApiError` for an ERROR event."""
    async for line in _lines(content):
        event = _event(line)
        if event.type == "ERROR":
            status = _status_decoder.decode(event.object)
            code = status.get("code")
            raise error_from_status(code if type(code) is int and code >= 400 else 500, status)
        yield event


_OBJECT = b',"object":'
_TYPES = {b'{"type":"%b"' % kind.encode(): kind for kind in ("ADDED", "MODIFIED", "DELETED")}


def _event(line: bytes) -> WatchEvent:
    """Decode an event. The envelope that kube-apiserver writes is stripped without parsing.

    The object's own decoder, which runs anyway, detects a malformed object.
    """
    head, _, rest = line.partition(_OBJECT)
    kind = _TYPES.get(head)
    if kind is None or not rest.endswith(b"}}"):
        return _event_decoder.decode(line)
    return WatchEvent(kind, msgspec.Raw(rest[:-1]))


async def _lines(content: Chunks) -> AsyncGenerator[bytes, None]:
    """Yield complete lines. An incomplete last line of a broken connection is dropped."""
    rest = b""
    async for chunk in content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in lines:
            if line and not line.isspace():
                yield line
        if len(rest) > LINE_LIMIT:
            raise Unavailable(Message("A watch event was larger than 16 MiB"))
