"""Search of audit records: a text with `field:value` terms, a time range and a scope.

Terms that an index covers are searched in the whole range. For other terms, at most `SCANNED` records
are searched, newest first; `Found.searched_to` is then the time from which the search continues.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from django.db.models import Count, FloatField, Func, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.models import AuditRecord
from console.audit.trail import CONTROLLER, DIRECT, GATEWAY, PAGE, TOKEN

#: Maximum characters of a search, and maximum number of terms.
MAX_TEXT, MAX_TERMS = 500, 20
#: Records per page, and records that a search without index reads.
PAGE_SIZE, SCANNED = 50, 100_000
#: Maximum number of bars of the histogram.
MAX_BARS = 72

_TERM = re.compile(r'(?P<not>-?)(?:(?P<field>[a-z]+):)?(?P<value>"[^"]*"|[^\s"]\S*)', re.IGNORECASE)
_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 90 * 86400, 365 * 86400),
    )
)


_DAY = timedelta(days=1)
#: Time from which bars and days are counted. Bars longer than a day contain whole days.
_ZERO = datetime(2000, 1, 1, tzinfo=UTC)


def _floor(time: datetime, step: timedelta) -> datetime:
    """Return the latest multiple of the step since `_ZERO`."""
    return _ZERO + (time - _ZERO) // step * step


def _text(*columns: str) -> Callable[[str], Q]:
    """Compare columns with a value. `*` at its end matches any text."""

    def compare(value: str) -> Q:
        found = Q()
        for column in columns:
            prefix = value.removesuffix("*")
            found |= Q(**{column if prefix == value else f"{column}__startswith": prefix})
        return found

    return compare


def _kind(value: str) -> Q:
    """Compare the resource with a kind or a plural, with or without its group."""
    word, _dot, group = value.lower().partition(".")
    plural = f"{word[:-1]}ies" if word.endswith("y") else word
    found = Q(resource__in={word, plural, f"{word}s", f"{word}es"})
    return found & Q(group=group) if group else found


def _result(value: str) -> Q:
    if value.isascii() and value.isdigit():
        return Q(code=int(value[:5]))
    return _RESULTS.get(value, Q(pk=None))


_RESULTS = {
    "ok": Q(code__gte=100, code__lt=400),
    "failed": Q(code__gte=400),
    "denied": Q(code__in=(401, 403)),
    "unknown": Q(code=0),
    "running": Q(code=None),
}


def _via(value: str) -> Q:
    if value == "kubectl":
        return Q(user_agent__startswith="kubectl/")
    return Q(origin=value)


class SearchField(NamedTuple):
    """A field of a search. `example` is a value to offer. `indexed`: an index covers the field
    unless the value is a prefix.
    """

    name: str
    label: str | Promise
    compare: Callable[[str], Q]
    examples: Sequence[str] = ()
    indexed: bool = False


FIELDS: Mapping[str, SearchField] = {
    one.name: one
    for one in (
        SearchField("user", gettext_lazy("User"), _text("actor"), indexed=True),
        SearchField("as", gettext_lazy("Viewed as user"), _text("as_user")),
        SearchField(
            "verb",
            gettext_lazy("Action"),
            _text("verb", "subresource"),
            ("create", "patch", "delete", "reveal", "login", "exec"),
        ),
        SearchField("kind", gettext_lazy("Kind"), _kind, ("deployment", "secret", "session")),
        SearchField("name", gettext_lazy("Name"), _text("name"), indexed=True),
        SearchField("project", gettext_lazy("Project"), _text("namespace")),
        SearchField("workspace", gettext_lazy("Workspace"), _text("workspace"), indexed=True),
        SearchField("cluster", gettext_lazy("Cluster"), _text("cluster")),
        SearchField(
            "result",
            gettext_lazy("Result"),
            _result,
            ("ok", "failed", "denied", "unknown"),
        ),
        SearchField(
            "via", gettext_lazy("Via"), _via, (PAGE, TOKEN, "kubectl", GATEWAY, CONTROLLER, DIRECT)
        ),
        SearchField("address", gettext_lazy("Client address"), _text("source")),
        SearchField("id", gettext_lazy("Audit ID"), _text("audit_id"), indexed=True),
        SearchField("uid", gettext_lazy("UID"), _text("uid")),
    )
}
#: Columns that a word without field searches.
_WORDS = ("actor", "name", "namespace", "resource", "source", "audit_id", "message")


@dataclass(frozen=True, slots=True)
class Term:
    """One term. `field` is None for a word."""

    field: SearchField | None
    value: str
    negated: bool = False

    @property
    def text(self) -> str:
        """The term as written in a search."""
        value = f'"{self.value}"' if " " in self.value else self.value
        name = f"{self.field.name}:" if self.field is not None else ""
        return f"{'-' if self.negated else ''}{name}{value}"

    @property
    def indexed(self) -> bool:
        field = self.field
        return field is not None and field.indexed and not self.negated and self.value[-1:] != "*"

    @property
    def condition(self) -> Q:
        if self.field is not None:
            found = self.field.compare(self.value)
        else:
            found = Q()
            for column in _WORDS:
                found |= Q(**{f"{column}__icontains": self.value})
        # `exclude` would also drop records without a result.
        return ~found if self.negated else found


@dataclass(frozen=True, slots=True)
class Search:
    """A parsed search. `errors` are reported to the user; terms with errors are left out."""

    terms: tuple[Term, ...] = ()
    errors: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        terms, errors = [], []
        if len(text) > MAX_TEXT:
            return cls(
                errors=(_("Use at most %(limit_value)s characters.") % {"limit_value": 500},)
            )
        for found in _TERM.finditer(text):
            name, value = found["field"], found["value"].strip('"')
            field = FIELDS.get(name.lower()) if name else None
            if name and field is None:
                known = ", ".join(FIELDS)
                words = {"name": name, "known": known}
                errors.append(_("Unknown field %(name)s. Fields: %(known)s") % words)
            elif value:
                terms.append(Term(field, value, bool(found["not"])))
        if len(terms) > MAX_TERMS:
            errors.append(_("Use at most %(number)s terms.") % {"number": MAX_TERMS})
        return cls(tuple(terms[:MAX_TERMS]), tuple(errors))

    @property
    def text(self) -> str:
        return " ".join(term.text for term in self.terms)

    def without(self, term: Term) -> "Search":
        return Search(tuple(one for one in self.terms if one != term))

    def plus(self, text: str) -> "Search":
        added = Search.parse(text)
        return Search((*(one for one in self.terms if one not in added.terms), *added.terms))


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time range, `until` exclusive."""

    since: datetime
    until: datetime

    @property
    def step(self) -> timedelta:
        """Width of the histogram's bars: the shortest with at most `MAX_BARS` bars."""
        length = self.until - self.since
        return next((one for one in _STEPS if length <= one * MAX_BARS), _STEPS[-1])

    def bars(self) -> Sequence["TimeRange"]:
        """Return the ranges of the bars. They start at multiples of the step."""
        step = self.step
        begin = _floor(self.since, step)
        found: list[TimeRange] = []
        while begin < self.until and len(found) <= MAX_BARS:
            found.append(TimeRange(begin, begin + step))
            begin += step
        return found


class Cursor(NamedTuple):
    """Position after a record in the order of a search, newest first."""

    time: datetime
    pk: int

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        time, _tilde, number = text.partition("~")
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            return None
        valid = number.isascii() and number.isdigit() and len(number) <= 18
        return cls(moment, int(number)) if valid and moment.tzinfo is not None else None

    def __str__(self) -> str:
        return f"{self.time.isoformat()}~{self.pk}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the histogram."""

    range: TimeRange
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Numbers of records: by bar, and by day, which is the day's start in UTC. With `counted_to`, older
    records of the range were not counted.
    """

    bars: Sequence[Bar]
    days: Mapping[datetime, int]
    counted_to: datetime | None


class _UnitNumber(Func):
    """Number of the unit of time that contains a record, counted from `_ZERO`."""

    output_field = FloatField()

    def __init__(self, unit: timedelta) -> None:
        zero, length = int(_ZERO.timestamp()), int(unit.total_seconds())
        super().__init__("time", zero=zero, length=length)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Without the fraction, which SQLite rounds to milliseconds, possibly to the next second.
        second = "CAST(strftime('%%%%s', SUBSTR(%(expressions)s, 1, 19)) AS INTEGER)"
        template = f"({second} - %(zero)s) / %(length)s"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "FLOOR((DATE_PART('epoch', %(expressions)s) - %(zero)s) / %(length)s)"
        return self.as_sql(compiler, connection, template=template, **context)


@dataclass(frozen=True, slots=True)
class Found:
    """A page of records, newest first. `more` is the cursor of the next page, or None. With
    `searched_to`, older records of the range were not searched.
    """

    rows: Sequence[AuditRecord]
    more: Cursor | None = None
    searched_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """A search in a scope, which is the condition for the records that the viewer may see."""

    scope: Q
    search: Search
    range: TimeRange

    def page(self, after: Cursor | None = None, size: int = PAGE_SIZE) -> Found:
        rows, bound = self._rows(after)
        found = list(rows.order_by("-time", "-pk")[: size + 1])
        more = Cursor(found[size - 1].time, found[size - 1].pk) if len(found) > size else None
        return Found(found[:size], more, bound if more is None else None)

    def counted(self) -> Counted:
        """Count the records of the range with one query."""
        bound, step = self._rows(None)[1], self.range.step
        unit = min(step, _DAY)
        found = self._counts(unit, bound)
        bars = {one.since: Bar(one, 0, 0) for one in self.range.bars()}
        days: dict[datetime, int] = {}
        for number, total, failed in found:
            time = _ZERO + int(number) * unit
            bar = bars.get(_floor(time, step))
            if bar is not None:
                bars[bar.range.since] = Bar(bar.range, bar.total + total, bar.failed + failed)
            day = _floor(time, _DAY)
            days[day] = days.get(day, 0) + total
        return Counted(list(bars.values()), days, bound)

    def _counts(self, unit: timedelta, bound: datetime | None) -> Iterable[tuple[float, int, int]]:
        """Return the number of records and of failures for each unit of time that has any, by the
        unit's number since `_ZERO`.
        """
        conditions = (one.condition for one in self.search.terms)
        since = max(self.range.since, bound) if bound is not None else self.range.since
        rows = AuditRecord.objects.filter(
            self.scope, *conditions, time__gte=since, time__lt=self.range.until
        )
        counts = {"total": Count("pk"), "failed": Count("pk", filter=Q(code__gte=400))}
        return rows.order_by().values_list(_UnitNumber(unit)).annotate(**counts)

    def _rows(self, after: Cursor | None) -> tuple[QuerySet[AuditRecord], datetime | None]:
        """Return the records, and the time to which they were searched if that isn't the whole
        range.
        """
        rows = AuditRecord.objects.filter(
            self.scope, time__gte=self.range.since, time__lt=self.range.until
        )
        rows = rows.filter(*(one.condition for one in self.search.terms if one.indexed))
        if after is not None:
            rows = rows.filter(time__lte=after.time)
            rows = rows.filter(Q(time__lt=after.time) | Q(pk__lt=after.pk))
        others = [one.condition for one in self.search.terms if not one.indexed]
        if not others:
            return rows, None
        order = rows.order_by("-time", "-pk").values_list("time", flat=True)
        bound = next(iter(order[SCANNED : SCANNED + 1]), None)
        if bound is not None:
            rows = rows.filter(time__gte=bound)
        return rows.filter(*others), bound
