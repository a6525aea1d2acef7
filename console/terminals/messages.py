"""Messages on the websocket of a terminal.

Binary messages carry terminal input and output as two byte streams. Both sides count bytes. The
browser starts with `{"begin": LANG, "size": [COLUMNS, ROWS], "page": …}`, where `page` is the CSRF
token of the page. To resume a terminal, it adds
`id` and `at`, the offset of the next byte it needs. It then sends `{"ack": N}` (all bytes before
N are rendered), `{"size": …}`, and `{"end": true}` to close the terminal.
"""

import msgspec

from console.live.frames import json_text
from console.streams.socket import BadMessage, read_message
from console.terminals.command import CommandResult
from console.terminals.terminal import Terminal

#: Maximum columns and rows.
_WIDEST, _HIGHEST = 1000, 500

Size = tuple[int, int]


class StartMessage(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    begin: str
    size: Size
    page: str = ""
    id: str = ""
    at: int = 0


class ClientMessage(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A later message of the browser. Exactly one field is set."""

    ack: int | None = None
    size: Size | None = None
    end: bool = False


_first, _said = msgspec.json.Decoder(StartMessage), msgspec.json.Decoder(ClientMessage)


def read_first(text: str) -> StartMessage:
    """Decode the first message. Raise `BadMessage` for invalid input."""
    found = read_message(_first, text)
    _check_size(found.size)
    return found


def read_client_message(text: str) -> ClientMessage:
    """Decode a later message. Raise `BadMessage` for invalid input."""
    found = read_message(_said, text)
    if found.size is not None:
        _check_size(found.size)
    return found


def _check_size(size: Size) -> None:
    columns, rows = size
    if not (0 < columns <= _WIDEST and 0 < rows <= _HIGHEST):
        raise BadMessage


def opened_text(terminal: Terminal, at: int, *, new: bool) -> str:
    """Encode the message that a terminal is open.

    `new`: the browser didn't resume this terminal. `at`: offset of the next output byte. `typed`
    in the message: offset of the next input byte.
    """
    about = {
        "id": terminal.id,
        "new": new,
        "at": at,
        "typed": terminal.typed.end,
        "container": terminal.target.container,
        "tty": terminal.target.tty,
        "reads": terminal.target.reads,
    }
    return json_text({"terminal": about})


def taken_text(number: int) -> str:
    """Encode the message that the program received all input before byte `number`."""
    return json_text({"taken": number})


def ended_text(ending: CommandResult | None, message: str) -> str:
    """Encode the message that the terminal ended. `ending` is None if the connection to the
    container was lost.
    """
    code, missing = (ending.code, ending.missing) if ending is not None else (None, False)
    return json_text({"ended": {"code": code, "missing": missing, "message": message}})
