"""What one screen has not looked at yet.

A mailbox says that keys changed, not how. It is bounded: when more keys changed than it holds it keeps
none of them and says so, and the screen looks at everything anew. Used on one event loop only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from console.kube.gvr import Key
from console.live.counters import counters

#: More keys than are ever on one page, so that an overflow means that all of it may have changed.
CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class Mail:
    """`keys`: changed since the last time. `overflow`: too many to name. `state`: freshness or somebody's
    rights changed."""

    keys: frozenset[Key] = frozenset()
    overflow: bool = False
    state: bool = False

    def __bool__(self) -> bool:
        return bool(self.keys) or self.overflow or self.state


class Mailbox:
    """`ring` is called when there is something to take, once until it is taken."""

    def __init__(self, ring: Callable[[], None], *, capacity: int = CAPACITY) -> None:
        self._ring = ring
        self._capacity = capacity
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._rung = False

    def mark(self, keys: Iterable[Key]) -> None:
        if not self._overflow:
            self._keys.update(keys)
            if len(self._keys) > self._capacity:
                self._overflowed()
        self._filled()

    def mark_state(self) -> None:
        self._state = True
        self._filled()

    def overflow(self) -> None:
        if not self._overflow:
            self._overflowed()
        self._filled()

    def take(self) -> Mail:
        """Everything since the last call."""
        mail = Mail(frozenset(self._keys), self._overflow, self._state)
        self._keys.clear()
        self._overflow = self._state = self._rung = False
        return mail

    def _overflowed(self) -> None:
        self._overflow = True
        self._keys.clear()
        counters.overflows += 1

    def _filled(self) -> None:
        if not self._rung:
            self._rung = True
            self._ring()
