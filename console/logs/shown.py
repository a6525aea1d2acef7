"""The lines of logs that an address asks for, in their order: what a page and a download are made of."""

from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing

from console.logs.picking import Picked, Picker
from console.logs.query import LogQuery
from console.logs.sources import Source, merged

#: Lines before the one at a moment.
BEFORE = 50


async def shown(
    sources: Sequence[Source], query: LogQuery
) -> AsyncGenerator[tuple[int, list[Picked]], None]:
    """Batches, with how many lines were looked at for each. Raises as `Stream.read`."""
    picker = Picker(query)
    around = _Around(query) if query.at else None
    async with aclosing(merged(sources)) as batches:
        async for batch in batches:
            found = [picked for entry in batch for picked in picker.next(entry)]
            yield len(batch), found if around is None else [*around.take(found)]
            if around is not None and around.full:
                return


class _Around:
    """Some lines before a moment, and as many from then on as are asked for."""

    def __init__(self, query: LogQuery) -> None:
        self._at, self._left = query.at, query.tail
        self._before: deque[Picked] = deque(maxlen=BEFORE)

    @property
    def full(self) -> bool:
        return self._left == 0

    def take(self, found: Iterable[Picked]) -> Iterator[Picked]:
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
