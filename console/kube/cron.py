"""Schedules of CronJobs, with the meaning that Kubernetes' parser (robfig/cron v3) gives them.

It differs from other implementations of cron: Sunday is only 0, a run in the hour that daylight saving
time skips is left out, and a run in the repeated hour takes place twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = re.compile(r"@every ([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
#: Minute, hour, day of the month, month, day of the week: least and largest value, and the names.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: at for at, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: at for at, name in enumerate(_DAYS)}),
)
#: The 29th of February may be eight years away.
_MOST_DAYS = 8 * 366


class ScheduleError(ValueError):
    """The text is not a schedule. `field` is the index of the wrong field, or None."""

    def __init__(self, field: int | None = None) -> None:
        super().__init__(field)
        self.field = field


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of a schedule. `any_day`: a day must match both of its fields, not only one."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool

    def includes(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        matches = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return all(matches) if self.any_day else any(matches)


def parse_schedule(text: str) -> Schedule | None:
    """Return the schedule, or None for `@every`, whose runs depend on the first one. Raise
    `ScheduleError`.
    """
    if _EVERY.fullmatch(text):
        return None
    parts = _DESCRIPTORS.get(text.strip(), text).split()
    if len(parts) != len(_FIELDS):
        raise ScheduleError
    minutes, hours, days, months, weekdays = (_parse(at, part) for at, part in enumerate(parts))
    return Schedule(
        minutes[0], hours[0], days[0], months[0], weekdays[0], any_day=days[1] or weekdays[1]
    )


def next_runs(text: str, zone: tzinfo, now: datetime, count: int) -> list[datetime]:
    """Return the next runs after `now` in a time zone. Raise `ScheduleError`."""
    schedule = parse_schedule(text)
    found: list[datetime] = []
    last: datetime | None = None
    for local in _local_times(schedule, now.astimezone(zone).replace(tzinfo=None)):
        # A repeated hour can put later times before earlier ones.
        if last is not None and local > last + timedelta(hours=2):
            break
        found += [run for run in _instants(local, zone) if run > now]
        if last is None and len(found) >= count:
            last = local
    return [run.astimezone(zone) for run in sorted(found)[:count]]


def _local_times(schedule: Schedule | None, now: datetime) -> Iterator[datetime]:
    """Yield the matching times without a time zone, from the hours before `now`."""
    if schedule is None:
        return
    start, midnight = (
        now - timedelta(hours=2),
        now.replace(hour=0, minute=0, second=0, microsecond=0),
    )
    for offset in range(-1, _MOST_DAYS):
        day = midnight + timedelta(days=offset)
        if not schedule.includes(day):
            continue
        for hour in sorted(schedule.hours):
            for minute in sorted(schedule.minutes):
                local = day.replace(hour=hour, minute=minute)
                if local >= start:
                    yield local


def _instants(local: datetime, zone: tzinfo) -> set[datetime]:
    """Return when a clock in the zone shows the time, in UTC: once, twice or never."""
    found = {local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return {one for one in found if one.astimezone(zone).replace(tzinfo=None) == local}


def _parse(at: int, text: str) -> tuple[frozenset[int], bool]:
    """Return the values of a field, and whether it stands for all values."""
    values: set[int] = set()
    is_any = False
    least, most, names = _FIELDS[at]

    def number(word: str) -> int:
        value = names.get(word.lower(), int(word) if re.fullmatch("[0-9]{1,4}", word) else -1)
        if not least <= value <= most:
            raise ScheduleError(at)
        return value

    for term in text.split(","):
        span, slash, every = term.partition("/")
        first, dash, last = span.partition("-")
        if slash and not re.fullmatch("[0-9]{1,4}", every):
            raise ScheduleError(at)
        step = int(every) if slash else 1
        if span in ("*", "?"):
            start, end = least, most
            is_any = is_any or step == 1
        else:
            start = number(first)
            end = number(last) if dash else most if slash else start
        if step < 1 or start > end:
            raise ScheduleError(at)
        values |= {*range(start, end + 1, step)}
    return frozenset(values), is_any
