"""Filtering of log lines."""

from collections.abc import Sequence

import pytest
from django.http import QueryDict

from console.logs.filtering import (
    MAX_CONTINUATION_LINES,
    MAX_HITS,
    LevelDetector,
    LineFilter,
    LogEntry,
    LogSearch,
)
from console.logs.lines import LogLine
from console.logs.query import BadQuery, LogQuery, read_query


def picked(query: LogQuery, lines: Sequence[str]) -> list[str]:
    """Return the lines shown: matches with `>`, context lines with a space, omitted lines as `…`."""
    picker, levels, found = LineFilter(query), LevelDetector(), []
    for text in lines:
        line = LogLine("", text.encode())
        for one in picker.next(LogEntry(0, line, levels.next(line))):
            if one.gap:
                found.append("…")
            found.append((">" if one.found else " ") + one.entry.line.text)
    return found


LINES = ["a", "b", "level=error boom", "  at x", "level=info c", "d", "e", "f"]


def test_without_filter_all_lines_are_shown() -> None:
    assert picked(LogQuery(), LINES) == [f">{line}" for line in LINES]


def test_search_ignores_case_and_colors() -> None:
    lines = ["GET /cart", "\x1b[31mget\x1b[0m /cart", "post"]
    assert picked(LogQuery(search="GET /"), lines) == [">" + lines[0], ">" + lines[1]]


def test_context_lines_are_shown_and_gaps_are_marked() -> None:
    lines = [str(number) for number in range(10, 30)]
    found = picked(LogQuery(search="20", context=2), lines)
    assert found == ["…", " 18", " 19", ">20", " 21", " 22"]
    assert len(picked(LogQuery(search="24", context=4), lines)) == 1 + 9
    found = picked(LogQuery(search="3", context=1), ["3", "x", "y", "z", "3", "3"])
    assert found == [">3", " x", "…", " z", ">3", ">3"]


def test_continuation_lines_have_the_level_of_the_previous_line() -> None:
    assert picked(LogQuery(level="error"), LINES) == ["…", ">level=error boom", ">  at x"]
    trace = ["panic: x", "", "goroutine 1 [running]:", "main.main()", "\t/src/main.go:41 +0x1d4"]
    assert picked(LogQuery(level="error"), [*trace, "GET / 200"]) == [f">{one}" for one in trace]
    many = ["level=error x", *[" y"] * (MAX_CONTINUATION_LINES + 10)]
    assert len(picked(LogQuery(level="error"), many)) == 1 + MAX_CONTINUATION_LINES
    worse = picked(LogQuery(level="info"), ["level=debug x", "level=warn y"])
    assert worse == ["…", ">level=warn y"]


def test_json_field_can_be_searched() -> None:
    lines = ['{"status":502,"msg":"x"}', '{"status":"200"}', "status=502", '{"x":"502"}']
    found = picked(LogQuery(search="status=502"), lines)
    assert found == [">" + lines[0], "…", ">" + lines[2]]


@pytest.mark.parametrize(
    "query",
    [
        "tail=0", "tail=x", "tail=10001", "tail=-1", "tail=all", "tail=5&tail=6", "previous=maybe",
        "since=yesterday", "since=0m", "since=15", "since=2026-11-24", "since=2026-11-24T10:00:00",
        "level=loud", "context=21", "context=-1", "q=" + "x" * 201, "container=" + "x" * 254,
        "timestamps=2", "wrap=yes",
    ],
)  # fmt: skip
def test_invalid_parameters_are_refused(query: str) -> None:
    with pytest.raises(BadQuery):
        read_query(QueryDict(query))


def test_query_string_round_trips() -> None:
    text = "container=app&previous=1&tail=100&since=15m&timestamps=1&q=x&level=warn&context=5"
    query = read_query(QueryDict(text))
    assert read_query(QueryDict(query.encoded())) == query
    assert query.request_params("app") == [
        ("container", "app"),
        ("timestamps", "true"),
        ("previous", "true"),
        ("tailLines", "100"),
        ("sinceSeconds", "900"),
    ]
    assert read_query(QueryDict("tail=all"), whole=True).tail is None
    assert read_query(QueryDict()).encoded() == ""
    moment = read_query(QueryDict("since=2026-11-24T10:00:00.123456789Z"))
    assert ("sinceTime", "2026-11-24T10:00:00.123456789Z") in moment.request_params("app")
    for earliest in ("0001-01-01T00:00:00.000000000Z", "1971-01-01T00:00:05.000000000Z"):
        first = read_query(QueryDict(f"at={earliest}"))
        assert ("sinceTime", earliest) in first.request_params("app")


@pytest.mark.parametrize(
    ("search", "text", "hits"),
    [
        ("", "text", []),
        ("no", "text", []),
        ("E", "The end", ["e", "e"]),
        ("<b>", "a<B>b</b>", ["<B>"]),
        ("strasse", "die Straße 1", ["Straße"]),
        ("s", "aß", ["ß", "ß"]),
        ("status=502", "status=502 x", ["status=502"]),
        ("status=502", '{"x":502,"status": 502}', ['"status": 502']),
        ("http.status=502", '{"http":{"status":"502"}}', ['"status":"502"']),
        ("status=502", '{"status":5020}', []),
    ],
)
def test_matches_of_the_search_are_located(search: str, text: str, hits: list[str]) -> None:
    found = LogSearch(search).hits(text)
    assert [text[first:last] for first, last in found] == hits


def test_number_of_highlighted_matches_is_limited() -> None:
    assert len(LogSearch("a").hits("a" * 10_000)) == MAX_HITS
