"""Messages on the websocket of a followed log.

The browser starts with `{"follow": LANG, "at": {SOURCE: [TIMESTAMP, COUNT, RUN]}}`. After a
reconnect, `at` holds the last position that the server sent for each source. The browser then
acknowledges each message number with `{"ack": N}`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from console.live.frames import json_text
from console.logs.ansi import strip_escapes
from console.logs.filtering import LogSearch
from console.logs.following import LogPosition
from console.logs.merged_feed import FeedBatch
from console.streams.socket import BadMessage, read_message
from console.ui.core.text import escape_invisible

#: Maximum characters of a source name, a timestamp or a run ID.
_LONGEST = 400


class _StartMessage(msgspec.Struct, forbid_unknown_fields=True):
    follow: str
    at: dict[str, tuple[str, int, str]] = {}


class _AckMessage(msgspec.Struct, forbid_unknown_fields=True):
    ack: int


_first, _ack = msgspec.json.Decoder(_StartMessage), msgspec.json.Decoder(_AckMessage)


def read_first(text: str) -> tuple[str, Mapping[str, LogPosition]]:
    """Return the language and the resume position of each source. Raise `BadMessage` for invalid
    input.
    """
    found = read_message(_first, text)
    texts = (one for name, (stamp, _, run) in found.at.items() for one in (name, stamp, run))
    if any(len(one) > _LONGEST or not one.isprintable() for one in texts):
        raise BadMessage
    return found.follow, {name: LogPosition(*where) for name, where in found.at.items()}


def read_ack(text: str) -> int:
    """Return the acknowledged message number. Raise `BadMessage` for invalid input."""
    return read_message(_ack, text).ack


def batch_text(number: int, sent: FeedBatch, names: Sequence[str], search: LogSearch) -> str:
    """Encode a batch of lines, notes and positions as JSON.

    Each line is: source, timestamp, level, text, whether it matches the filter (False for a
    context line), whether lines are omitted before it, the number of bytes that were cut off,
    and start and end of the matches of `search`. These count UTF-16 code units of the displayed
    text. Each note is: source, text, and whether the source has ended.
    """
    lines = [
        (
            one.entry.source,
            one.entry.line.stamp,
            one.entry.level,
            one.entry.line.text,
            one.found,
            one.gap,
            one.entry.line.cut,
            _hits(one.entry.line.text, search),
        )
        for one in sent.picked
    ]
    message: dict[str, Any] = {"n": number, "lines": lines}
    if sent.notes:
        message["notes"] = [(source, note.text, note.ended) for source, note in sent.notes]
    if sent.positions:
        message["at"] = {
            names[source]: (at.stamp, at.count, at.run) for source, at in sent.positions.items()
        }
    return json_text(message)


def _hits(text: str, search: LogSearch) -> Sequence[tuple[int, int]]:
    if not search:
        return ()
    shown = strip_escapes(text)
    return [
        (len(shown[:first].encode("utf-16-le")) // 2, len(shown[:last].encode("utf-16-le")) // 2)
        for first, last in search.hits(shown)
    ]


def sources_text(names: Sequence[str]) -> str:
    return json_text({"sources": [escape_invisible(name) for name in names]})
