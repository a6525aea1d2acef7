"""Gaps in drawings that are kept: what differs each time one of them is shown.

That is an age, which changes by itself, what belongs to a single request (its CSRF token, its nonce, its
address), and what changes more often than all around it, as the counts of the menu. None of these is ever
part of what is kept, so none can reach another person.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol


class Lasting(Protocol):
    """Is asked each time it is shown. What it says is for all who are shown the drawing."""

    def html(self, lang: str) -> str:
        """As it is now, in the language that is active."""
        ...


#: The moment that an age counts from; the name of what the request has, as templates write it.
Gap = datetime | str | Lasting

#: Stands where a gap is. Nobody outside of this process knows it, so no text contains it.
_MARK = f"gap-{secrets.token_hex(16)}"
#: Those left so far, in their order; None where nothing is left out.
_left: ContextVar[list[Gap] | None] = ContextVar("left", default=None)


def leave(gap: Gap) -> str | None:
    """What to draw in its place within `gaps`; None elsewhere, where it must be drawn itself."""
    marks = leave_all((gap,))
    return marks[0] if marks else None


def leave_all(several: Sequence[Gap]) -> list[str] | None:
    """What to draw in the place of each, likewise."""
    left = _left.get()
    if left is None:
        return None
    left.extend(several)
    return [_MARK] * len(several)


def leaving() -> bool:
    """True within `gaps`: what is drawn is kept."""
    return _left.get() is not None


@contextmanager
def gaps() -> Iterator[list[Gap]]:
    """What is drawn within leaves gaps. Yields them."""
    left: list[Gap] = []
    token = _left.set(left)
    try:
        yield left
    finally:
        _left.reset(token)


def split_at_gaps(text: str) -> tuple[str, ...]:
    """What stands before, between and after the gaps."""
    return tuple(text.split(_MARK))
