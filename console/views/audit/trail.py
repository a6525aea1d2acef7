"""Page and tab of the audit trail: search with chart, records by day, and exports."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponseBase, HttpResponseNotModified
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from console.audit.search import (
    FIELDS,
    AuditQuery,
    Counted,
    Cursor,
    Found,
    Search,
    SearchField,
    Term,
    TimeRange,
)
from console.ui.core.access import Access
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.navigation.page_routes import DetailRoute
from console.ui.navigation.projects import host_access
from console.views.audit.export import FORMATS, export
from console.views.audit.histogram import make_histogram
from console.views.audit.record import RecordRow, record_row
from console.views.audit.request import RANGES, AuditRequest, span_values
from console.views.audit.scope import AuditScope, object_scope
from console.views.back_link import Crumb

#: Title of the pages, and label and icon of their menu entries.
TITLE, LABEL, ICON = gettext_lazy("Audit trail"), gettext_lazy("Audit"), "history"
#: Seconds between two refreshes of a page.
POLL = 5


@dataclass(frozen=True, slots=True)
class Day:
    """The records of a day. `total` also counts those on other pages."""

    date: datetime
    name: str
    total: int
    rows: Sequence[RecordRow]


async def trail_page(
    request: ConsoleRequest,
    scope: AuditScope,
    *,
    title: str | Promise,
    crumbs: Sequence[Crumb] = (),
    frame: Mapping[str, Any] | None = None,
) -> HttpResponseBase:
    """Return the page, or an export with `?format=`. `frame` is additional context."""
    asked = AuditRequest.parse(scope, request.GET)
    fmt = request.GET.get("format", "html")
    if fmt in FORMATS:
        return export(asked, fmt)
    access = host_access(request.access) if request.access is not None else None
    context = await trail_context(asked, access)
    etag = context["etag"]
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    context |= {"title": title, "crumbs": crumbs, **(frame or {})}
    status = 400 if asked.errors else 200
    response = render(request, "console/audit.html", context, status=status)
    response["ETag"] = etag
    return response


async def trail_html(request: ConsoleRequest, place: DetailRoute, access: Access) -> str:
    """Render the Audit tab of an object. Raise `Denied`."""
    scope = object_scope(access, place.kind, place.key, place.url)
    asked = AuditRequest.parse(scope, request.GET)
    return render_to_string("ui/audit/_tab.html", await trail_context(asked, access))


async def trail_context(asked: AuditRequest, access: Access | None) -> dict[str, Any]:
    """Search, and return the context of `ui/audit/_trail.html`."""
    query = asked.query
    found, counted = await sync_to_async(_search)(query, asked.after)
    rows = [await record_row(one, access, asked) for one in found.rows]
    histogram = make_histogram(asked, counted.bars)
    live = not asked.fixed and asked.after is None and not asked.errors
    state = (
        [(one.pk, one.code) for one in found.rows],
        *(histogram.bars, sorted(counted.days.items()), asked.text, get_language()),
    )
    return {
        "asked": asked,
        "found": found,
        "histogram": histogram,
        "counted_to": counted.counted_to,
        "days": list(_by_day(rows, counted.days)),
        "chips": [
            (term, _chip(term), asked.url(asked.search.without(term)))
            for term in asked.search.terms
            if term.field is not None
        ],
        "words": " ".join(term.text for term in asked.search.terms if term.field is None),
        "ranges": [
            (label, asked.url(span={"range": name}), name == asked.range_name)
            for name, (_length, label) in RANGES.items()
        ],
        "range_values": asked.range_values,
        "earlier_url": asked.moved(-1),
        "later_url": asked.moved(1) if asked.fixed else "",
        "clear_url": asked.url(Search()),
        "newest_url": asked.url() if asked.after is not None else "",
        "more_url": asked.url(before=str(found.more)) if found.more else "",
        "continue_url": _continued(asked, found),
        "exports": [(label, asked.url(format=fmt)) for fmt, label in FORMATS.items()],
        "offers": _offers(asked),
        "example": "user:alice kind:deployment -result:ok",
        "poll": POLL if live else "",
        "retention": settings.AUDIT_RETENTION_DAYS,
        "etag": f'"{hashlib.sha256(repr(state).encode()).hexdigest()[:32]}"',
    }


def _continued(asked: AuditRequest, found: Found) -> str:
    """Return the URL that searches the records before those that were searched, or ""."""
    if found.searched_to is None:
        return ""
    left = TimeRange(asked.range.since, found.searched_to + timedelta(seconds=1))
    return asked.url(span=span_values(left))


def _search(query: AuditQuery, after: Cursor | None) -> tuple[Found, Counted]:
    return query.page(after), query.counted()


def _midnight(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _by_day(rows: Sequence[RecordRow], totals: Mapping[datetime, int]) -> Sequence[Day]:
    today = _midnight(datetime.now(UTC))
    names = {today: _("Today"), today - timedelta(days=1): _("Yesterday")}
    return [
        Day(day, names.get(day, ""), totals.get(day, 0), list(of_day))
        for day, of_day in groupby(rows, lambda row: _midnight(row.record.time))
    ]


def _chip(term: Term) -> str:
    label = term.field.label if term.field is not None else ""
    return escape_invisible(f"{label} {'≠ ' if term.negated else ''}{term.value}")


def _offers(asked: AuditRequest) -> Sequence[tuple[SearchField, Sequence[tuple[str, str]]]]:
    """Return the fields that the filter menu offers, with links for their examples."""
    return [
        (
            one,
            [
                (value, asked.url(asked.search.plus(f"{one.name}:{value}")))
                for value in one.examples
            ],
        )
        for one in FIELDS.values()
        if one.name not in asked.scope.hidden
    ]
