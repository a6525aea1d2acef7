"""Search of audit records: terms, time range, histogram and pages."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import Q

from console.audit import search
from console.audit.search import AuditQuery, Cursor, Search, TimeRange
from console.kube.gvr import PODS, SECRETS
from tests.audit.rows import BEGIN, recorded

pytestmark = pytest.mark.django_db

HOUR = TimeRange(BEGIN, BEGIN + timedelta(hours=1))


def query(text: str = "", span: TimeRange = HOUR) -> AuditQuery:
    found = Search.parse(text)
    assert not found.errors
    return AuditQuery(Q(), found, span)


def names(text: str) -> set[str]:
    return {one.name for one in query(text).page().rows}


@pytest.fixture
def _rows() -> None:
    recorded("web", workspace="shops")
    recorded("web-2", actor="bob", as_user="alice", code=403, minutes=1)
    recorded("db", gvr=SECRETS, verb="reveal", namespace="pay", minutes=2, origin="token")
    recorded("shell", gvr=PODS, verb="create", subresource="exec", code=None, minutes=3)
    recorded("job", cluster="east", source="192.0.2.7", code=500, minutes=4, origin="controller")
    recorded("cli", origin="direct", user_agent="kubectl/v1.34 (linux/amd64)", code=0, minutes=5)


ALL = {"web", "web-2", "db", "shell", "job", "cli"}


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ALL),
        ("user:bob", {"web-2"}),
        ("user:b*", {"web-2"}),
        ("as:alice -user:alice", {"web-2"}),
        ("verb:reveal", {"db"}),
        ("verb:exec", {"shell"}),
        ("kind:deployment", {"web", "web-2", "job", "cli"}),
        ("kind:deployments.apps name:web", {"web"}),
        ("name:web*", {"web", "web-2"}),
        ("project:pay", {"db"}),
        ("workspace:shops", {"web"}),
        ("cluster:east", {"job"}),
        ("result:ok", {"web", "db"}),
        ("result:denied", {"web-2"}),
        ("result:failed", {"web-2", "job"}),
        ("result:unknown", {"cli"}),
        ("result:running", {"shell"}),
        ("-result:ok", ALL - {"web", "db"}),
        ("result:500", {"job"}),
        ("result:nonsense", set()),
        ("via:kubectl", {"cli"}),
        ("via:token", {"db"}),
        ("-via:controller", ALL - {"job"}),
        ("address:192.0.2.*", {"job"}),
        ("WEB", {"web", "web-2"}),
        ('user:alice "web" delete', set()),
        ("id-db", {"db"}),
    ],
)
def test_terms_select_records(text: str, found: set[str]) -> None:
    assert names(text) == found


def test_a_search_is_written_as_it_was_parsed() -> None:
    text = 'user:alice -verb:get name:"a b" word'
    parsed = Search.parse(text)
    assert parsed.text == text
    assert parsed.without(parsed.terms[1]).text == 'user:alice name:"a b" word'
    assert parsed.plus("user:alice").text == '-verb:get name:"a b" word user:alice'


def test_unknown_fields_and_too_long_searches_are_reported() -> None:
    assert "Unknown field usr" in Search.parse("usr:alice").errors[0]
    assert Search.parse("x" * 501).errors
    assert Search.parse(" ".join("abcdefghijklmnopqrstuvwxyz")).errors


def test_pages_contain_every_record_once() -> None:
    for number in range(7):
        recorded(f"web-{number}", minutes=number // 3)
    found, after = [], None
    while True:
        page = query().page(after, size=3)
        found += [one.name for one in page.rows]
        after = page.more
        if after is None:
            break
        assert Cursor.parse(str(after)) == after
    assert found == [f"web-{number}" for number in (6, 5, 4, 3, 2, 1, 0)]


@pytest.mark.parametrize("text", ["", "x", "2026-11-21~1", "2026-11-21T10:00:00+00:00~x"])
def test_invalid_positions_are_ignored(text: str) -> None:
    assert Cursor.parse(text) is None


def test_the_histogram_counts_records_and_failures() -> None:
    for minutes, code in ((0, 200), (0.5, 403), (7, 200), (7, 500), (59, 0)):
        recorded("web", minutes=minutes, code=code)
    recorded("earlier", minutes=-1)
    counted = query().counted()
    assert counted.counted_to is None
    assert len(counted.bars) == 60
    assert {n: (one.total, one.failed) for n, one in enumerate(counted.bars) if one.total} == {
        0: (2, 1),
        7: (2, 1),
        59: (1, 0),
    }
    assert counted.days == {BEGIN.replace(hour=0): 5}


@pytest.mark.parametrize("days", [3, 60, 3000])
def test_bars_and_days_count_every_record_once(days: int) -> None:
    begin = BEGIN - timedelta(days=days)
    span = TimeRange(begin, BEGIN + timedelta(microseconds=1))
    times = [begin + (BEGIN - begin) * number / 40 for number in range(41)]
    for number, time in enumerate(times):
        recorded(f"web-{number}", time=time)
    counted = AuditQuery(Q(), Search.parse(""), span).counted()
    for bar in counted.bars:
        inside = [one for one in times if bar.range.since <= one < bar.range.until]
        assert bar.total == len(inside)
    midnights = [one.replace(hour=0, minute=0, second=0, microsecond=0) for one in times]
    assert counted.days == Counter(midnights)


def test_a_range_with_too_many_bars_is_cut() -> None:
    recorded("web")
    span = TimeRange(BEGIN.replace(year=1990), BEGIN.replace(year=8000))
    counted = AuditQuery(Q(), Search.parse(""), span).counted()
    assert sum(one.total for one in counted.bars) == 1
    assert len(counted.bars) == search.MAX_BARS + 1


@pytest.mark.parametrize(
    ("length", "step"),
    [
        (timedelta(minutes=15), timedelta(seconds=15)),
        (timedelta(hours=24), timedelta(minutes=30)),
        (timedelta(days=3), timedelta(hours=1)),
        (timedelta(days=30), timedelta(hours=12)),
        (timedelta(days=3000), timedelta(days=90)),
    ],
)
def test_the_step_of_the_histogram_fits_the_range(length: timedelta, step: timedelta) -> None:
    span = TimeRange(BEGIN, BEGIN + length)
    assert span.step == step
    assert len(span.bars()) <= search.MAX_BARS + 1


def test_a_search_without_index_stops_and_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SCANNED", 3)
    for number in range(8):
        recorded(f"web-{number}", actor="bob" if number == 0 else "alice", minutes=number)
    found = query("verb:delete 192").page()
    assert (found.rows, found.more) == ([], None)
    assert found.searched_to == BEGIN + timedelta(minutes=4)
    # Terms with an index are searched in the whole range.
    assert [one.name for one in query("user:bob").page().rows] == ["web-0"]
    assert query("user:bob").page().searched_to is None
