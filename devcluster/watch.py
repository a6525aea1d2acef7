"""Watches: optionally the current state, then all later changes.

Rules:
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes. A
resumed watch receives every change after its resourceVersion in order, or an ERROR event with
code 410. A client that reads too slowly is disconnected.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable

from devcluster.errors import expired
from devcluster.objects import decode, encode, meta
from devcluster.options import ListOptions
from devcluster.rendering import Renderer, error_event
from devcluster.store import Change, Collection, Record, Store

BOOKMARK_SECONDS = 10.0
# Maximum number of queued changes before a slow client is disconnected.
_QUEUE = 2_000

Write = Callable[[bytes], Awaitable[None]]


class Watch:
    """The watch of one client. Call `open`, then `stream`, then `close`."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        namespace: str,
        options: ListOptions,
        renderer: Renderer,
        cut: Callable[[], None],
    ) -> None:
        """`cut` aborts the connection. It is called if the client reads too slowly."""
        self._cut = cut
        self._store, self._collection = store, collection
        self._prefix = f"{namespace}/" if namespace else ""
        self._namespace, self._options, self._renderer = namespace, options, renderer
        self._waiting: deque[Change] = deque()
        self._ready = asyncio.Event()
        self._closed = False
        #: resourceVersion of the last change that was processed.
        self._seen = 0

    def open(self) -> list[bytes]:
        """Subscribe to changes and return the initial events. No later change is missed."""
        options = self._options
        self._seen = self._store.rv
        self._collection.listeners.add(self._changed)
        self._collection.close_callbacks.add(self.close)
        wants_state = options.resource_version in (None, 0)
        if options.initial_events is not None:
            wants_state = options.initial_events
        if wants_state:
            lines = [self._renderer.event("ADDED", record) for record in self._present()]
        else:
            lines = self._missed(options.resource_version or self._seen)
        if options.initial_events and options.bookmarks:
            lines.append(self._renderer.bookmark(self._seen, initial_end=True))
        return lines

    def close(self) -> None:
        """Stop the watch. It can be called more than once."""
        self._closed = True
        self._collection.listeners.discard(self._changed)
        self._collection.close_callbacks.discard(self.close)
        self._ready.set()

    def _present(self) -> list[Record]:
        records = self._collection.records_in(self._namespace)
        selection = self._options.selection
        return [r for r in records if selection.matches(r)] if selection else records

    def _missed(self, since: int) -> list[bytes]:
        if since < self._collection.oldest:
            self.close()
            message = f"too old resource version: {since} ({self._collection.oldest})"
            return [error_event(expired(message))]
        # For a future resourceVersion, older changes are not sent.
        self._seen = max(self._seen, since)
        lines = (self._line(change) for change in self._collection.since(since))
        return [line for line in lines if line]

    def _changed(self, change: Change) -> None:
        if change.rv <= self._seen:
            return
        if self._prefix and not change.new.key.startswith(self._prefix):
            return
        self._waiting.append(change)
        if len(self._waiting) > _QUEUE:
            self._waiting.clear()
            self.close()
            self._cut()
        self._ready.set()

    def _line(self, change: Change) -> bytes:
        """Return the event for this client, or empty bytes if the change does not affect its
        selection.
        """
        selection = self._options.selection
        if self._prefix and not change.new.key.startswith(self._prefix):
            return b""
        if not selection:
            return self._renderer.change(change)
        before = change.old is not None and selection.matches(change.old)
        after = change.kind != "DELETED" and selection.matches(change.new)
        if before and after:
            return self._renderer.change(change)
        if after:
            return self._renderer.event("ADDED", change.new)
        if before and change.old is not None:
            return self._renderer.event("DELETED", _moved(change.old, change.rv))
        return b""

    async def next_lines(self, timeout: float) -> list[bytes] | None:  # noqa: ASYNC109
        """Return the events that arrive within `timeout` seconds, or None at the end of the watch."""
        try:
            async with asyncio.timeout(timeout):
                await self._ready.wait()
        except TimeoutError:
            return []
        lines = [line for change in self._waiting if (line := self._line(change))]
        if self._waiting:
            self._seen = self._waiting[-1].rv
        self._waiting.clear()
        if self._closed:
            # Send the remaining changes before the watch ends.
            return lines or None
        self._ready.clear()
        return lines

    def bookmark(self) -> bytes:
        """Return a bookmark event. Call it only directly after `next_lines`."""
        self._seen = max(self._seen, self._store.rv) if not self._waiting else self._seen
        return self._renderer.bookmark(self._seen, initial_end=False)


def _moved(record: Record, rv: int) -> Record:
    """Return the previous object with the resourceVersion of the change that removed it from the
    selection.
    """
    obj = decode(record.data)
    meta(obj)["resourceVersion"] = str(rv)
    return Record(record.key, obj, encode(obj), record.fields)


async def stream(watch: Watch, options: ListOptions, first: list[bytes], write: Write) -> None:
    """Send events until the timeout expires or the watch is closed.

    If bookmarks are allowed, one is sent every 10 seconds and at the end. Clients can then
    resume from a recent resourceVersion even if no object changed.
    """
    loop = asyncio.get_running_loop()
    # Default timeout of kube-apiserver: between 30 and 60 minutes.
    end = loop.time() + (options.timeout or random.uniform(1800, 3600))  # noqa: S311
    mark = loop.time() + BOOKMARK_SECONDS
    if first:
        await write(b"".join(first))
    while loop.time() < end:
        until = min(end, mark) if options.bookmarks else end
        lines = await watch.next_lines(max(0.0, until - loop.time()))
        if lines is None:
            return
        if options.bookmarks and loop.time() >= min(mark, end):
            lines.append(watch.bookmark())
            mark = loop.time() + BOOKMARK_SECONDS
        if lines:
            await write(b"".join(lines))
