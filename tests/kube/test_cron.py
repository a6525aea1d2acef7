"""Schedules of CronJobs."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from console.kube.cron import ScheduleError, next_runs, parse_schedule

BERLIN = ZoneInfo("Europe/Berlin")


def runs(text: str, now: str, zone: ZoneInfo | None = None, count: int = 3) -> list[str]:
    found = next_runs(text, zone or UTC, datetime.fromisoformat(now).replace(tzinfo=UTC), count)
    return [one.isoformat(timespec="minutes") for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/20 * * * *", ["2026-11-29T17:40", "2026-11-29T18:00", "2026-11-29T18:20"]),
        ("5/30 9-17/8 * * *", ["2026-11-29T17:35", "2026-11-30T09:05", "2026-11-30T09:35"]),
        ("0 3 * * mon-Fri", ["2026-11-30T03:00", "2026-12-01T03:00", "2026-12-02T03:00"]),
        ("0 0 1,15 * *", ["2026-12-01T00:00", "2026-12-15T00:00", "2027-01-01T00:00"]),
        ("@monthly", ["2026-12-01T00:00", "2027-01-01T00:00", "2027-02-01T00:00"]),
        ("0 0 29 FEB ?", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        # One of two restricted days is enough. A step restricts a day, too.
        ("0 0 1 * 3", ["2026-12-01T00:00", "2026-12-02T00:00", "2026-12-09T00:00"]),
        ("0 0 */10 * 2", ["2026-12-01T00:00", "2026-12-08T00:00", "2026-12-11T00:00"]),
        ("0 0 31 2 *", []),
        ("@every 1h30m", []),
    ],
)
def test_the_next_runs_of_a_schedule(text: str, expected: list[str]) -> None:
    assert runs(text, "2026-11-29T17:30:30") == [f"{one}+00:00" for one in expected]


def test_runs_follow_the_clock_of_the_time_zone() -> None:
    assert runs("30 2 * * *", "2026-11-29T00:00", BERLIN)[0] == "2026-11-29T02:30+01:00"
    spring = runs("30 2 * * *", "2027-03-27T00:00", BERLIN)
    assert spring == ["2027-03-27T02:30+01:00", "2027-03-29T02:30+02:00", "2027-03-30T02:30+02:00"]
    autumn = runs("30 2 * * *", "2026-10-24T12:00", BERLIN)
    assert autumn == ["2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", "2026-10-26T02:30+01:00"]


def test_each_minute_of_a_repeated_hour_runs_twice_in_order() -> None:
    found = runs("*/30 * * * *", "2026-10-25T00:00", BERLIN, 4)
    assert found == [
        "2026-10-25T02:30+02:00",
        "2026-10-25T02:00+01:00",
        "2026-10-25T02:30+01:00",
        "2026-10-25T03:00+01:00",
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", None),
        ("* * * *", None),
        ("0 0 0 * * *", None),
        ("@reboot", None),
        ("TZ=UTC 0 0 * * *", None),
        ("60 * * * *", 0),
        ("*/0 * * * *", 0),
        ("* 5-2 * * *", 1),
        ("* * L * *", 2),
        ("* * * foo *", 3),
        ("* * * * 7", 4),
        ("* * * * 1#2", 4),
    ],
)
def test_a_text_that_is_no_schedule_is_reported(text: str, field: int | None) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_schedule(text)
    assert caught.value.field == field
