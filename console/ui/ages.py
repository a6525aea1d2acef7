"""How long ago something was, for people.

An age is the one thing on a page that changes by itself: drawings that are kept have gaps for theirs.
"""

from datetime import UTC, datetime
from functools import lru_cache

from django.utils.translation import get_language, gettext

from console.ui.amounts import seconds_parts
from console.ui.gaps import leave

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400
#: Different ages that are kept in words; a list has one or two for each row.
KEPT = 4000


def age_text(since: datetime, now: datetime | None = None) -> str:
    """The largest unit alone, cut, never rounded up: 8s, 12m, 3h, 4d, 2y. Within `gaps` a gap."""
    return leave(since) or age_between(since, now or present(), get_language() or "")


def present() -> datetime:
    return datetime.now(UTC)


def age_between(since: datetime, now: datetime, lang: str) -> str:
    """The same where the time and the language are known: `lang` is the one that is active."""
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


def length_text(seconds: int) -> str:
    """A length of time in its two largest units, in the language that is active."""
    lang = get_language() or ""
    return " ".join(_words(n, "smhd".index(unit), lang) for n, unit in seconds_parts(seconds))


@lru_cache(KEPT)
def _words(number: int, unit: int, lang: str) -> str:
    # Translators: ages in seconds, minutes, hours, days, years; the script reads the same text.
    return gettext("{n}s|{n}m|{n}h|{n}d|{n}y").split("|")[unit].replace("{n}", str(number))
