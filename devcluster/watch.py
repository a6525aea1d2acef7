"""Watches: the present state if asked for, then every change as it happens.

Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes. A
watch that resumes gets every change after its resourceVersion, in order, or 410 as an ERROR event.
A client that does not read is cut off rather than waited for.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable

from devcluster.objects import decode, encode, meta
from devcluster.options import ListOptions
from devcluster.statuses import expired
from devcluster.store import Change, Collection, Record, Store
from devcluster.wire import Renderer, error_event

BOOKMARK_SECONDS = 10.0
# Changes that may wait for one client before it is cut off.
_QUEUE = 2_000

Write = Callable[[bytes], Awaitable[None]]


class Watch:
    """One client's watch: `open` it, then `stream` it, then `close` it."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        namespace: str,
        options: ListOptions,
        renderer: Renderer,
        cut: Callable[[], None],
    ) -> None:
        """`cut` breaks the connection; it is called if the client does not keep up."""
        self._cut = cut
        self._store, self._collection = store, collection
        self._prefix = f"{namespace}/" if namespace else ""
        self._namespace, self._options, self._renderer = namespace, options, renderer
        self._waiting: deque[Change] = deque()
        self._ready = asyncio.Event()
        self._closed = False
        #: Changes up to this one have been looked at.
        self._seen = 0

    def open(self) -> list[bytes]:
        """Subscribes; the answer is what to send at once. From here on nothing is missed."""
        options = self._options
        self._seen = self._store.rv
        self._collection.listeners.add(self._changed)
        self._collection.closers.add(self.close)
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
        """Ends the watch; may be called more than once."""
        self._closed = True
        self._collection.listeners.discard(self._changed)
        self._collection.closers.discard(self.close)
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
        # A resourceVersion of the future: what is older than it is not sent.
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
        """What this client sees of the change; empty if nothing."""
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
        """What is to be sent next, after at most `timeout` seconds; None at the end."""
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
            # What happened before the end is still sent.
            return lines or None
        self._ready.clear()
        return lines

    def bookmark(self) -> bytes:
        """Says up to where this client has seen everything; only right after `next_lines`."""
        self._seen = max(self._seen, self._store.rv) if not self._waiting else self._seen
        return self._renderer.bookmark(self._seen, initial_end=False)


def _moved(record: Record, rv: int) -> Record:
    """The object as it was, with the resourceVersion of the change by which it left."""
    obj = decode(record.data)
    meta(obj)["resourceVersion"] = str(rv)
    return Record(record.key, obj, encode(obj), record.fields)


async def stream(watch: Watch, options: ListOptions, first: list[bytes], write: Write) -> None:
    """Sends until the client's time is over or the watch is closed.

    With bookmarks allowed one is sent every 10 s and at the end, so that a client can resume from
    a late resourceVersion although nothing happened.
    """
    loop = asyncio.get_running_loop()
    # Without a wish of the client, between half an hour and an hour, as in kube-apiserver.
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
