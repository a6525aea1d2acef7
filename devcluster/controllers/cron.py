"""Cron schedules in UTC.

https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
"""

from datetime import UTC, datetime, timedelta

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
# Search limit in minutes for a schedule that matches no day (such as 31 February).
_MOST = 60 * 24 * 366 * 4


def next_time(schedule: str, after: datetime) -> datetime | None:
    """Return the first matching minute after `after`, or None if no time matches or the schedule is
    invalid.
    """
    parts = _WORDS.get(schedule, schedule).split()
    if len(parts) != len(_RANGES):
        return None
    try:
        minutes, hours, days, months, weekdays = map(_values, parts, _RANGES)
    except ValueError:
        return None
    any_day, any_weekday = parts[2] == "*", parts[4] == "*"
    moment = after.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    end = moment + timedelta(minutes=_MOST)
    while moment < end:
        day, weekday = moment.day in days, moment.isoweekday() % 7 in weekdays
        fits = (day or weekday) if not any_day and not any_weekday else (day and weekday)
        if moment.month not in months or not fits:
            moment = moment.replace(hour=0, minute=0) + timedelta(days=1)
        elif moment.hour not in hours:
            moment = moment.replace(minute=0) + timedelta(hours=1)
        elif moment.minute not in minutes:
            moment += timedelta(minutes=1)
        else:
            return moment
    return None


def _values(text: str, allowed: tuple[int, int]) -> frozenset[int]:
    """Return the numbers of a field such as `*`, `5`, `1-5`, `*/15` or `1,2`. Raise ValueError if
    malformed.
    """
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span in ("*", "?"):
            low, high = allowed
        else:
            low = int(first)
            high = int(last) if dash else (allowed[1] if step else low)
        if not allowed[0] <= low <= high <= allowed[1] + (allowed == (0, 6)):
            raise ValueError(text)
        # Sunday can be 0 or 7.
        size = 7 if allowed == (0, 6) else high + 1
        found.update(number % size for number in range(low, high + 1, int(step or 1)))
    return frozenset(found)
