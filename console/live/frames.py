"""What a socket sends: parts of the page, drawn by the page's own templates, and control messages.

A part is sent bare: htmx finds its place by the id of its root element. Parts of different kinds go in
frames of their own, since a parser drops a table row that follows anything else.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from django.template.loader import render_to_string
from django.utils import translation

from console.ui.detail import Part
from console.ui.drawing import row_html
from console.ui.freshness import LiveState
from console.ui.rows import Row
from console.ui.table import Table


def rows_frame(rows: Iterable[Row], lang: str) -> str:
    return "".join(row_html(row, lang) for row in rows)


def parts_frame(parts: Iterable[Part], lang: str) -> str:
    """Parts of a detail. They were drawn in this language."""
    with translation.override(lang):
        return "".join(part.html for part in parts)


def summary_frame(table: Table, lang: str) -> str:
    return _part("ui/_summary.html", {"table": table}, lang)


def pager_frame(table: Table, lang: str) -> str:
    return _part("ui/_pager.html", {"table": table}, lang)


def freshness_frame(live: LiveState, lang: str) -> str:
    return _part("ui/_freshness.html", {"live": live}, lang)


def order_frame(table: Table, lang: str) -> str:
    """Which rows the page has now, in their order; the new ones came in a frame of rows. The same in
    every language."""
    return _json({"order": [row.key for row in table.rows], **_list(table)})


def total_frame(table: Table, lang: str) -> str:
    """How many rows the list has, of which the page has the same. The same in every language."""
    return _json(_list(table))


def _list(table: Table) -> dict[str, Any]:
    return {"total": table.total, "url": table.url, "etag": table.etag}


def refresh_frame() -> str:
    """The browser shall fetch the list again: nobody knows what it has."""
    return _json({"refresh": True})


def gone_frame(keys: Iterable[str]) -> str:
    return _json({"gone": list(keys)})


def error_frame(code: int, message: str) -> str:
    return _json({"error": {"code": code, "message": message}})


def _part(template: str, context: dict[str, object], lang: str) -> str:
    with translation.override(lang):
        return render_to_string(template, context)


def _json(message: dict[str, object]) -> str:
    return msgspec.json.encode(message).decode()
