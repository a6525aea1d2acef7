"""Filters for what a browser without scripts sees: ages and counts. `static/js/ages.js` counts on."""

from datetime import UTC, datetime

from django import template
from django.utils.translation import gettext

register = template.Library()

_STEPS = (60, 3600, 86_400, 365 * 86_400)


@register.filter
def age(since: datetime | None, now: datetime | None = None) -> str:
    """The largest unit alone, cut, never rounded up: 8s, 12m, 3h, 4d, 2y. None is an em dash."""
    if since is None:
        return "—"
    seconds = max(0, int(((now or datetime.now(UTC)) - since).total_seconds()))
    unit = sum(seconds >= step for step in _STEPS)
    number = seconds // (1, *_STEPS)[unit]
    # Translators: ages in seconds, minutes, hours, days, years; the script reads the same text.
    return gettext("{n}s|{n}m|{n}h|{n}d|{n}y").split("|")[unit].replace("{n}", str(number))


@register.filter
def thousands(number: int | None) -> str:
    """12,840 in every language; None is a question mark, for what is not known."""
    return "?" if number is None else f"{number:,}"
