"""Yield the log lines that a query selects, for pages and downloads."""

from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing

from console.logs.filtering import LineFilter, SelectedLine
from console.logs.query import LogQuery
from console.logs.sources import LogSource, merge_by_time

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
