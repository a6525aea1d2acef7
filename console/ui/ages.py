"""Human-readable ages.

Ages are the only part of a page that changes without an event, so cached fragments contain
placeholders for them.
"""

from datetime import UTC, datetime
from functools import lru_cache

from django.utils.translation import get_language, gettext

from console.ui.amounts import seconds_parts
from console.ui.gaps import placeholder

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400
#: Number of formatted ages to cache. A list has one or two per row.
CACHE_SIZE = 4000


def age_text(since: datetime, now: datetime | None = None) -> str:
    """Return the age in its largest unit, rounded down: 8s, 12m, 3h, 4d, 2y. Inside a `gaps` block,
    return a placeholder.
    """
    return placeholder(since) or age_between(since, now or utc_now(), get_language() or "")


def utc_now() -> datetime:
    return datetime.now(UTC)


def age_between(since: datetime, now: datetime, lang: str) -> str:
    """Return the time from `since` to `now` like `age_text`. `lang` must be the active language."""
    seconds = int((now - since).total_seconds())
    if seconds < _MINUTE:
        return _words(max(0, seconds), 0, lang)
    if seconds < _HOUR:
        return _words(seconds // _MINUTE, 1, lang)
    if seconds < _DAY:
        return _words(seconds // _HOUR, 2, lang)
    if seconds < _YEAR:
        return _words(seconds // _DAY, 3, lang)
    return _words(seconds // _YEAR, 4, lang)


def duration_text(seconds: int) -> str:
    """Return a duration in its two largest units, in the active language."""
    lang = get_language() or ""
    return " ".join(_words(n, "smhd".index(unit), lang) for n, unit in seconds_parts(seconds))


@lru_cache(CACHE_SIZE)
def _words(number: int, unit: int, lang: str) -> str:
    # Translators: ages in seconds, minutes, hours, days, years; the script reads the same text.
    return gettext("{n}s|{n}m|{n}h|{n}d|{n}y").split("|")[unit].replace("{n}", str(number))
