"""Interning: share one object in memory among equal values.

Used by decoders, which run on one thread. Both classes clear themselves when they grow too
large, which only costs memory savings.
"""

from collections.abc import Hashable
from typing import TypeVar, cast

T = TypeVar("T", bound=Hashable)

_LIMIT = 50_000


class InternPool:
    """Return the first of equal values."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._known: dict[Hashable, Hashable] = {}

    def intern(self, value: T) -> T:
        """Return the shared value that equals `value`."""
        if len(self._known) >= self._limit:
            self._known = {}
        return cast(T, self._known.setdefault(value, value))


class LabelInterner:
    """Share the labels of consecutive objects with the same owner.

    Replicas have the same labels. Looking them up by owner requires no key made of the labels,
    which would cost more than it saves for labels that are not shared.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._known: dict[str, dict[str, str]] = {}

    def intern(self, owner: str, labels: dict[str, str]) -> dict[str, str]:
        """Return `labels` or equal shared ones. The result must not be modified. An empty `owner`
        shares nothing.
        """
        known = self._known.get(owner)
        if known == labels:
            return known
        if owner:
            if len(self._known) >= self._limit:
                self._known = {}
            self._known[owner] = labels
        return labels
