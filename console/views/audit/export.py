"""Exports of all records of a search, as CSV and JSON lines."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy

from console.audit.search import TimeRange
from console.audit.trail import EXPORTED, exported
from console.ui.lists.export import escape_formula
from console.views.audit.request import AuditRequest

FORMATS = {"csv": "CSV", "jsonl": gettext_lazy("JSON lines")}
#: Records of an export that are read at once.
CHUNK = 1000


def export(asked: AuditRequest, fmt: str) -> HttpResponseBase:
    if asked.errors:
        return HttpResponse("\n".join(asked.errors), status=400, content_type="text/plain")
    types = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
    response = StreamingHttpResponse(_lines(asked, fmt), content_type=types[fmt])
    name = content_disposition_header(True, f"audit.{fmt}")
    response["Content-Disposition"] = name or "attachment"
    return response


async def _lines(asked: AuditRequest, fmt: str) -> AsyncIterator[bytes]:
    """Yield all records of the range, newest first."""
    if fmt == "csv":
        yield _csv([EXPORTED])
    query, after = asked.query, None
    while True:
        found = await sync_to_async(query.page)(after, CHUNK)
        lines = [exported(one) for one in found.rows]
        if fmt == "csv":
            yield _csv([[escape_formula(one[name]) for name in EXPORTED] for one in lines])
        else:
            yield b"".join(msgspec.json.encode(one) + b"\n" for one in lines)
        if found.more is None and found.searched_to is not None:
            # A search without index continues where it stopped.
            query = replace(query, range=TimeRange(query.range.since, found.searched_to))
            after = None
        elif found.more is None:
            return
        else:
            after = found.more
        await asyncio.sleep(0)


def _csv(table: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(table)
    return text.getvalue().encode()
