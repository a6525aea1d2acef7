"""Moments that objects tell: in UTC, and such that any clock of the world can show them.

Tenants write some of them themselves, and Go's zero time stands in others. Years that a time zone could
push out of Python's calendar are no moments.
"""

from datetime import UTC, datetime

_FIRST, _LAST = 1970, 9000


def moment(value: datetime | None) -> datetime | None:
    """`value` in UTC; None for none, and for what nobody can have meant."""
    if value is None or not _FIRST < value.year < _LAST:
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def seconds_between(start: datetime | None, end: datetime | None) -> int | None:
    """Whole seconds, never less than 0; None if either is not known."""
    if start is None or end is None:
        return None
    return max(0, int((end - start).total_seconds()))
