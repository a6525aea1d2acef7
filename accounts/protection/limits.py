"""Limits for failed sign-in attempts and retention of LoginRecords.

The fields are those of KubeSphere's `authentication` configuration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from accounts.time import parse_duration

#: Attempts per address, as a multiple of the attempts per user, because users can share an address.
ADDRESS_SHARE = 10

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for sign-in attempts and LoginRecords. Defaults are those of KubeSphere's installer.

    `tries` failures within `duration` lock the user for `duration`. LoginRecords are kept for
    `history`, and at most `entries` per user.
    """

    tries: int = 10
    duration: timedelta = timedelta(minutes=10)
    history: timedelta = timedelta(days=7)
    entries: int = 100

    @property
    def address_tries(self) -> int:
        return self.tries * ADDRESS_SHARE


DEFAULTS = Limits()


def read_limits(raw: Mapping[str, Any], note: Note) -> Limits:
    """Read the limits from the configuration. Invalid values are reported to `note` and replaced by
    defaults.

    `entries` is at least `tries`, because the lock counts LoginRecords.
    """
    tries = _number(raw, "authenticateRateLimiterMaxTries", DEFAULTS.tries, note)
    return Limits(
        tries=tries,
        duration=_duration(raw, "authenticateRateLimiterDuration", DEFAULTS.duration, note),
        history=_duration(raw, "loginHistoryRetentionPeriod", DEFAULTS.history, note),
        entries=max(tries, _number(raw, "loginHistoryMaximumEntries", DEFAULTS.entries, note)),
    )


def _number(raw: Mapping[str, Any], name: str, default: int, note: Note) -> int:
    value = raw.get(name, default)
    if type(value) is int and 0 < value <= 10_000:
        return value
    note(f"{name} must be a number from 1 to 10000, not {str(value)[:40]!r}")
    return default


def _duration(raw: Mapping[str, Any], name: str, default: timedelta, note: Note) -> timedelta:
    try:
        found = parse_duration(raw[name]) if name in raw else default
        if found:
            return found
        note(f"{name} must be greater than zero")
    except ValueError as error:
        note(f"{name}: {error}")
    return default
