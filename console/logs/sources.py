"""Merge several logs in the order of their timestamps."""

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Sequence

from console.logs.filtering import LevelDetector, LogEntry
from console.logs.lines import LogLine, Splitter
from console.streams.stream import ResponseStream

#: Maximum number of lines in a batch.
BATCH = 500


class LogSource:
    """The log of one container. `name`: the label of its lines if several logs are shown."""

    def __init__(self, name: str, stream: ResponseStream) -> None:
        self.name, self.stream = name, stream
        self.lines: deque[tuple[LogLine, str]] = deque()
        self._splitter, self._levels = Splitter(), LevelDetector()
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
