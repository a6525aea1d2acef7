"""Lists as JSON, CSV and TSV.

An export has the same permissions, filters, columns and order as the page. It contains the
page's own rows if the URL has a page or a limit, and all rows otherwise. Values are never
translated. Texts that a spreadsheet would evaluate as formulas are quoted (ASVS 5 1.2.10).
"""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.lists.columns import Column, Plain, with_usage
from console.ui.lists.ordered_view import ALL, ListSlice
from console.ui.lists.viewspec import ViewSpec
from console.ui.usage.reading import UsageReading

#: Number of rows to write before other tasks may run.
CHUNK = 500
FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
}
_DELIMITERS = {"csv": ",", "tsv": "\t"}
#: The full-width signs also count as formula starts with some input methods.
#: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def exported_slice(spec: ViewSpec) -> slice:
    """Return the slice of the list to export."""
    return spec.page_slice if spec.paged else ALL


async def stream(
    spec: ViewSpec,
    selection: ListSlice,
    fmt: str,
    *,
    meter: UsageReading | None = None,
    cut: bool = False,
) -> AsyncIterator[bytes]:
    """Yield the export in chunks. `fmt` is a key of `FORMATS`. `cut` is True if not all objects
    were read.
    """
    entries = selection.entries
    columns = exported_columns(spec, meter)
    json = fmt == "json"
    yield b'{"items":[' if json else _lines([[c.id for c in columns]], fmt)
    for start in range(0, len(entries), CHUNK):
        chunk = entries[start : start + CHUNK]
        if json:
            yield _items(spec.kind, columns, chunk, first=start == 0)
        else:
            yield _lines(
                [[escape_formula(c.plain(entry)) for c in columns] for entry in chunk], fmt
            )
        await asyncio.sleep(0)
    if json:
        yield b"]," + _tail(selection, cut=cut)


def exported_columns(spec: ViewSpec, meter: UsageReading | None) -> tuple[Column, ...]:
    """Return the columns of the page, with usage values."""
    metered = meter is not None and meter.available
    columns = spec.shown(metered=metered)
    return with_usage(columns, meter.used) if meter is not None else columns


def export_item(kind: ResourceKind, columns: Sequence[Column], entry: Entry[Any]) -> dict[str, Any]:
    """Return one object: its columns by ID, namespace, name, status and labels."""
    status = kind.status(entry)
    found: dict[str, Any] = {"namespace": entry.key.namespace, "name": entry.key.name}
    found |= {column.id: column.plain(entry) for column in columns}
    if status is not None:
        word, reason = status.word, str(status.reason)
        found["status"] = {"severity": status.severity.value, "word": word, "reason": reason}
    found["labels"] = entry.projection.labels
    return found


def escape_formula(value: Plain) -> str | int:
    """Return a cell that no spreadsheet evaluates. Texts that start like a formula get a leading
    quote.
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _items(
    kind: ResourceKind, columns: Sequence[Column], entries: Sequence[Entry[Any]], *, first: bool
) -> bytes:
    encoded = msgspec.json.encode([export_item(kind, columns, entry) for entry in entries])
    return encoded[1:-1] if first else b"," + encoded[1:-1]


def _tail(selection: ListSlice, *, cut: bool) -> bytes:
    rest: dict[str, Any] = {
        "total": selection.total,
        "resourceVersion": selection.resource_version,
    }
    rest |= {"truncated": True} if cut else {}
    return msgspec.json.encode(rest)[1:]


def _lines(table: Sequence[Sequence[str | int]], fmt: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=_DELIMITERS[fmt]).writerows(table)
    return text.getvalue().encode()
