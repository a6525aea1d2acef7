"""How long ago something was, for people; and places for it in drawings that are kept.

An age is the one thing on a page that changes by itself. A drawing that is kept has places for its ages,
which are filled in each time it is used.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from django.utils.translation import gettext

_STEPS = (60, 3600, 86_400, 365 * 86_400)
#: Stands where an age belongs. Nobody outside of this process knows it, so no text contains it.
_PLACE = f"age-{secrets.token_hex(16)}"
#: The moments whose ages are left out, in their order; None where ages are drawn.
_left_out: ContextVar[list[datetime] | None] = ContextVar("left_out", default=None)


def age_text(since: datetime, now: datetime | None = None) -> str:
    """The largest unit alone, cut, never rounded up: 8s, 12m, 3h, 4d, 2y. Within `places` a place."""
    moments = _left_out.get()
    if moments is not None:
        moments.append(since)
        return _PLACE
    seconds = max(0, int(((now or datetime.now(UTC)) - since).total_seconds()))
    unit = sum(seconds >= step for step in _STEPS)
    number = seconds // (1, *_STEPS)[unit]
    # Translators: ages in seconds, minutes, hours, days, years; the script reads the same text.
    return gettext("{n}s|{n}m|{n}h|{n}d|{n}y").split("|")[unit].replace("{n}", str(number))


@contextmanager
def places() -> Iterator[list[datetime]]:
    """Ages that are drawn within are left out. Yields the moments that they count from."""
    moments: list[datetime] = []
    token = _left_out.set(moments)
    try:
        yield moments
    finally:
        _left_out.reset(token)


def split_at_places(text: str) -> tuple[str, ...]:
    """What stands before, between and after the places."""
    return tuple(text.split(_PLACE))
