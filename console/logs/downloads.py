"""Downloads of logs: the bytes that kubectl prints, selected lines, or a single line."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from django.utils.translation import gettext as _

from console.logs.access import UnreadableLog
from console.logs.filtering import SelectedLine
from console.logs.query import LogQuery
from console.logs.sources import LogSource, selected_lines
from console.streams.stream import ResponseStream
from console.ui.core.text import escape_invisible

_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")


def errors_as_lines(refused: Sequence[UnreadableLog]) -> bytes:
    """Return a comment line for each log that can't be read."""
    lines = (f"# {one.wanted.mark}: {' '.join(str(one).split())}" for one in refused)
    return "".join(f"{escape_invisible(line)}\n" for line in lines).encode()


async def verbatim_bytes(sources: Sequence[LogSource]) -> AsyncGenerator[bytes, None]:
    """Yield the logs one after another, like `kubectl logs`. Lines of several logs have the prefix
    of `kubectl logs --prefix`.
    """
    for source in sources:
        prefix = f"[{source.kubectl_name}] ".encode() if len(sources) > 1 else b""
        begins = True
        while piece := await source.stream.read():
            complete = piece.endswith(b"\n")
            body = piece[:-1] if complete else piece
            text = body.replace(b"\n", b"\n" + prefix) + (b"\n" if complete else b"")
            yield prefix + text if begins else text
            begins = complete


async def selected_bytes(
    sources: Sequence[LogSource], query: LogQuery
) -> AsyncGenerator[bytes, None]:
    """Yield the lines that the page shows, merged by time. Lines of several logs have a prefix."""
    names = [f"[{escape_invisible(one.name)}] ".encode() for one in sources]

    def line(picked: SelectedLine) -> bytes:
        entry = picked.entry
        prefix = names[entry.source] if len(sources) > 1 else b""
        if query.timestamps and entry.line.stamp:
            prefix += f"{entry.line.stamp} ".encode()
        rest = _("… %(n)s more bytes") % {"n": entry.line.cut} if entry.line.cut else ""
        return prefix + entry.line.raw + rest.encode() + b"\n"

    async with aclosing(selected_lines(sources, query)) as batches:
        async for _looked_at, found in batches:
            yield b"".join(map(line, found))


async def bytes_of_line(sources: Sequence[LogSource], stamp: str) -> AsyncGenerator[bytes, None]:
    """Yield the text of the lines with this timestamp. The lines can be of any length."""
    for source in sources:
        async for piece in _bytes_of_line(source.stream, f"{stamp} ".encode()):
            yield piece


async def _bytes_of_line(stream: ResponseStream, wanted: bytes) -> AsyncGenerator[bytes, None]:
    head, found = bytearray(), None
    while piece := await stream.read():
        *whole, rest = piece.split(b"\n")
        for part in (*(one + b"\n" for one in whole), *([rest] if rest else [])):
            ends = part.endswith(b"\n")
            if found is None:
                head += part
                if len(head) < len(wanted) and not ends:
                    continue
                if _STAMP.match(head) and head[: len(wanted)] > wanted:
                    return
                found, part = head.startswith(wanted), bytes(head[len(wanted) :])
                head.clear()
            if found:
                yield part
            if ends:
                found = None
