"""Stream a log as plain text: the lines that the query selects, preceded by one comment line for
each log that can't be read.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from console.kube.errors import ApiError
from console.live.flow import Flow
from console.logs.access import UnreadableLog, close_all
from console.logs.filtering import SelectedLine
from console.logs.query import LogQuery
from console.logs.sources import LogSource, selected_lines
from console.streams.stream import StreamEnded
from console.ui.core.text import escape_invisible


class Download:
    """Async iterator for the body of a streaming response.

    It stops reading while the client is slow. If it can't send the complete log, it aborts the
    connection, so that the client doesn't mistake a partial download for a complete one.
    """

    def __init__(
        self,
        sources: Sequence[LogSource],
        refused: Sequence[UnreadableLog],
        query: LogQuery,
        flow: Flow,
    ) -> None:
        self._sources, self._query, self._flow = sources, query, flow
        self._missing = [
            f"# {escape_invisible(one.wanted.mark)}: {' '.join(str(one).split())}\n"
            for one in refused
        ]
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces()

    def close(self) -> None:
        """Close all streams. Django calls this in another thread, even if the body was never
        iterated.
        """
        for source in self._sources:
            self._loop.call_soon_threadsafe(source.stream.close_soon)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            if self._missing:
                yield "".join(self._missing).encode()
            async with aclosing(selected_lines(self._sources, self._query)) as batches:
                async for _looked_at, found in batches:
                    if found:
                        yield b"".join(map(self._line, found))
                    await self._flow.wait_clear()
        except (StreamEnded, ApiError):
            self._flow.abort()
        finally:
            await close_all(self._sources)

    def _line(self, picked: SelectedLine) -> bytes:
        entry = picked.entry
        parts = (
            [f"[{escape_invisible(self._sources[entry.source].name)}] "]
            if len(self._sources) > 1
            else []
        )
        if self._query.timestamps and entry.line.stamp:
            parts.append(f"{entry.line.stamp} ")
        return "".join(parts).encode() + entry.line.raw + b"\n"
