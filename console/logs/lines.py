"""Split a log stream into lines.

kube-apiserver prefixes each line with a timestamp: 30 characters, UTC, with nanoseconds, in
ascending order. The text comes from the container: it can be of any length, and it can be
invalid UTF-8.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Maximum bytes of a line. Longer lines are cut, and `LogLine.cut` counts the missing bytes.
MAX_LINE_BYTES = 16 * 1024
#: Number of lines to process before yielding to the event loop.
YIELD_AFTER_LINES = 200
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
_STAMP_SIZE = 31


@dataclass(frozen=True, slots=True)
class LogLine:
    """A log line. `stamp`: timestamp, "" if missing. `raw`: text. `cut`: number of bytes that were
    cut off.
    """

    stamp: str
    raw: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        return self.raw.decode(errors="replace")


class Splitter:
    """Splits a byte stream into lines. It buffers at most one line of `longest` bytes."""

    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        self._longest = longest + _STAMP_SIZE
        self._rest = bytearray()
        self._cut = 0

    def feed(self, piece: bytes) -> Iterator[LogLine]:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._add(part)
            yield self._take()
        self._add(rest)

    def end(self) -> Iterator[LogLine]:
        """Yield the last line if it has no newline."""
        if self._rest:
            yield self._take()

    def _add(self, part: bytes) -> None:
        room = self._longest - len(self._rest)
        self._rest += part[:room]
        self._cut += max(0, len(part) - room)

    def _take(self) -> LogLine:
        raw, cut = bytes(self._rest), self._cut
        self._rest.clear()
        self._cut = 0
        if _STAMP.match(raw):
            return LogLine(raw[: _STAMP_SIZE - 1].decode(), raw[_STAMP_SIZE:], cut)
        return LogLine("", raw, cut)
