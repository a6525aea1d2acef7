"""Filter log lines by search text and level, and add context lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

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
#: Maximum number of highlighted matches in a line.
MAX_HITS = 100


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
        self._search = LogSearch(query.search)
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
        return not self._search or self._search.matches(strip_escapes(entry.line.text))


class LogSearch:
    """A case-insensitive search text. `name=value` also matches fields of JSON lines. It is false if
    the text is empty.
    """

    def __init__(self, search: str) -> None:
        self._wanted, self._field = search.casefold(), _FIELD.fullmatch(search)
        self._in_json: re.Pattern[str] | None = None
        if self._field is not None:
            name, value = map(re.escape, (self._field[1].rpartition(".")[2], self._field[2]))
            text = rf'"(?:{re.escape(self._field[1])}|{name})"\s*:\s*(?:"{value}"|{value}(?![\w.]))'
            self._in_json = re.compile(text, re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def matches(self, text: str) -> bool:
        """Return True if the displayed text of a line matches."""
        return self._wanted in text.casefold() or self._matches_field(text)

    def _matches_field(self, text: str) -> bool:
        found = json_of(text) if self._field is not None else None
        if self._field is None or found is None:
            return False
        value = field_of(found, self._field[1])
        return value is not None and value.casefold() == self._field[2].casefold()

    def hits(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end of the matches in the displayed text of a line, at most
        `MAX_HITS`. A JSON field is located by its last name and its value.
        """
        if not self:
            return ()
        folded, size = text.casefold(), len(self._wanted)
        # Position of each folded character in the text. Most texts keep their length.
        at: Sequence[int] = range(len(text) + 1)
        if len(folded) != len(text):
            at = [n for n, char in enumerate(text) for _ in char.casefold()] + [len(text)]
        found, place = list[tuple[int, int]](), folded.find(self._wanted)
        while place >= 0 and len(found) < MAX_HITS:
            found.append((at[place], at[place + size - 1] + 1))
            place = folded.find(self._wanted, place + size)
        if not found and self._in_json is not None and self._matches_field(text):
            found = [match.span() for match in islice(self._in_json.finditer(text), MAX_HITS)]
        return found
