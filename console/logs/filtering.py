"""Filter log lines by search text and level, and add context lines."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from console.logs.ansi import strip_escapes
from console.logs.levels import LEVELS, field_of, json_of, level_of
from console.logs.lines import LogLine
from console.logs.query import LogQuery

#: Maximum number of lines without a level that inherit the level before them, such as a stack
#: trace.
MAX_CONTINUATION_LINES = 50
#: Patterns of lines that continue the line before.
_GOES_ON = re.compile(
    r"\s|$|[\])}]|Caused by|Traceback|During handling|goroutine \d|created by |exit status |\.\.\. \d"
    r"|[\w./*()-]+\(.*\)$|[\w.$]+(Error|Exception)\b"
)
#: Characters of a line that are matched against these patterns.
_NEAR = 200
_FIELD = re.compile(r"([\w.@-]+)=(\S+)")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of one of several sources. `level`: its level, or the level of the line that it
    continues.
    """

    source: int
    line: LogLine
    level: str


@dataclass(frozen=True, slots=True)
class SelectedLine:
    """A selected line. `found`: False for a context line. `gap`: lines are omitted before it."""

    entry: LogEntry
    found: bool
    gap: bool


class LevelDetector:
    """Assigns levels to the lines of one source, in order."""

    def __init__(self) -> None:
        self._level, self._left = "", 0

    def next(self, line: LogLine) -> str:
        text = strip_escapes(line.text)
        own = level_of(text)
        if own:
            self._level, self._left = own, MAX_CONTINUATION_LINES
        elif self._left and _GOES_ON.match(text[:_NEAR]):
            self._left -= 1
        else:
            self._level, self._left = "", 0
        return self._level


class LineFilter:
    """Filters lines one at a time and yields matches with their context lines."""

    def __init__(self, query: LogQuery) -> None:
        self._matches = _matching(query.search)
        self._levels = frozenset(LEVELS[: LEVELS.index(query.level) + 1] if query.level else ())
        self._context = query.context
        self._before: list[LogEntry] = []
        self._after = 0
        self._left_out = False

    def next(self, entry: LogEntry) -> Iterator[SelectedLine]:
        if self._wants(entry):
            for neighbour in self._before:
                yield self._picked(neighbour, found=False)
            self._before.clear()
            self._after = self._context
            yield self._picked(entry, found=True)
        elif self._after:
            self._after -= 1
            yield self._picked(entry, found=False)
        else:
            self._left_out = self._left_out or len(self._before) == self._context
            self._before.append(entry)
            if len(self._before) > self._context:
                del self._before[0]

    def _picked(self, entry: LogEntry, *, found: bool) -> SelectedLine:
        gap, self._left_out = self._left_out, False
        return SelectedLine(entry, found, gap)

    def _wants(self, entry: LogEntry) -> bool:
        if self._levels and entry.level not in self._levels:
            return False
        return self._matches is None or self._matches(strip_escapes(entry.line.text))


def _matching(search: str) -> Callable[[str], bool] | None:
    """Return a case-insensitive predicate for `search`, or None if it is empty. `name=value` also
    matches fields of JSON lines.
    """
    if not search:
        return None
    wanted, field = search.casefold(), _FIELD.fullmatch(search)

    def matches(text: str) -> bool:
        if wanted in text.casefold():
            return True
        found = json_of(text) if field else None
        value = field_of(found, field[1]) if field and found is not None else None
        return value is not None and field is not None and value.casefold() == field[2].casefold()

    return matches
