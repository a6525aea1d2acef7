"""Lists and watches of one resource type, as a stream of decoded envelopes around raw objects.

`ListWatch` speaks the protocol of
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes and nothing
more: it does not retry, remember or interpret. `Source` is what the reflector needs of it, so that
tests can script one.
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import aiohttp
import msgspec

from console.kube.client import ReaderClient
from console.kube.errors import Unavailable, error_from_status
from console.kube.gvr import GVR

PAGE_SIZE = 500
#: Seconds without a byte after which a watch is given up. Bookmarks come about once a minute.
READ_TIMEOUT = 90.0
#: One event is at most an object (etcd's limit is 1.5 MB) and its envelope.
LINE_LIMIT = 16 * 1024 * 1024


class ListMeta(msgspec.Struct):
    resourceVersion: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class ListPage(msgspec.Struct):
    """One page: `items` are the objects' own bytes."""

    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


class WatchEvent(msgspec.Struct):
    """`type` is ADDED, MODIFIED, DELETED or BOOKMARK; an ERROR is raised, never delivered."""

    type: str
    object: msgspec.Raw


class Source(Protocol):
    async def list_page(self, token: str) -> ListPage:
        """A page of a consistent list; `token` is the previous page's, "" for the first.

        Raises `Gone` when the token is too old.
        """
        ...

    def watch(
        self, resource_version: str
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """Entered when the server has accepted the watch; ends when the server ends it.

        Raises `Gone` when `resource_version` is too old, `Unavailable` when the connection breaks.
        """
        ...

    async def reload(self) -> None:
        """Reads the credentials anew."""
        ...


_page_decoder = msgspec.json.Decoder(ListPage)
_event_decoder = msgspec.json.Decoder(WatchEvent)
_status_decoder = msgspec.json.Decoder(dict[str, Any])


class ListWatch:
    """The `Source` over HTTP. `namespace` "" is all of them."""

    def __init__(self, client: ReaderClient, gvr: GVR, namespace: str = "") -> None:
        self._client = client
        self._gvr = gvr
        self._namespace = namespace

    async def list_page(self, token: str) -> ListPage:
        # No resourceVersion: a relist is then never older than what was seen before.
        params = [("limit", str(PAGE_SIZE))]
        if token:
            params.append(("continue", token))
        return _page_decoder.decode(
            await self._client.list_page(self._gvr, self._namespace, params)
        )

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        params = [
            ("resourceVersion", resource_version),
            ("allowWatchBookmarks", "true"),
            # Spread over minutes, so that a restarted server is not met by all watches at once.
            ("timeoutSeconds", str(random.randint(300, 600))),  # noqa: S311
        ]
        async with self._client.watch(
            self._gvr, self._namespace, params, read_timeout=READ_TIMEOUT
        ) as content:
            yield _events(content)

    async def reload(self) -> None:
        await self._client.reload()


async def _events(content: aiohttp.StreamReader) -> AsyncGenerator[WatchEvent, None]:
    async for line in _lines(content):
        event = _event_decoder.decode(line)
        if event.type == "ERROR":
            status = _status_decoder.decode(event.object)
            raise error_from_status(int(status.get("code") or 500), status)
        yield event


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """Lines as they complete. What a broken connection left of the last one is dropped."""
    rest = b""
    async for chunk in content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in lines:
            if line.strip():
                yield line
        if len(rest) > LINE_LIMIT:
            raise Unavailable("A watch event was larger than 16 MiB")
