"""Parse the query string of a log: container, start time, tail length and filters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.selectors import SelectorError, parse_labels
from console.logs.levels import LEVELS
from console.ui.core.words import translate_message

#: Default and maximum number of tail lines, and the value for all lines (downloads only).
TAIL, MAX_TAIL, ALL = 500, 10_000, "all"
TAILS = (100, 500, 2000, 10_000)
#: Choices for the start time: `sinceSeconds` spans and their labels.
SINCES: Mapping[str, str | Promise] = {
    "": gettext_lazy("Start of the log"),
    "5m": gettext_lazy("5 minutes ago"),
    "15m": gettext_lazy("15 minutes ago"),
    "1h": gettext_lazy("1 hour ago"),
    "6h": gettext_lazy("6 hours ago"),
    "24h": gettext_lazy("24 hours ago"),
}
LEVEL_WORDS: Mapping[str, str | Promise] = {
    "error": gettext_lazy("Errors"),
    "warn": gettext_lazy("Warnings and above"),
    "info": gettext_lazy("Info and above"),
    "debug": gettext_lazy("Debug and above"),
}
CONTEXTS = (0, 2, 5, 10)
#: Maximum characters of a search text, a name and a label selector.
MAX_SEARCH, MAX_NAME, MAX_SELECTOR = 200, 253, 512
#: Selects all containers of a pod.
ALL_CONTAINERS = "*"
#: The log is requested from this long before the line that `at` names, so that its context is
#: included.
LOOKBACK, FIRST = timedelta(seconds=10), datetime(1971, 1, 1, tzinfo=UTC)
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
_SPAN = re.compile(r"([1-9]\d{0,5})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SWITCH = {"": False, "0": False, "false": False, "1": True, "true": True, "on": True}


class BadQuery(ValueError):
    """Raised for an invalid query string. `str()` returns the translated message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """Parsed query parameters of a log.

    `container`: a name, `ALL_CONTAINERS`, or "" for the default container. `tail`: number of lines, None
    for all. `since`: a span like `15m`, an RFC 3339 timestamp, or "". `at`: the timestamp of a
    line; the log then shows the context of that line, and `tail` counts the lines from there on.
    `line`: the timestamp of a line; the download then contains only its text, without filters.
    `label`: the label selector of the pods, "" if the URL names an object.
    """

    container: str = ""
    previous: bool = False
    tail: int | None = TAIL
    since: str = ""
    timestamps: bool = False
    wrap: bool = False
    search: str = ""
    level: str = ""
    context: int = 0
    at: str = ""
    line: str = ""
    label: str = ""

    @property
    def has_filters(self) -> bool:
        return bool(self.search or self.level)

    @property
    def everything(self) -> "LogQuery":
        """The query without filters, for all lines of the same containers."""
        return LogQuery(
            container=self.container,
            previous=self.previous,
            tail=None,
            timestamps=self.timestamps,
            label=self.label,
        )

    def request_params(self, container: str, *, verbatim: bool = False) -> list[tuple[str, str]]:
        """Return the query parameters of the kube-apiserver log request for one container.

        `verbatim`: the response is passed on unchanged. Otherwise timestamps are always
        requested, because lines are merged and found by them.
        """
        found = [("container", container)]
        if self.timestamps or not verbatim:
            found.append(("timestamps", "true"))
        if self.previous:
            found.append(("previous", "true"))
        if self.line:
            return [*found, ("sinceTime", self.line)]
        if self.at:
            return [*found, ("sinceTime", _before(self.at))]
        if self.tail is not None:
            found.append(("tailLines", str(self.tail)))
        if span := _SPAN.fullmatch(self.since):
            found.append(("sinceSeconds", str(int(span[1]) * _SECONDS[span[2]])))
        elif self.since:
            found.append(("sinceTime", self.since))
        return found

    def encoded(self, **others: str) -> str:
        """Return the query string, without parameters that have their default value."""
        given = {
            "label": self.label,
            "container": self.container,
            "previous": "1" if self.previous else "",
            "tail": ALL if self.tail is None else "" if self.tail == TAIL else str(self.tail),
            "since": self.since,
            "timestamps": "1" if self.timestamps else "",
            "wrap": "1" if self.wrap else "",
            "q": self.search,
            "level": self.level,
            "context": str(self.context) if self.context else "",
            "at": self.at,
            "line": self.line,
            **others,
        }
        return urlencode({name: value for name, value in given.items() if value})


def read_query(params: QueryDict, *, whole: bool = False, selects: bool = False) -> LogQuery:
    """Parse `params`. Raise `BadQuery` for invalid values.

    `whole`: allow requests for all lines and for a single line. `selects`: a label selector is
    required.
    """
    return LogQuery(
        label=_label(params) if selects else "",
        container=read_text(params, "container", MAX_NAME),
        previous=read_switch(params, "previous"),
        tail=_tail(params, whole=whole),
        since=_since(params),
        timestamps=read_switch(params, "timestamps"),
        wrap=read_switch(params, "wrap"),
        search=read_text(params, "q", MAX_SEARCH),
        level=read_choice(params, "level", LEVELS),
        context=_number(params, "context", 0, 20, 0),
        at=_at(params, "at"),
        line=_at(params, "line") if whole else "",
    )


def _one(params: QueryDict, name: str) -> str:
    given = params.getlist(name)
    if len(given) > 1:
        raise BadQuery(_("Set %(name)s only once.") % {"name": name})
    return given[0] if given else ""


def read_text(params: QueryDict, name: str, most: int) -> str:
    value = _one(params, name)
    if len(value) > most or "\x00" in value:
        raise BadQuery(_("%(name)s is too long.") % {"name": name})
    return value


def read_choice(params: QueryDict, name: str, offered: tuple[str, ...]) -> str:
    value = _one(params, name)
    if value and value not in offered:
        words = {"name": name, "offered": ", ".join(offered)}
        raise BadQuery(_("%(name)s must be one of %(offered)s.") % words)
    return value


def read_switch(params: QueryDict, name: str) -> bool:
    found = _SWITCH.get(_one(params, name))
    if found is None:
        raise BadQuery(_("%(name)s must be 1 or 0.") % {"name": name})
    return found


def _number(params: QueryDict, name: str, least: int, most: int, default: int) -> int:
    value = _one(params, name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 9 and least <= int(value) <= most):
        words = {"name": name, "least": least, "most": most}
        raise BadQuery(_("%(name)s must be a number from %(least)s to %(most)s.") % words)
    return int(value)


def _tail(params: QueryDict, *, whole: bool) -> int | None:
    if whole and params.getlist("tail") == [ALL]:
        return None
    return _number(params, "tail", 1, MAX_TAIL, TAIL)


def _label(params: QueryDict) -> str:
    text = read_text(params, "label", MAX_SELECTOR)
    try:
        selector = parse_labels(text)
    except SelectorError as error:
        raise BadQuery(translate_message(error.sentence)) from error
    if not selector:
        raise BadQuery(_("label must be a selector, such as app=web."))
    return str(selector)


def _at(params: QueryDict, name: str) -> str:
    value = _one(params, name)
    if value and not (_STAMP.fullmatch(value) and _moment(value)):
        text = _("%(name)s must be a time, such as 2026-11-24T10:00:00.000000000Z.")
        raise BadQuery(text % {"name": name})
    return value


def _before(stamp: str) -> str:
    """Return a `sinceTime` that is `LOOKBACK` before `stamp`."""
    moment = _moment(stamp)
    if moment is None or moment < FIRST + LOOKBACK:
        return stamp
    return (moment - LOOKBACK).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _since(params: QueryDict) -> str:
    value = _one(params, "since")
    if not value or _SPAN.fullmatch(value):
        return value
    moment = _moment(value)
    if moment is None or moment.tzinfo is None or not value.isascii() or "T" not in value:
        raise BadQuery(
            _("since must be a duration, such as 15m, or a time, such as 2026-11-24T10:00:00Z.")
        )
    return value
