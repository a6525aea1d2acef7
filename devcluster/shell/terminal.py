"""Terminal emulation: processes keystrokes into lines and output for the screen.

It echoes and edits input like the line discipline of Linux. While a shell reads a command, it
also acts as a line editor with cursor movement and history.
"""

import asyncio
import codecs
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from unicodedata import combining, east_asian_width

#: Maximum length of a line, and maximum number of buffered bytes.
_LONGEST, _WAITING = 4096, 64 * 1024
_ESCAPES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    "[H": "home",
    "[F": "end",
    "OA": "up",
    "OB": "down",
    "OC": "right",
    "OD": "left",
    "[3~": "delete",
}
_CONTROLS = {"\x10": "up", "\x0e": "down", "\x06": "right", "\x02": "left"}
_CONTROLS |= {"\x01": "home", "\x05": "end", "\x0b": "cut", "\x0c": "clear"}


class LineInterrupted(Exception):
    """Ctrl+C was pressed while reading a line."""


def _width(text: str) -> int:
    """Return the number of columns of the text."""
    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )


class Terminal:
    """A terminal. `send` sends bytes to the screen; `on_signal` is called for Ctrl+C and Ctrl+\\."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send
        self.rows = self.columns = 0
        self.on_signal: Callable[[int], None] = lambda number: None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._cursor = 0
        self._escape: str | None = None
        self._waiting: deque[bytes] = deque()
        self._more = asyncio.Event()
        # State of the line editor while a shell reads a command.
        self._prompt = ""
        self._history: list[str] | None = None
        self._place = 0
        self._interrupted = False

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows

    # Program side ---------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        await self._send(data.replace(b"\n", b"\r\n"))
        await asyncio.sleep(0)

    async def read(self, most: int) -> bytes:
        """Return a line or the start of a line, or empty bytes for Ctrl+D."""
        while not self._waiting:
            await self._arrival()
        found = self._waiting.popleft()
        if len(found) > most:
            self._waiting.appendleft(found[most:])
        return found[:most]

    async def read_line(self, prompt: str, history: Sequence[str]) -> str | None:
        """Read a command line without its newline. Return None for Ctrl+D; raise `LineInterrupted` for
        Ctrl+C.
        """
        self._prompt, self._history = prompt, [*history]
        self._place, self._interrupted = len(history), False
        await self._echo(prompt + "".join(self._line))
        try:
            while not self._waiting:
                await self._arrival()
                if self._interrupted:
                    raise LineInterrupted
            found = self._waiting.popleft()
            return found.decode(errors="replace").rstrip("\n") if found else None
        finally:
            self._history = None

    def interrupt(self) -> None:
        """Raise `LineInterrupted` in the waiting `read_line` call."""
        self._interrupted = True
        self._more.set()

    async def _arrival(self) -> None:
        self._more.clear()
        await self._more.wait()

    # User side ------------------------------------------------------------------------------------

    async def process_input(self, data: bytes) -> None:
        for letter in self._decoder.decode(data):
            if await self._key(letter):
                # As in Linux, a signal discards the rest of the input that arrived with it.
                break

    async def _key(self, letter: str) -> bool:
        """Process one key. Return True if it sent a signal."""
        if self._escape is not None:
            await self._escaped(letter)
        elif letter == "\x1b":
            self._escape = ""
        elif letter in "\x03\x1c":
            self._line.clear()
            self._cursor = 0
            self._waiting.clear()
            await self._echo("^C" if letter == "\x03" else "^\\")
            self.on_signal(signal.SIGINT if letter == "\x03" else signal.SIGQUIT)
            return True
        elif letter in "\r\n":
            await self._echo("\r\n")
            self._finish("\n")
        elif letter == "\x04":
            if not self._line or self._history is None:
                self._finish("")
        elif letter in "\x7f\x08":
            if self._cursor:
                await self._replace(self._cursor - 1, self._cursor, "")
        elif letter == "\x15":
            await self._replace(0, self._cursor, "")
        elif letter == "\x17":
            before = "".join(self._line[: self._cursor]).rstrip()
            await self._replace(before.rfind(" ") + 1, self._cursor, "")
        elif letter in _CONTROLS and self._history is not None:
            await self._edit(_CONTROLS[letter])
        elif self._is_text(letter) and len(self._line) < _LONGEST:
            await self._replace(self._cursor, self._cursor, letter)
        return False

    def _is_text(self, letter: str) -> bool:
        return letter >= " " or (letter == "\t" and self._history is None)

    async def _escaped(self, letter: str) -> None:
        """Process the next character of an escape sequence."""
        self._escape = f"{self._escape}{letter}"
        if len(self._escape) == 1 and letter in "[O":
            return
        if len(self._escape) < 8 and (letter.isdecimal() or letter == ";"):
            return
        name, self._escape = _ESCAPES.get(self._escape), None
        if name and self._history is not None:
            await self._edit(name)

    async def _edit(self, name: str) -> None:
        at, end = self._cursor, len(self._line)
        match name:
            case "up" | "down" if self._history is not None:
                place = self._place + (1 if name == "down" else -1)
                if 0 <= place <= len(self._history):
                    self._place = place
                    await self._move(end)
                    await self._replace(0, end, [*self._history, ""][place])
            case "left":
                await self._move(max(0, at - 1))
            case "right":
                await self._move(min(end, at + 1))
            case "home":
                await self._move(0)
            case "end":
                await self._move(end)
            case "delete" if at < end:
                await self._replace(at, at + 1, "")
            case "cut":
                await self._replace(at, end, "")
            case "clear":
                tail = _width("".join(self._line[at:]))
                await self._echo(f"\x1b[H\x1b[2J{self._prompt}{''.join(self._line)}" + "\b" * tail)

    async def _move(self, place: int) -> None:
        line = self._line
        if place < self._cursor:
            await self._echo("\b" * _width("".join(line[place : self._cursor])))
        else:
            await self._echo("".join(line[self._cursor : place]))
        self._cursor = place

    async def _replace(self, start: int, end: int, text: str) -> None:
        """Replace a part of the line. The cursor must be in that part or at one of its ends."""
        line = self._line
        back = _width("".join(line[start : self._cursor]))
        old = _width("".join(line[start:]))
        tail = "".join(line[end:])
        line[start:end] = text
        self._cursor = start + len(text)
        left = max(0, old - _width(text + tail))
        shown = "\b" * back + text + tail + " " * left + "\b" * (left + _width(tail))
        await self._echo(shown)

    def _finish(self, end: str) -> None:
        """Pass the line to the reading program."""
        data = ("".join(self._line) + end).encode()
        self._line.clear()
        # Further input belongs to the program that the line may start.
        self._cursor, self._history = 0, None
        if sum(map(len, self._waiting)) + len(data) <= _WAITING:
            self._waiting.append(data)
            self._more.set()

    async def _echo(self, text: str) -> None:
        if text:
            await self._send(text.encode())
