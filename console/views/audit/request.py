"""Parameters of a request for the audit trail, and the URLs of other requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.search import AuditQuery, Cursor, Search, TimeRange
from console.views.audit.scope import DEFAULT_RANGE, AuditScope

#: Ranges by the value of `?range=`.
RANGES: Mapping[str, tuple[timedelta, str | Promise]] = {
    "15m": (timedelta(minutes=15), gettext_lazy("15 min")),
    "1h": (timedelta(hours=1), gettext_lazy("1 h")),
    "6h": (timedelta(hours=6), gettext_lazy("6 h")),
    "24h": (timedelta(hours=24), gettext_lazy("24 h")),
    "3d": (timedelta(days=3), gettext_lazy("3 d")),
    "30d": (timedelta(days=30), gettext_lazy("30 d")),
}


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
    """Parse a time in UTC, with or without time zone. Times that bars can't be calculated for are
    invalid.
    """
    try:
        found = datetime.fromisoformat(text)
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return found if 1990 <= found.year < 9000 else None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S" if moment.second else "%Y-%m-%dT%H:%M")
