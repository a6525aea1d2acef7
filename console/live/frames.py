"""Websocket frames: parts of a page, rendered by the page's templates, and JSON control messages.

Parts are sent without a wrapper, and htmx finds their target by the id of the root element.
Different kinds of parts use separate frames, because an HTML parser drops a table row that
follows any other element.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from django.template.loader import render_to_string
from django.utils import translation

from console.ui.core.object_source import LiveState
from console.ui.details.detail import DetailPart
from console.ui.fragments.cached_fragments import rows_html
from console.ui.lists.rows import ListRow
from console.ui.lists.table import Table


def rows_frame(rows: Iterable[ListRow], lang: str) -> str:
    return rows_html(rows, lang)


def parts_frame(parts: Iterable[DetailPart], lang: str) -> str:
    """Return the frame with parts of a detail page, which were rendered in `lang`."""
    with translation.override(lang):
        return "".join(part.html for part in parts)


def summary_frame(table: Table, lang: str) -> str:
    return _part("ui/_summary.html", {"table": table}, lang)


def pager_frame(table: Table, lang: str) -> str:
    return _part("ui/_pager.html", {"table": table}, lang)


def freshness_frame(live: LiveState, lang: str) -> str:
    return _part("ui/_freshness.html", {"live": live}, lang)


def order_frame(table: Table, lang: str) -> str:
    """Return a frame with the row keys of the page in order. New rows are sent before it in a rows
    frame.

    `lang` has no effect.
    """
    return json_text({"order": [row.key for row in table.rows], **_list(table)})


def total_frame(table: Table, lang: str) -> str:
    """Return a frame with the number of objects in the list, if the rows of the page are unchanged.

    `lang` has no effect.
    """
    return json_text(_list(table))


def _list(table: Table) -> dict[str, Any]:
    return {"total": table.total, "url": table.url, "etag": table.etag}


def refresh_frame() -> str:
    """Return a frame that asks the browser to fetch the page again."""
    return json_text({"refresh": True})


def gone_frame(keys: Iterable[str]) -> str:
    return json_text({"gone": list(keys)})


def error_frame(code: int, message: str) -> str:
    return json_text({"error": {"code": code, "message": message}})


def _part(template: str, context: dict[str, object], lang: str) -> str:
    with translation.override(lang):
        return render_to_string(template, context)


def json_text(message: dict[str, object]) -> str:
    return msgspec.json.encode(message).decode()
