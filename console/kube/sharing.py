"""One object in memory for many equal values.

Used by decoders, which run on one thread. Both forget everything when they hold too much, which costs
room and nothing else.
"""

from collections.abc import Hashable
from typing import TypeVar, cast

T = TypeVar("T", bound=Hashable)

_LIMIT = 50_000


class Pool:
    """Keeps the first of equal values."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._known: dict[Hashable, Hashable] = {}

    def one(self, value: T) -> T:
        """A value equal to this one, the same as before if there was one."""
        if len(self._known) >= self._limit:
            self._known = {}
        return cast(T, self._known.setdefault(value, value))


class Last:
    """Per owner the last labels seen, shared with the next object of it that has the same.

    Replicas have the same labels. Looking them up by their owner costs no key of their own, which for
    labels that nobody shares would be larger than what it saves.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._known: dict[str, dict[str, str]] = {}

    def one(self, owner: str, labels: dict[str, str]) -> dict[str, str]:
        """`labels`, or equal ones, which nobody may change. An `owner` of "" shares nothing."""
        known = self._known.get(owner)
        if known == labels:
            return known
        if owner:
            if len(self._known) >= self._limit:
                self._known = {}
            self._known[owner] = labels
        return labels
