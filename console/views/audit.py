"""Pages of the audit trail: search with histogram, one record, and exports.

A viewer sees the records of a place in which the viewer may list every type: a project, a cluster,
or the platform. The manifests of a change also require permission to read the object. Workspaces,
which are no Kubernetes objects, have their own permission (`workspaces.pages.audit`).
"""

import asyncio
import csv
import hashlib
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import msgspec
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db.models import Q
from django.http import (
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotModified,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import content_disposition_header
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from console.audit.changes import Manifest, unpack
from console.audit.models import AuditLink, AuditRecord
from console.audit.search import (
    FIELDS,
    AuditQuery,
    Bar,
    Cursor,
    Found,
    Search,
    SearchField,
    Term,
    TimeRange,
)
from console.audit.trail import CONTROLLER, EXPORTED, exported
from console.kube.gvr import GVR, NAMESPACES, USERS, Key
from console.kube.store import Entry
from console.ui.core.access import EVERYTHING, Access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.links import import_url, object_url
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.diff import Difference, manifest_difference
from console.ui.editing.yaml_text import yaml_text
from console.ui.lists.export import escape_formula
from console.ui.navigation.page_routes import DetailRoute
from console.ui.navigation.projects import host_access
from console.views.audit_text import (
    Sentence,
    kind_in,
    kind_of,
    object_text,
    origin_text,
    result_text,
    sentence,
)
from console.views.back_link import Crumb

#: Ranges by the value of `?range=`.
RANGES: Mapping[str, tuple[timedelta, str | Promise]] = {
    "15m": (timedelta(minutes=15), gettext_lazy("15 min")),
    "1h": (timedelta(hours=1), gettext_lazy("1 h")),
    "6h": (timedelta(hours=6), gettext_lazy("6 h")),
    "24h": (timedelta(hours=24), gettext_lazy("24 h")),
    "3d": (timedelta(days=3), gettext_lazy("3 d")),
    "30d": (timedelta(days=30), gettext_lazy("30 d")),
}
#: Title of the pages, and label and icon of their menu entries.
TITLE, LABEL, ICON = gettext_lazy("Audit trail"), gettext_lazy("Audit"), "history"
DEFAULT_RANGE, OBJECT_RANGE = "3d", "30d"
FORMATS = {"csv": "CSV", "jsonl": gettext_lazy("JSON lines")}
#: Records of an export that are read at once.
CHUNK = 1000
#: Seconds between two refreshes of a page.
POLL = 5


@dataclass(frozen=True, slots=True)
class AuditScope:
    """The records that a page shows: those that match `condition`.

    `url` is the URL of the page. `default_range` and `default_text` are used without `?range=` and
    `?q=`. `hidden` are fields that have one value in the scope.
    """

    condition: Q
    url: str
    default_range: str = DEFAULT_RANGE
    default_text: str = f"-via:{CONTROLLER}"
    hidden: frozenset[str] = frozenset()


def may_see_records(access: Access, namespace: str = "") -> bool:
    """Return True if the viewer may see the records of the namespace, or of the whole cluster if it
    is "".
    """
    return access.can("list", EVERYTHING, namespace=namespace)


def check_records(access: Access, namespace: str = "") -> None:
    """Raise `Denied` unless the viewer may see the records."""
    if not may_see_records(access, namespace):
        raise Denied("list", EVERYTHING, namespace)


def since(entry: Entry[Any] | None) -> Q:
    """Return the condition of records since a project or workspace exists: an earlier one of its name
    may have belonged to others. If it is unknown, no record fulfills the condition.
    """
    created = entry.projection.created if entry is not None else None
    return Q(time__gte=created) if created is not None else Q(pk__in=())


def _own_records(access: Access, namespace: str) -> Q:
    """Return the condition of the records that the viewer may see in a namespace, or in the cluster
    if it is "".
    """
    if not namespace or may_see_records(access):
        return Q()
    return since(access.cluster.runtime.informer(NAMESPACES).store.get(Key("", namespace)))


def access_in(access: Access, cluster: Cluster) -> Access:
    """Return the viewer's access in this cluster."""
    return access if access.cluster is cluster else cluster.access_for(access.identity)


def platform_scope(access: Access) -> AuditScope:
    """Return the scope of the platform: all clusters whose records the viewer may see. Raise
    `Denied`.
    """
    check_records(host_access(access))
    hidden = [one.name for one in clusters if not may_see_records(access_in(access, one))]
    # Excluded rather than included, so that the index on the time is used.
    return AuditScope(~Q(cluster__in=hidden) if hidden else Q(), reverse("audit"))


def project_scope(access: Access, namespace: str) -> AuditScope:
    """Return the scope of a project. Raise `Denied`."""
    check_records(access, namespace)
    cluster = access.cluster.name
    url = reverse("project_audit", args=(cluster, namespace))
    condition = Q(cluster=cluster, namespace=namespace) & _own_records(access, namespace)
    return AuditScope(condition, url, hidden=frozenset({"cluster", "project"}))


def object_scope(access: Access, kind: ResourceKind, key: Key, url: str) -> AuditScope:
    """Return the scope of an object, including earlier objects of its name. For a User, these are
    the user's own actions as well. Raise `Denied`.
    """
    check_records(access, key.namespace)
    gvr, cluster = kind.gvr, access.cluster.name
    place = {"group": gvr.group, "resource": gvr.resource, "namespace": key.namespace}
    condition = Q(cluster=cluster, name=key.name, **place) & _own_records(access, key.namespace)
    if gvr == USERS:
        condition |= Q(actor=key.name)
    hidden = frozenset({"cluster", "project", "kind", "name"})
    return AuditScope(condition, url, OBJECT_RANGE, "", hidden)


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """A parsed request. `fixed`: the range doesn't end now."""

    scope: AuditScope
    search: Search
    text: str
    range: TimeRange
    range_name: str
    fixed: bool
    after: Cursor | None
    errors: Sequence[str] = ()

    @classmethod
    def parse(cls, scope: AuditScope, params: QueryDict) -> "AuditRequest":
        text = params.get("q", scope.default_text)
        search, errors = Search.parse(text), []
        now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
        since, until = (_moment(params.get(name, "")) for name in ("from", "to"))
        if any(params.get(name) and not _moment(params.get(name, "")) for name in ("from", "to")):
            errors.append(_("Enter times such as 2026-11-21T10:00."))
        name = params.get("range", scope.default_range)
        length = RANGES.get(name, RANGES[DEFAULT_RANGE])[0]
        if name not in RANGES:
            name = DEFAULT_RANGE
            errors.append(_("This time range is not available."))
        if since is not None and until is not None and since >= until:
            errors.append(_("The end of the time range must be after its start."))
            since = None
        fixed = until is not None
        end = until or now
        found = TimeRange(since or end - length, end)
        named = "" if since is not None or until is not None else name
        after = Cursor.parse(params.get("before", ""))
        return cls(scope, search, text, found, named, fixed, after, (*search.errors, *errors))

    @property
    def query(self) -> AuditQuery:
        return AuditQuery(self.scope.condition, self.search, self.range)

    def url(
        self, search: Search | None = None, span: Mapping[str, str] | None = None, **given: str
    ) -> str:
        """Return the URL of the same search with another search text, range or position. `span` are
        the parameters `range`, or `from` and `to`.
        """
        values = {"q": (self.search if search is None else search).text, **given}
        values |= self.range_values if span is None else span
        text = values.pop("q")
        shown = {"q": text} if text != self.scope.default_text else {}
        if values.get("range") == self.scope.default_range:
            del values["range"]
        query = urlencode(shown | {name: value for name, value in values.items() if value})
        return f"{self.scope.url}?{query}" if query else self.scope.url

    @property
    def range_values(self) -> Mapping[str, str]:
        """The parameters of the range."""
        if self.range_name:
            return {"range": self.range_name}
        return span_values(self.range, fixed=self.fixed)

    def moved(self, direction: int) -> str:
        """Return the URL of the range before (-1) or after (1) this one."""
        length = self.range.until - self.range.since
        since, until = (one + direction * length for one in (self.range.since, self.range.until))
        return self.url(span=span_values(TimeRange(since, until)))


def span_values(span: TimeRange, *, fixed: bool = True) -> dict[str, str]:
    """Return the parameters of a range that doesn't end now, or ends now unless `fixed`."""
    since = {"from": _written(span.since)}
    return {**since, "to": _written(span.until)} if fixed else since


def _moment(text: str) -> datetime | None:
    """Parse a time in UTC, with or without time zone."""
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S" if moment.second else "%Y-%m-%dT%H:%M")


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a record's facts. `url` may be ""."""

    label: str
    value: str
    url: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record for display. `change` is the diff or last manifest, if it is shown."""

    record: AuditRecord
    sentence: Sentence
    result: str
    where: str
    via: str
    facts: Sequence[Fact]
    url: str
    has_change: bool
    links: Sequence[tuple[str, str]] = ()
    restore_url: str = ""
    change: "ShownChange | None" = None

    @property
    def actor(self) -> str:
        return escape_invisible(self.record.actor)

    @property
    def failed(self) -> bool:
        return (self.record.code or 0) >= 400

    @property
    def as_user(self) -> str:
        """The user that the actor viewed the console as, or ""."""
        row = self.record
        return escape_invisible(row.as_user) if row.as_user != row.actor else ""


@dataclass(frozen=True, slots=True)
class ShownChange:
    """The change of a record. `difference` is None if it is too deep to display. `deleted`: it is
    the last manifest of a deleted object.
    """

    difference: Difference | None
    deleted: bool


@dataclass(frozen=True, slots=True)
class Day:
    """The records of a day. `total` also counts those on other pages."""

    date: datetime
    name: str
    total: int
    rows: Sequence[RecordRow]


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """A bar in units of the drawing, which is 1000 wide and 100 high."""

    x: float
    width: float
    y: float
    height: float
    failed_y: float
    failed_height: float
    bar: Bar
    url: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """`ticks` are positions in percent with their labels; `top` is the highest value of the axis."""

    bars: Sequence[HistogramBar]
    ticks: Sequence[tuple[float, str]]
    top: int
    total: int
    failed: int
    step: str

    @property
    def half(self) -> str:
        return f"{self.top // 2:,}" if self.top % 2 == 0 else ""


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
        return _exported(asked, fmt)
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
    found, bars, days, counted_to = await sync_to_async(_search)(query, asked.after)
    rows = [await record_row(one, access, asked) for one in found.rows]
    histogram = _histogram(asked, bars)
    totals = {one: days.get(number, 0) for number, one in enumerate(_days(found.rows))}
    live = not asked.fixed and asked.after is None and not asked.errors
    state = (
        [(one.pk, one.code) for one in found.rows],
        *(histogram.bars, sorted(totals.items()), asked.text, get_language()),
    )
    return {
        "asked": asked,
        "found": found,
        "histogram": histogram,
        "counted_to": counted_to,
        "days": list(_by_day(rows, totals)),
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


def _search(
    query: AuditQuery, after: Cursor | None
) -> tuple[Found, Sequence[Bar], Mapping[int, int], datetime | None]:
    found = query.page(after)
    days = [TimeRange(one, one + timedelta(days=1)) for one in _days(found.rows)]
    clipped = [
        TimeRange(max(one.since, query.range.since), min(one.until, query.range.until))
        for one in days
    ]
    bars, counted_to = query.histogram()
    return found, bars, query.count(clipped), counted_to


def _days(rows: Sequence[AuditRecord]) -> list[datetime]:
    """Return the starts of the days of the records."""
    return [day for day, _rows in groupby(_midnight(one.time) for one in rows)]


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


# One record.


async def record_row(
    row: AuditRecord, access: Access | None, asked: AuditRequest, *, whole: bool = False
) -> RecordRow:
    """Return a record for display. `whole` adds the change and the position in the chain."""
    kind = kind_of(row)
    has_change = bool(row.change_digest) and may_see_change(access, row, kind)
    result = result_text(row)
    place = [one for one in (row.workspace, row.namespace) if one]
    found = RecordRow(
        record=row,
        sentence=sentence(row, kind),
        result=result,
        where=escape_invisible(" / ".join(place)) or row.cluster,
        via=origin_text(row),
        facts=_facts(row, kind, access),
        url=reverse("audit_record", args=(row.audit_id,)),
        has_change=has_change,
        links=_links(row, kind, asked),
    )
    if not whole:
        return found
    link = await AuditLink.objects.filter(record=row.pk).order_by("-seq").afirst()
    chain = f"{link.seq:,}" if link is not None else _("not sealed yet")
    facts = (*found.facts, Fact(_("Link of the hash chain"), chain))
    found = replace(found, facts=facts)
    if not has_change:
        return found
    states = await _states(row)
    deleted = states[0] is not None and states[1] is None
    change = ShownChange(await in_thread(_difference, kind, *states), deleted)
    restore, cluster = "", clusters.get(row.cluster)
    there = access_in(access, cluster) if cluster is not None and access is not None else None
    if deleted and kind is not None and there is not None and kind.creatable(there):
        restore = f"{import_url(row.cluster)}?{urlencode({'restore': row.audit_id})}"
    return replace(found, change=change, restore_url=restore)


def may_see_change(access: Access | None, row: AuditRecord, kind: ResourceKind | None) -> bool:
    """Return True if the viewer may read the object in its cluster. `access` is in any cluster."""
    cluster = clusters.get(row.cluster)
    if access is None or cluster is None:
        return False
    gvr = kind.gvr if kind is not None else GVR(row.group, row.version, row.resource)
    there = access_in(access, cluster)
    return there.can("get", gvr, namespace=row.namespace, name=row.name)


async def _states(row: AuditRecord) -> tuple[Manifest | None, Manifest | None]:
    found = await AuditRecord.objects.select_related("change").aget(pk=row.pk)
    return unpack(bytes(found.change.before)), unpack(bytes(found.change.after))


def _difference(
    kind: ResourceKind | None, before: Manifest | None, after: Manifest | None
) -> Difference | None:
    if kind is None:
        return None
    try:
        return manifest_difference(kind, before or {}, after or {})
    except RecursionError:
        return None


def _facts(row: AuditRecord, kind: ResourceKind | None, access: Access | None) -> Sequence[Fact]:
    result = str(row.code) if row.code else result_text(row)
    if row.duration is not None:
        milliseconds = round(row.duration / timedelta(milliseconds=1))
        took = _("%(number)s ms") % {"number": f"{milliseconds:,}"}
        result = f"{result}, {took}"
    user_url = ""
    if access is not None and row.actor and access.can("get", USERS, name=row.actor):
        user_url = reverse("accounts:administration:show", args=(row.actor,))
    url = ""
    if kind is not None and row.name and clusters.get(row.cluster) is not None:
        key = Key(row.namespace if kind.view.namespaced else "", row.name)
        if bool(key.namespace) is kind.view.namespaced:
            url = object_url(row.cluster, kind.segment, key)
    facts = (
        Fact(_("User"), row.actor, user_url),
        Fact(_("Viewed as user"), row.as_user if row.as_user != row.actor else ""),
        Fact(_("Result"), result),
        Fact(_("Reason"), ": ".join(one for one in (row.reason, row.message) if one)),
        Fact(_("Object"), object_text(row, kind), url),
        Fact(_("Action"), "/".join(one for one in (row.verb, row.subresource) if one), code=True),
        Fact(_("Workspace"), row.workspace),
        Fact(_("Project"), row.namespace),
        Fact(_("Cluster"), row.cluster),
        Fact(_("Via"), origin_text(row)),
        Fact(_("Client address"), row.source),
        Fact(_("Client"), row.user_agent),
        Fact(_("Audit ID"), row.audit_id, code=True),
    )
    return [replace(one, value=escape_invisible(one.value)) for one in facts if one.value]


def _links(
    row: AuditRecord, kind: ResourceKind | None, asked: AuditRequest
) -> Sequence[tuple[str, str]]:
    """Return links to searches for the same object and the same user."""
    found = []
    if row.name and "name" not in asked.scope.hidden:
        what = kind.api_kind if kind is not None else row.resource
        text = f'kind:{row.resource} name:"{row.name}"'
        label = _("All records of this %(kind)s") % {"kind": what}
        found.append((label, asked.url(Search.parse(text))))
    if row.actor:
        text = f'user:"{row.actor}"'
        label = _("All records of %(user)s") % {"user": escape_invisible(row.actor)}
        found.append((label, asked.url(Search.parse(text))))
    return found


async def restorable_text(access: Access, audit_id: str) -> str | None:
    """Return the last manifest of a deleted object as YAML for *Create from YAML*, without
    references to other objects, or None if the viewer may not read it or it doesn't exist.
    """
    row = await AuditRecord.objects.filter(
        audit_id=audit_id, cluster=access.cluster.name, change__isnull=False
    ).afirst()
    kind = kind_in(access.cluster.kinds, row) if row is not None else None
    if row is None or kind is None or not may_see_change(access, row, kind):
        return None
    own = AuditRecord.objects.filter(_own_records(access, row.namespace), pk=row.pk)
    if not await own.aexists():
        return None
    before, _after = await _states(row)
    if before is None:
        return None
    metadata = {
        name: value
        for name, value in (before.get("metadata") or {}).items()
        if name not in ("ownerReferences", "finalizers")
    }
    return await in_thread(yaml_text, kind, {**before, "metadata": metadata})


# Histogram.


def _histogram(asked: AuditRequest, bars: Sequence[Bar]) -> Histogram:
    top = _round_up(max((one.total for one in bars), default=0))
    wide = 1000 / max(len(bars), 1)
    drawn = []
    for number, one in enumerate(bars):
        height, failed = (100 * count / top for count in (one.total, one.failed))
        url = asked.url(span=span_values(one.range))
        x = round(number * wide + wide / 8, 1)
        ok = round(height - failed, 1)
        drawn.append(
            HistogramBar(
                *(x, round(wide * 0.75, 1), round(100 - ok, 1), ok),
                *(round(100 - height, 1), round(failed, 1), one, url),
            )
        )
    step = asked.range.step
    total, failures = sum(one.total for one in bars), sum(one.failed for one in bars)
    return Histogram(drawn, _ticks(bars), top, total, failures, _step_text(step))


def _round_up(most: int) -> int:
    """Return the next value of 2, 5 or 10 times a power of ten."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(one * power for one in (2, 4, 6, 10) if one * power >= most)


def _ticks(bars: Sequence[Bar]) -> Sequence[tuple[float, str]]:
    """Return at most six labels. The first of each day has the date."""
    every = max(1, -(-len(bars) // 6))
    found, day = [], ""
    for number in range(0, len(bars), every):
        moment = bars[number].range.since
        date, clock = moment.strftime("%m-%d"), moment.strftime("%H:%M")
        text = f"{date} {clock}" if date != day and clock != "00:00" else clock
        if clock == "00:00":
            text = date
        day = date
        found.append((round(100 * number / len(bars), 1), text))
    return found


def _step_text(step: timedelta) -> str:
    seconds = round(step.total_seconds())
    if seconds % 86400 == 0:
        return _("%(number)s d") % {"number": seconds // 86400}
    if seconds % 3600 == 0:
        return _("%(number)s h") % {"number": seconds // 3600}
    if seconds % 60 == 0:
        return _("%(number)s min") % {"number": seconds // 60}
    return _("%(number)s s") % {"number": seconds}


# Exports.


def _exported(asked: AuditRequest, fmt: str) -> HttpResponseBase:
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
