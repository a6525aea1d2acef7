"""Bytes of a log as lines.

kube-apiserver sends what a container wrote, with the moment before each line: 30 characters with
nanoseconds, always in UTC, in order. The text is of anybody: not UTF-8 perhaps, and of any length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Bytes of a line that are kept; the rest of a longer one is left out, and it says so.
LONGEST = 16 * 1024
#: Lines that are worked on before others have their turn on the event loop.
TURN = 200
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
_STAMP_SIZE = 31


@dataclass(frozen=True, slots=True)
class Line:
    """`stamp`: its moment, "" where it came without. `raw`: what was written. `cut`: bytes left out."""

    stamp: str
    raw: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        return self.raw.decode(errors="replace")


class Splitter:
    """Takes bytes as they come and gives the lines that are whole. Keeps one line, of `longest` bytes at
    most."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest + _STAMP_SIZE
        self._rest = bytearray()
        self._cut = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._add(part)
            yield self._take()
        self._add(rest)

    def end(self) -> Iterator[Line]:
        """The last line, if it has no end."""
        if self._rest:
            yield self._take()

    def _add(self, part: bytes) -> None:
        room = self._longest - len(self._rest)
        self._rest += part[:room]
        self._cut += max(0, len(part) - room)

    def _take(self) -> Line:
        raw, cut = bytes(self._rest), self._cut
        self._rest.clear()
        self._cut = 0
        if _STAMP.match(raw):
            return Line(raw[: _STAMP_SIZE - 1].decode(), raw[_STAMP_SIZE:], cut)
        return Line("", raw, cut)
