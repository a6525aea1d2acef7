"""List columns: displayed values, exported values and sort order."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import translation

from console.ui.core.amounts import bytes_text, cores_text, number_text, seconds_text
from console.ui.core.registry import kinds
from console.ui.fragments.placeholders import duration_text
from console.ui.lists.columns import (
    BY_KIND,
    BoolColumn,
    Column,
    DurationColumn,
    ElapsedColumn,
    ElapsedTime,
    IpColumn,
    LinkColumn,
    LinkTarget,
    LinkText,
    ListColumn,
    ListText,
    NumberColumn,
    PercentColumn,
    QuantityColumn,
    RatioColumn,
    TextColumn,
    WordColumn,
    target_of,
    target_url,
)


@dataclass(frozen=True)
class Held:
    """The parts of a store entry that these columns read."""

    projection: Any


def held(value: Any) -> Any:
    return Held(value)


def shown(column: Column, value: Any) -> Any:
    return column.value(held(value))


def plain(column: Column, value: Any) -> Any:
    entry: Any = Held(value)
    return column.plain(entry)


def ordered(column: Column, values: list[Any]) -> list[Any]:
    entries: list[Any] = [Held(value) for value in values]
    return [entry.projection for entry in sorted(entries, key=column.sort_key)]


def same(value: Any) -> Any:
    return value


NUMBER = NumberColumn(id="x", label="X", get=same)
RATIO = RatioColumn(id="x", label="X", part=lambda v: v[0], whole=lambda v: v[1])
CORES = QuantityColumn(id="x", label="X", unit="cores", get=same)
MEMORY = QuantityColumn(id="x", label="X", unit="bytes", get=same)
PERCENT = PercentColumn(id="x", label="X", get=same)
YES_NO = BoolColumn(id="x", label="X", get=same)
SEVERAL = ListColumn(id="x", label="X", most=2, get=same)
LENGTH = DurationColumn(id="x", label="X", get=same)
ADDRESS = IpColumn(id="x", label="X", get=same)
WORD = WordColumn(id="x", label="X", words={"Delete": "goes"}, get=same)
TEXT = TextColumn(id="x", label="X", get=same)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (TEXT, "a message", True),
        (TEXT, "", False),
        (SEVERAL, ["a", "b"], True),
        (SEVERAL, [], False),
        (TextColumn(id="x", label="X", align="end", get=same), "0/1", False),
        (WORD, "Delete", False),
        (ADDRESS, "10.0.0.1", False),
        (ADDRESS, "x" * 46, True),
        (NUMBER, 7, False),
    ],
)
def test_only_long_texts_are_cut_in_narrow_lists(
    column: Column, value: Any, expected: bool
) -> None:
    assert column.shrinks(shown(column, value)) is expected


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (NUMBER, [0, 2, 10, None]),
        (RATIO, [(0, 1), (0, 3), (1, 3), (2, 3), (1, 1), (3, 3), (0, None)]),
        (CORES, ["0", "9m", "100m", "0.5", "1", "1500m", "2k", "?"]),
        (MEMORY, ["1", "1k", "1Ki", "900M", "1Gi", "1.5Gi", "2G", ""]),
        (PERCENT, [0, 9, 10, 100, None]),
        (YES_NO, [False, True, None]),
        (SEVERAL, [("a",), ("a", "b"), ("b",), ()]),
        (LENGTH, [0, 59, 61, None]),
        (ADDRESS, ["9.0.0.1", "10.0.0.3", "10.0.0.20", "::1", "fd00::2", "not one", ""]),
        (WORD, ["Delete", "Retain", ""]),
        (TEXT, ["a", "b", ""]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sort_is_by_size_with_missing_values_last(column: Column, values: list[Any]) -> None:
    assert ordered(column, values[::-1]) == values
    assert ordered(column, values) == values


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (NUMBER, None, None),
        (RATIO, (2, 3), "2/3"),
        (RATIO, (2, None), ""),
        (CORES, "15890m", "16"),
        (CORES, "310m", "310m"),
        (MEMORY, "65806012Ki", "63Gi"),
        (MEMORY, "lots\u202e", "lots⟨U+202E⟩"),
        (MEMORY, "", ""),
        (PERCENT, 61, "61\N{NO-BREAK SPACE}%"),
        (PERCENT, None, ""),
        (YES_NO, None, ""),
        (SEVERAL, ("a", "b", "c", "d"), ListText("a, b", 2, "a, b, c, d")),
        (SEVERAL, (), ListText("", 0, "")),
        (LENGTH, 192, "3m12s"),
        (WORD, "Delete", "goes"),
        (WORD, "New\x00", "New⟨U+0000⟩"),
    ],
)
def test_value_is_displayed_as_expected(column: Column, value: Any, expected: Any) -> None:
    assert shown(column, value) == expected


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (CORES, "310m", "310m"),
        (SEVERAL, ("a", "b", "c"), "a, b, c"),
        (YES_NO, True, "true"),
        (YES_NO, None, None),
        (LENGTH, 192, 192),
        (WORD, "Delete", "Delete"),
        (PERCENT, 61, 61),
    ],
)
def test_exported_value_does_not_depend_on_the_language(
    column: Column, value: Any, expected: Any
) -> None:
    with translation.override("zh-hans"):
        assert plain(column, value) == expected


@pytest.mark.parametrize(
    ("cores", "text"),
    [("0", "0"), ("0.0004", "0"), ("0.31", "310m"), ("0.9999", "1"), ("1.25", "1.2"), ("18", "18")],
)
def test_cpu_quantities_are_formatted(cores: str, text: str) -> None:
    assert cores_text(Decimal(cores)) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (1023, "1,023"),
        (1024, "1Ki"),
        (488 * 2**20, "488Mi"),
        (2**31 + 10**8, "2.1Gi"),
        (2**40 - 1, "1Ti"),
        (2**80, "1,048,576Ei"),
        (-2048, "-2Ki"),
    ],
)
def test_memory_quantities_are_formatted(amount: int, text: str) -> None:
    assert bytes_text(Decimal(amount)) == text


def test_counts_are_formatted() -> None:
    assert [number_text(Decimal(n)) for n in ("110", "1284", "0.5")] == ["110", "1,284", "0.5"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (8, "8s"),
        (192, "3m12s"),
        (3600, "1h"),
        (7500, "2h5m"),
        (4 * 86400, "4d"),
        (86400 + 60, "1d"),
        (-5, "0s"),
    ],
)
def test_durations_are_formatted(seconds: int, text: str) -> None:
    assert seconds_text(seconds) == text


def test_durations_are_formatted_in_words() -> None:
    assert [duration_text(seconds) for seconds in (3600, 28 * 3600)] == ["1h", "1d 4h"]
    with translation.override("zh-hans"):
        assert duration_text(28 * 3600) == "1 天 4 小时"


def test_link_leads_to_the_page_of_the_object() -> None:
    column = LinkColumn(
        id="x",
        label="X",
        leads_to=("deployments", "nodes"),
        get=same,
        to=lambda ref: target_of(ref, "shop"),
    )
    assert shown(column, "Deployment.apps/web&co") == LinkText("Deployment.apps/web&co", "")
    assert target("Deployment.apps/web&co") == "/clusters/host/projects/shop/deployments/web&co"
    assert target("Node/n-1") == "/clusters/host/nodes/n-1"
    assert target("Job.batch/no/name") == ""
    # Only the cluster has the kinds of custom resources.
    assert target_of("Job.example.org/a", "shop") == LinkTarget("", "shop", "a", "Job.example.org")
    assert target("Job.example.org/a") == ""
    assert target_of("Job.batch/", "shop") is None
    assert target_of("Job.batch/a", "shop") == LinkTarget("jobs", "shop", "a")
    assert column.target(held("Node/n-1")) == LinkTarget("nodes", "", "n-1")
    # A kind that it didn't declare.
    assert column.target(held("Job.batch/a")) is None


def target(reference: str) -> str:
    found = target_of(reference, "shop")
    assert found is not None
    return target_url("host", found)


def test_link_columns_use_existing_lists() -> None:
    for segment in BY_KIND:
        assert kinds.by_segment(segment) is not None, segment


def test_extreme_times_can_be_sorted() -> None:
    column = kinds.by_segment("jobs")
    assert column is not None
    started = column.sortable["started"]
    moments = [datetime(2026, 1, day, tzinfo=UTC) for day in (3, 2, 1)]
    entries: list[Any] = [Held(_Started(moment)) for moment in (None, *moments)]
    found = [entry.projection.started for entry in sorted(entries, key=started.sort_key)]
    assert found == [*moments, None]


@dataclass(frozen=True)
class _Started:
    started: datetime | None


def test_duration_that_has_not_ended_counts_from_its_start() -> None:
    column = ElapsedColumn(id="x", label="X", get=lambda v: v[0], since=lambda v: v[1])
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    assert shown(column, (61, early)) == ElapsedTime("1m1s")
    assert shown(column, (0, early)) == ElapsedTime("0s")
    assert shown(column, (None, early)) == ElapsedTime("", early)
    assert shown(column, (None, None)) == ElapsedTime("")
    values = [(5, early), (61, early), (None, late), (None, early), (None, None)]
    assert ordered(column, values[::-1]) == values
