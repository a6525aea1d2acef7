"""Lists and watches of one resource type, as a stream of decoded envelopes around raw objects.

`ListWatch` speaks the protocol of
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes and nothing
more: it does not retry, remember or interpret. `Source` is what the reflector needs of it, so that
tests can script one.
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Protocol

import msgspec

from console.kube.client import ReaderClient
from console.kube.errors import Forbidden, ServerError, Unavailable, error_from_status
from console.kube.gvr import GVR
from console.kube.liststream import ListMeta, ListStream
from console.kube.sentences import Sentence
from console.kube.store import UNREADABLE
from console.kube.throttledreader import Chunks

#: Seconds without a byte after which a watch is given up. Bookmarks come about once a minute.
READ_TIMEOUT = 90.0
#: Seconds between two parts of a list. A minute is what kube-apiserver allows itself for the whole.
LIST_READ_TIMEOUT = 60.0
#: One event is at most an object (etcd's limit is 1.5 MB) and its envelope.
LINE_LIMIT = 16 * 1024 * 1024


class WatchEvent(msgspec.Struct):
    """`type` is ADDED, MODIFIED, DELETED or BOOKMARK; an ERROR is raised, never delivered."""

    type: str
    object: msgspec.Raw


class Listing(Protocol):
    """A list's objects in batches, once. `metadata` is there when the iteration has ended."""

    metadata: ListMeta

    def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]: ...


class Source(Protocol):
    def list(self, resource_version: str) -> AbstractAsyncContextManager[Listing]:
        """All objects at `resource_version` or later: "0" is what the server has in memory, "" is the
        present and never older than anything seen before."""
        ...

    def watch(
        self, resource_version: str
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """Entered when the server has accepted the watch; ends when the server ends it.

        Raises `Gone` when `resource_version` is too old, `Unavailable` when the connection breaks.
        """
        ...

    async def latest(self) -> str:
        """The server's resourceVersion now. Lower than one it gave before: it was restored."""
        ...

    async def reload(self) -> None:
        """Reads the credentials anew."""
        ...


class _Latest(msgspec.Struct):
    metadata: ListMeta


_latest_decoder = msgspec.json.Decoder(_Latest)
_event_decoder = msgspec.json.Decoder(WatchEvent)
_status_decoder = msgspec.json.Decoder(dict[str, Any])


class ListWatch:
    """The `Source` over HTTP. `namespace` "" is all of them."""

    def __init__(self, client: ReaderClient, gvr: GVR, namespace: str = "") -> None:
        self._client = client
        self._gvr = gvr
        self._namespace = namespace
        #: kube-apiserver's last word, if that was that this is not allowed.
        self.refused: Forbidden | None = None
        #: What it was that is not allowed.
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
        # One response: kube-apiserver makes it from its watch cache, once, and sends as it goes.
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
            raise ServerError(
                502, Sentence("An answer of the Kubernetes API was not understood")
            ) from error

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        params = [
            ("watch", "true"),
            ("resourceVersion", resource_version),
            ("allowWatchBookmarks", "true"),
            # Spread over minutes, so that a restarted server is not met by all watches at once.
            ("timeoutSeconds", str(random.randint(300, 600))),  # noqa: S311
        ]
        async with self._client.stream(
            self._gvr, self._namespace, params, read_timeout=READ_TIMEOUT, throttled=True
        ) as content:
            yield _events(content)

    async def reload(self) -> None:
        await self._client.reload()


async def _events(content: Chunks) -> AsyncGenerator[WatchEvent, None]:
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
    """The envelope as kube-apiserver writes it is cut off; any other is decoded.

    Whether the object inside is whole is for its own decoder to say, which reads it anyway.
    """
    head, _, rest = line.partition(_OBJECT)
    kind = _TYPES.get(head)
    if kind is None or not rest.endswith(b"}}"):
        return _event_decoder.decode(line)
    return WatchEvent(kind, msgspec.Raw(rest[:-1]))


async def _lines(content: Chunks) -> AsyncGenerator[bytes, None]:
    """Lines as they complete. What a broken connection left of the last one is dropped."""
    rest = b""
    async for chunk in content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in lines:
            if line and not line.isspace():
                yield line
        if len(rest) > LINE_LIMIT:
            raise Unavailable(Sentence("A watch event was larger than 16 MiB"))
