"""Placeholders in cached fragments, filled in each time a fragment is shown.

Placeholders stand for ages, for values of a single request (CSRF token, nonce, URL), and for
values that change more often than the rest of the fragment, such as counts in the menu. These
values are never cached, so they can't leak to another user.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol


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
    """Register a placeholder and return its marker. Return None outside of a `collect_placeholders` block, where
    the caller must render the value itself.
    """
    marks = add_placeholders((gap,))
    return marks[0] if marks else None


def add_placeholders(several: Sequence[Placeholder]) -> list[str] | None:
    """Register several placeholders and return their markers, or None outside of a `collect_placeholders` block."""
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
