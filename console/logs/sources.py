"""Several logs as one: their lines in the order of their moments."""

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Sequence

from console.logs.lines import Line, Splitter
from console.logs.picking import Entry, Levels
from console.streams.stream import Stream

#: Lines that are handed on at once, at most.
BATCH = 500


class Source:
    """The log of one container. `name`: how its lines are marked where there are several."""

    def __init__(self, name: str, stream: Stream) -> None:
        self.name, self.stream = name, stream
        self.lines: deque[tuple[Line, str]] = deque()
        self._splitter, self._levels = Splitter(), Levels()
        self._ended = False

    async def more(self) -> bool:
        """Reads until there are lines; False at the end. Raises as `Stream.read`."""
        while not self.lines and not self._ended:
            piece = await self.stream.read()
            self._ended = not piece
            found = self._splitter.feed(piece) if piece else self._splitter.end()
            self.lines.extend((line, self._levels.next(line)) for line in found)
        return bool(self.lines)


async def merged(sources: Sequence[Source]) -> AsyncGenerator[list[Entry], None]:
    """Batches of lines. Of each log no more than what was read at once is kept."""
    waiting = [
        (source.lines[0][0].stamp, number)
        for number, source in enumerate(sources)
        if await source.more()
    ]
    heapq.heapify(waiting)
    batch: list[Entry] = []
    while waiting:
        _stamp, number = heapq.heappop(waiting)
        source = sources[number]
        line, level = source.lines.popleft()
        batch.append(Entry(number, line, level))
        if not source.lines or len(batch) >= BATCH:
            yield batch
            batch = []
        if await source.more():
            heapq.heappush(waiting, (source.lines[0][0].stamp, number))
