"""What a terminal's socket says, and what the browser may answer.

Binary messages are bytes of the terminal, both ways, one after another; each side counts them. The
browser begins with `{"begin": LANG, "size": [COLUMNS, ROWS]}`; `id` and `at` are the terminal that it
had, and the number of the byte that it wants next. Then it may send `{"ack": N}` (it has drawn what comes
before byte N), `{"size": …}`, and `{"end": true}` for a terminal that nobody comes back to.
"""

from typing import Any

import msgspec

from console.streams.socket import BadMessage, read_message
from console.terminals.command import Ending
from console.terminals.terminal import Terminal

#: Columns and rows, at most.
_WIDEST, _HIGHEST = 1000, 500

Size = tuple[int, int]


class First(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    begin: str
    size: Size
    id: str = ""
    at: int = 0


class Said(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of these."""

    ack: int | None = None
    size: Size | None = None
    end: bool = False


_first, _said = msgspec.json.Decoder(First), msgspec.json.Decoder(Said)


def read_first(text: str) -> First:
    """Raises `BadMessage`."""
    found = read_message(_first, text)
    _check_size(found.size)
    return found


def read_said(text: str) -> Said:
    """Raises `BadMessage`."""
    found = read_message(_said, text)
    if found.size is not None:
        _check_size(found.size)
    return found


def _check_size(size: Size) -> None:
    columns, rows = size
    if not (0 < columns <= _WIDEST and 0 < rows <= _HIGHEST):
        raise BadMessage


def begun_text(terminal: Terminal, at: int, *, new: bool) -> str:
    """`new`: it is another one than the browser had, if it had one. `at`: the number of the byte that
    comes next; `typed`: of the one that the terminal waits for."""
    about = {
        "id": terminal.id,
        "new": new,
        "at": at,
        "typed": terminal.typed.end,
        "container": terminal.target.container,
        "tty": terminal.target.tty,
        "reads": terminal.target.reads,
    }
    return _text({"terminal": about})


def taken_text(number: int) -> str:
    """The program has what was typed before this byte."""
    return _text({"taken": number})


def ended_text(ending: Ending | None, message: str) -> str:
    """None: the connection to the container was lost."""
    code, missing = (ending.code, ending.missing) if ending is not None else (None, False)
    return _text({"ended": {"code": code, "missing": missing, "message": message}})


def _text(message: dict[str, Any]) -> str:
    return msgspec.json.encode(message).decode()
