"""Merge several logs by timestamp, and select lines for pages and downloads."""

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing

from console.logs.filtering import LevelDetector, LineFilter, LogEntry, SelectedLine
from console.logs.lines import MAX_LINE_BYTES, LogLine, Splitter
from console.logs.query import LogQuery
from console.streams.stream import ResponseStream

#: Maximum number of lines in a batch.
BATCH = 500


class LogSource:
    """The log of one container.

    `name`: the label of its lines if several logs are shown. `kubectl_name`: the label that
    kubectl uses. `longest`: maximum bytes of a line; longer ones are cut.
    """

    def __init__(
        self,
        name: str,
        stream: ResponseStream,
        *,
        kubectl_name: str = "",
        longest: int = MAX_LINE_BYTES,
    ) -> None:
        self.name, self.stream, self.kubectl_name = name, stream, kubectl_name
        self.lines: deque[tuple[LogLine, str]] = deque()
        self._splitter = Splitter(longest, keeps_overwritten=longest > MAX_LINE_BYTES)
        self._levels = LevelDetector()
        self._ended = False

    async def more(self) -> bool:
        """Read until lines are available, and return False at the end. Raises the same exceptions
        as `ResponseStream.read`.
        """
        while not self.lines and not self._ended:
            piece = await self.stream.read()
            self._ended = not piece
            found = self._splitter.feed(piece) if piece else self._splitter.end()
            self.lines.extend((line, self._levels.next(line)) for line in found)
        return bool(self.lines)


async def merge_by_time(sources: Sequence[LogSource]) -> AsyncGenerator[list[LogEntry], None]:
    """Yield batches of lines in timestamp order. At most one read of each log is buffered."""
    waiting = [
        (source.lines[0][0].stamp, number)
        for number, source in enumerate(sources)
        if await source.more()
    ]
    heapq.heapify(waiting)
    batch: list[LogEntry] = []
    while waiting:
        _stamp, number = heapq.heappop(waiting)
        source = sources[number]
        line, level = source.lines.popleft()
        batch.append(LogEntry(number, line, level))
        if not source.lines or len(batch) >= BATCH:
            yield batch
            batch = []
        if await source.more():
            heapq.heappush(waiting, (source.lines[0][0].stamp, number))


#: Number of context lines before the line at `LogQuery.at`.
LINES_BEFORE = 50


async def selected_lines(
    sources: Sequence[LogSource], query: LogQuery
) -> AsyncGenerator[tuple[int, list[SelectedLine]], None]:
    """Yield batches of (number of lines read, selected lines). Raises the same exceptions as
    `Stream.read`.
    """
    picker = LineFilter(query)
    around = _LineContext(query) if query.at else None
    async with aclosing(merge_by_time(sources)) as batches:
        async for batch in batches:
            found = [picked for entry in batch for picked in picker.next(entry)]
            yield len(batch), found if around is None else [*around.take(found)]
            if around is not None and around.full:
                return


class _LineContext:
    """Selects `LINES_BEFORE` lines before `query.at` and `query.tail` lines from there on."""

    def __init__(self, query: LogQuery) -> None:
        self._at, self._left = query.at, query.tail
        self._before: deque[SelectedLine] = deque(maxlen=LINES_BEFORE)

    @property
    def full(self) -> bool:
        return self._left == 0

    def take(self, found: Iterable[SelectedLine]) -> Iterator[SelectedLine]:
        for picked in found:
            if picked.entry.line.stamp < self._at:
                self._before.append(picked)
                continue
            yield from self._before
            self._before.clear()
            if self._left is not None:
                if self._left == 0:
                    return
                self._left -= 1
            yield picked
