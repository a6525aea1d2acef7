"""Placeholders in cached fragments, filled in each time a fragment is shown, and large parts of
pages.

Placeholders stand for ages, for values of a single request (CSRF token, nonce, URL), and for
values that change more often than the rest of the fragment, such as counts in the menu. These
values are never cached, so they can't leak to another user. Large parts are encoded separately
from the page around them.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from console.ui.core.amounts import seconds_parts


class LivePlaceholder(Protocol):
    """A placeholder that is rendered each time. Its content must be suitable for all users of the
    fragment.
    """

    def html(self, lang: str) -> str:
        """Return the current content in the active language."""
        ...


#: The start time of an age, the name of a request value in templates, or a `LivePlaceholder`.
Placeholder = datetime | str | LivePlaceholder

#: Marks a placeholder in rendered HTML. It is random, so that no other text can contain it.
_MARK = f"gap-{secrets.token_hex(16)}"
#: The placeholders so far, in order, or None outside of a `collect_placeholders` block.
_left: ContextVar[list[Placeholder] | None] = ContextVar("left", default=None)


def placeholder(gap: Placeholder) -> str | None:
    """Register a placeholder and return its marker. Return None outside of a `collect_placeholders`
    block, where the caller must render the value itself.
    """
    marks = add_placeholders((gap,))
    return marks[0] if marks else None


def add_placeholders(several: Sequence[Placeholder]) -> list[str] | None:
    """Register several placeholders and return their markers, or None outside of a
    `collect_placeholders` block.
    """
    left = _left.get()
    if left is None:
        return None
    left.extend(several)
    return [_MARK] * len(several)


def in_cached_fragment() -> bool:
    """Return True inside a `collect_placeholders` block, where the output is cached."""
    return _left.get() is not None


@contextmanager
def collect_placeholders() -> Iterator[list[Placeholder]]:
    """Collect placeholders while rendering inside the block. Yield the list of placeholders."""
    left: list[Placeholder] = []
    token = _left.set(left)
    try:
        yield left
    finally:
        _left.reset(token)


def split_at_placeholders(text: str) -> tuple[str, ...]:
    """Return the text before, between and after the placeholders."""
    return tuple(text.split(_MARK))


#: Marks the position of a part. The random value ensures that no other text contains the marker.
_PART_MARK = f"aside-{secrets.token_hex(16)}"
#: Parts of the page that is being rendered, in order.
_aside: ContextVar[list[str] | None] = ContextVar("aside", default=None)


def streamed_part(html: SafeString) -> SafeString:
    """Return a marker for `html` while `render_page` renders, or `html` unchanged in a cached
    fragment.
    """
    aside = _aside.get()
    if aside is None or in_cached_fragment():
        return html
    aside.append(html)
    return SafeString(_PART_MARK)


def render_page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> bytes:
    """Return the encoded response content, equal to the output of `render`."""
    aside: list[str] = []
    token = _aside.set(aside)
    try:
        around = render_to_string(template, context, request)
    finally:
        _aside.reset(token)
    pieces = [b""] * (2 * len(aside) + 1)
    pieces[::2] = [text.encode() for text in around.split(_PART_MARK)]
    pieces[1::2] = [text.encode() for text in aside]
    return b"".join(pieces)


_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400
#: Number of formatted ages to cache. A list has one or two per row.
CACHE_SIZE = 4000


def age_text(since: datetime, now: datetime | None = None) -> str:
    """Return the age in its largest unit, rounded down: 8s, 12m, 3h, 4d, 2y. Inside a
    `collect_placeholders` block, return a placeholder.
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
