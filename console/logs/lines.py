"""Split a log stream into lines.

kube-apiserver prefixes each line with a timestamp: 30 characters, UTC, with nanoseconds, in
ascending order. The text comes from the container: it can be of any length, and it can be
invalid UTF-8.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Maximum bytes of a line on a page, and in a download of selected lines. Longer lines are cut, and
#: `LogLine.cut` counts the missing bytes.
MAX_LINE_BYTES, MAX_DOWNLOADED_LINE = 16 * 1024, 512 * 1024
#: Number of lines to process before yielding to the event loop.
YIELD_AFTER_LINES = 200
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
_STAMP_SIZE = 31


@dataclass(frozen=True, slots=True)
class LogLine:
    """A log line. `stamp`: timestamp, "" if missing. `raw`: bytes. `cut`: number of bytes that were
    cut off.
    """

    stamp: str
    raw: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        """The text for pages and filters: at most `MAX_LINE_BYTES` of the line's last state."""
        raw, most = self.raw, MAX_LINE_BYTES + (0 if self.stamp else _STAMP_SIZE)
        if len(raw) > most:
            raw = raw.rstrip(b"\r").rpartition(b"\r")[2][:most]
        return raw.decode(errors="replace")


class Splitter:
    """Splits a byte stream into lines. It buffers at most one line of `longest` bytes.

    Of a longer line, text that a carriage return overwrites is dropped first, and not counted as
    cut. `keeps_overwritten`: cut the line instead.
    """

    def __init__(self, longest: int = MAX_LINE_BYTES, *, keeps_overwritten: bool = False) -> None:
        self._longest = longest + _STAMP_SIZE
        self._keeps_overwritten = keeps_overwritten
        self._rest = bytearray()
        self._cut = 0
        #: The next byte overwrites the line.
        self._anew = False

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
        if self._keeps_overwritten:
            self._fill(part)
            return
        first, *states = part.split(b"\r")
        self._overwrite(first)
        for state in states:
            if len(self._rest) < self._longest:
                self._rest += b"\r"
            else:
                self._anew = True
            self._overwrite(state)

    def _overwrite(self, state: bytes) -> None:
        """Add bytes without a carriage return. Drop overwritten text if the line gets too long."""
        if not state:
            return
        if self._anew or len(self._rest) + len(state) > self._longest:
            begins = _STAMP_SIZE if _STAMP.match(self._rest) else 0
            last = len(self._rest) if self._anew else self._rest.rfind(b"\r") + 1
            if last > begins:
                del self._rest[begins:last]
                self._cut = 0
            self._anew = False
        self._fill(state)

    def _fill(self, part: bytes) -> None:
        room = self._longest - len(self._rest)
        self._rest += part[:room]
        self._cut += max(0, len(part) - room)

    def _take(self) -> LogLine:
        raw, cut = bytes(self._rest), self._cut
        self._rest.clear()
        self._cut, self._anew = 0, False
        if _STAMP.match(raw):
            return LogLine(raw[: _STAMP_SIZE - 1].decode(), raw[_STAMP_SIZE:], cut)
        return LogLine("", raw, cut)
