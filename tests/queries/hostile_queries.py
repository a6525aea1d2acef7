"""Hostile query strings, and the parameters that a page reads."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from django.http import QueryDict
from hypothesis import strategies as st

VALUES = (
    "", " ", "0", "-1", "1", "2", "9" * 400, "1e309", "NaN", "٣", "²", "all", "on", "true", "\0", "a\nb",
    "\r\nX: y", "\u202e", "\ufeff", "é" * 60, "a" * 6000, "../../etc/passwd", "..", "/", "//evil.example",
    "/\\evil", "/\t/[", "http://[", "[", "%", "%s%n", "{{7*7}}", "<script>", "'", '"', "host", "shop",
    "pods", "web-1", "app", "app=web", "a in (", "a!=b,!c", "json", "csv", "html", "yaml", "text", "dock",
    "download", "status=error", "q=a&q=b", "&" * 1500, "name", "-name", "-", "--name", "__class__",
    "0001-01-01T00:00:00.000000000Z", "9999-12-31T23:59:59.999999999Z", "2026-02-30T00:00:00Z", "15m",
    "0001-01-01T00:00:00+14:00", "2026-W01-1T00:00Z", "999999d", "/clusters/host/pods?q=a&label=((",
    "/clusters/host/pods", "/clusters/host/projects/shop/pods/web-1", "/search?q=" + "a" * 9000,
    "User:a", "Group:", "system:masters", "get", "*", "pods/log", "uid-1", "global", "admin",
)  # fmt: skip
value = st.one_of(st.sampled_from(VALUES), st.text(max_size=30))
#: A parameter: its name, or the position of its name in the parameters of the page; and its value.
parameter = st.tuples(st.one_of(st.integers(0, 40), st.text(max_size=12)), value)
#: Parameters, or a query string that is not encoded correctly or too long.
query = st.one_of(
    st.lists(parameter, max_size=6),
    st.lists(parameter, min_size=1, max_size=3),
    st.binary(max_size=60).map(lambda raw: quote(raw, safe="%&=+;?/[]")),
    st.sampled_from(["&" * 1500, "a=1&" * 1200, "%", "%ff=%fe", "a[]=1", "=", "&&", ";", "q=%00&q=%ff"]),
)  # fmt: skip


def encoded(query: str | Sequence[tuple[int | str, str]], names: Sequence[str]) -> str:
    """Return the query string. `names` are the parameters that the page reads."""
    if isinstance(query, str):
        return query
    pairs = []
    for name, text in query:
        named = (names[name % len(names)] if names else "q") if isinstance(name, int) else name
        pairs.append(f"{_quoted(named)}={_quoted(text)}")
    return "&".join(pairs)


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@contextmanager
def recorded_names() -> Iterator[list[str]]:
    """Collect the names of all parameters that code reads from a query."""
    found: dict[str, None] = {}
    with pytest.MonkeyPatch.context() as patch:
        for method in ("get", "getlist", "__getitem__", "__contains__"):
            patch.setattr(QueryDict, method, _recording(getattr(QueryDict, method), found))
        names: list[str] = []
        yield names
    names += found


def _recording(method: Any, found: dict[str, None]) -> Any:
    def recording(self: QueryDict, name: object, *others: Any, **options: Any) -> Any:
        if isinstance(name, str):
            found[name] = None
        return method(self, name, *others, **options)

    return recording


def failures(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return and forget the logged errors and tracebacks."""
    found = [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR or record.exc_info
    ]
    caplog.clear()
    return found
