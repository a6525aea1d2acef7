"""Validated timestamps from objects.

Some are written by tenants, others contain Go's zero time. Years that a time zone conversion
could move out of Python's range are treated as missing.
"""

from datetime import UTC, datetime

_FIRST, _LAST = 1970, 9000


def valid_time(value: datetime | None) -> datetime | None:
    """Return `value` in UTC, or None if it is missing or implausible."""
    if value is None or not _FIRST < value.year < _LAST:
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def seconds_between(start: datetime | None, end: datetime | None) -> int | None:
    """Return the whole seconds from `start` to `end`, at least 0, or None if either time is None."""
    if start is None or end is None:
        return None
    return max(0, int((end - start).total_seconds()))
