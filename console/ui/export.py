"""A list as data: JSON, CSV and TSV.

Exports hold what the page holds: the same permissions, filters, columns and order. They are the page's
own rows when a page or a limit is asked for, else all of them. Values are never translated.

A spreadsheet takes some texts for formulas, whoever wrote them, so those are quoted (ASVS 5 1.2.10).
"""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from console.kube.store import Entry
from console.ui.chosen import shown_columns
from console.ui.columns import Plain
from console.ui.kind import ResourceKind
from console.ui.ordered import ALL, Selection
from console.ui.viewspec import ViewSpec

#: Rows written between two chances for other requests to be served.
CHUNK = 500
FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
}
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


def exported(spec: ViewSpec) -> slice:
    """The part of the list that an export holds."""
    start = (spec.page - 1) * spec.limit
    return slice(start, start + spec.limit) if spec.paged else ALL


async def stream(spec: ViewSpec, selection: Selection, fmt: str) -> AsyncIterator[bytes]:
    """The export of the part `exported`, in pieces. `fmt` is a key of `FORMATS`."""
    entries = selection.entries
    json = fmt == "json"
    yield b'{"items":[' if json else _lines([[c.id for c in spec.shown]], fmt)
    for start in range(0, len(entries), CHUNK):
        chunk = entries[start : start + CHUNK]
        yield _items(spec, chunk, first=start == 0) if json else _table(spec, chunk, fmt)
        await asyncio.sleep(0)
    if json:
        yield b"]," + _tail(selection)


def item(kind: ResourceKind, entry: Entry[Any], chosen: tuple[str, ...] = ()) -> dict[str, Any]:
    """One object: its columns by id, and what identifies and describes any object."""
    status = kind.status(entry)
    found: dict[str, Any] = {"namespace": entry.key.namespace, "name": entry.key.name}
    found |= {column.id: column.plain(entry) for column in shown_columns(kind, chosen)}
    if status is not None:
        word, reason = status.word, status.reason
        found["status"] = {"severity": status.severity.value, "word": word, "reason": reason}
    found["labels"] = entry.projection.labels
    return found


def safe(value: Plain) -> str | int:
    """A cell that no spreadsheet calculates: texts that start like a formula get a leading quote."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _items(spec: ViewSpec, entries: Sequence[Entry[Any]], *, first: bool) -> bytes:
    encoded = msgspec.json.encode([item(spec.kind, entry, spec.columns) for entry in entries])
    return encoded[1:-1] if first else b"," + encoded[1:-1]


def _tail(selection: Selection) -> bytes:
    rest = {"total": selection.total, "resourceVersion": selection.resource_version}
    return msgspec.json.encode(rest)[1:]


def _table(spec: ViewSpec, entries: Sequence[Entry[Any]], fmt: str) -> bytes:
    return _lines([[safe(c.plain(entry)) for c in spec.shown] for entry in entries], fmt)


def _lines(table: Sequence[Sequence[str | int]], fmt: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=_DELIMITERS[fmt]).writerows(table)
    return text.getvalue().encode()
