"""How much memory streams may hold: each says how much it needs at most, before it is opened.

What a stream holds is bounded by back-pressure (`console.streams.stream`), so that a number of bytes for
each of them is a limit for a user and for the process as well.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from django.utils.translation import gettext as _

from console.ui.decisions import Refused

#: Bytes that the streams of one user may hold together, and those of the process.
USER, PROCESS = 64 * 2**20, 512 * 2**20


class TooMany(Refused):
    page_code: ClassVar[int] = 429


class Places:
    """Used on one event loop only."""

    def __init__(self, user: int = USER, process: int = PROCESS) -> None:
        self._user, self._process = user, process
        self._taken: Counter[str] = Counter()

    @contextmanager
    def take(self, account: str, size: int) -> Iterator[None]:
        """For as long as the block lasts. Raises `TooMany`."""
        if self._taken[account] + size > self._user or self._taken.total() + size > self._process:
            raise TooMany(_("Too many logs and terminals are open. Close some of them."))
        self._taken[account] += size
        try:
            yield
        finally:
            self._taken[account] -= size
            if not self._taken[account]:
                del self._taken[account]

    def taken(self, account: str) -> int:
        return self._taken[account]


places = Places()
