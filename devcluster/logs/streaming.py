"""Log streaming: sends existing lines and optionally follows new ones until the container
terminates.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from devcluster.logs.lines import MAX_LINES, LogLines, nanosecond_timestamp
from devcluster.logs.options import LogOptions
from devcluster.logs.runs import Run, current_run, run_of
from devcluster.objects import Obj, meta
from devcluster.store import Change, Collection

_SECOND = 1_000_000_000
#: Lines per chunk, and minimum seconds between two reads of a followed log.
_BATCH, _LEAST_WAIT = 400, 0.02


class LogStream:
    """A log request. Errors are raised by the constructor; `chunks` yields the lines."""

    def __init__(
        self, collection: Collection, pod: Obj, container: str, options: LogOptions
    ) -> None:
        about = meta(pod)
        self._collection, self._uid = collection, about["uid"]
        self._key = f"{about['namespace']}/{about['name']}"
        self._options, self._closed = options, False
        self._changed = asyncio.Event()
        self._run = run_of(pod, container, previous=options.previous)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the log. A followed log ends when the container terminates or the pod is removed."""
        self._collection.listeners.add(self._on_change)
        self._collection.close_callbacks.add(self.close)
        try:
            left = self._options.limit
            async with aclosing(self._all()) as chunks:
                async for chunk in chunks:
                    yield chunk if left is None else chunk[:left]
                    if left is not None:
                        left -= len(chunk)
                        if left <= 0:
                            return
        finally:
            self._collection.listeners.discard(self._on_change)
            self._collection.close_callbacks.discard(self.close)

    def close(self) -> None:
        """Stop the stream. It can be called more than once."""
        self._closed = True
        self._changed.set()

    async def _all(self) -> AsyncGenerator[bytes, None]:
        run = self._run
        writing = LogLines(run)
        now = _now()
        number = self._first(writing, now)
        while not self._closed:
            self._changed.clear()
            written = writing.written(now)
            while number < written:
                until = min(written, number + _BATCH)
                yield b"".join(self._line(writing, n) for n in range(number, until))
                number = until
                # Let other tasks run, and detect a disconnected client.
                await asyncio.sleep(0)
            if not self._options.follow or run.ended is not None:
                return
            await self._wait((writing.moment(number) - _now()) / _SECOND)
            found = self._look(run)
            if found is None:
                return
            if found != run:
                run, writing = found, LogLines(found)
            now = _now()

    def _first(self, writing: LogLines, now: int) -> int:
        options = self._options
        written = writing.written(now)
        first = max(0, written - MAX_LINES)
        if options.tail is not None:
            first = max(first, written - options.tail)
        since = options.since
        if options.since_seconds is not None:
            since = now - options.since_seconds * _SECOND
        return first if since is None else max(first, writing.since(since, written))

    def _line(self, writing: LogLines, number: int) -> bytes:
        text = writing.text(number)
        if self._options.timestamps:
            text = f"{nanosecond_timestamp(writing.moment(number))} {text}"
        return text.encode(errors="replace") + b"\n"

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(_LEAST_WAIT, seconds)):
                await self._changed.wait()
        except TimeoutError:
            return

    def _look(self, run: Run) -> Run | None:
        record = self._collection.records.get(self._key)
        if self._closed or record is None or record.uid != self._uid:
            return None
        return current_run(record.load(), run)

    def _on_change(self, change: Change) -> None:
        if change.new.key == self._key:
            self._changed.set()


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * _SECOND)
