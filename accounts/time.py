"""Current time for account pages and the attempt counter, and parsing of Go durations."""

import re
from datetime import datetime, timedelta

from console.kube.clock import Clock, SystemClock

clock: Clock = SystemClock()
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|h|m|s)"
_WHOLE = re.compile(f"(?:{_PART})+")
_ONE = re.compile(r"([0-9.]+)(ms|h|m|s)")
#: Longer durations are rejected as mistakes.
LONGEST = timedelta(days=366)


def now() -> datetime:
    """Return the current time in UTC."""
    return clock.now()


def monotonic() -> float:
    """Return the seconds of a clock that never goes back."""
    return clock.monotonic()


# Durations in Go's format, which KubeSphere's configuration uses: `2h`, `1h30m`, `10m0s`.


def parse_duration(value: object) -> timedelta:
    """Parse a Go duration. `0` needs no unit.

    Raise ValueError if the text is not a duration or exceeds one year.
    """
    text = str(value)
    if text == "0":
        return timedelta()
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a duration such as 2h or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _ONE.findall(text))
    if seconds > LONGEST.total_seconds():
        raise ValueError(f"{text[:40]!r} is longer than a year")
    return timedelta(seconds=seconds)
