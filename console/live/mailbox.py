"""What one shared view has not looked at yet.

A mailbox says that keys changed, not how. It is bounded: when more keys changed than it holds it keeps
none of them and says so, and the shared view looks at everything anew. Used on one event loop only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from console.kube.gvr import GVR, Key
from console.live.counters import counters

#: More keys than are ever on one page, so that an overflow means that all of it may have changed.
CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class Mail:
    """`keys`: changed since the last time. `overflow`: too many to name. `state`: freshness or somebody's
    rights changed. `types`: those looked at besides, of which anything changed."""

    keys: frozenset[Key] = frozenset()
    overflow: bool = False
    state: bool = False
    types: frozenset[GVR] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.keys or self.types) or self.overflow or self.state


class Slot(Protocol):
    """Where a feed puts what it has."""

    def mark(self, keys: Iterable[Key]) -> None: ...
    def mark_state(self) -> None: ...
    def overflow(self) -> None: ...


class Mailbox:
    """`ring` is called when there is something to take, once until it is taken."""

    def __init__(self, ring: Callable[[], None], *, capacity: int = CAPACITY) -> None:
        self._ring = ring
        self._capacity = capacity
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._types: set[GVR] = set()
        self._rung = False

    def slot(self, gvr: GVR) -> Slot:
        """For news of a type of which nobody needs to know more than that there are any."""
        return _TypeSlot(self, gvr)

    def mark_type(self, gvr: GVR) -> None:
        self._types.add(gvr)
        self._filled()

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
        mail = Mail(frozenset(self._keys), self._overflow, self._state, frozenset(self._types))
        self._keys.clear()
        self._types.clear()
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


class _TypeSlot:
    def __init__(self, mailbox: Mailbox, gvr: GVR) -> None:
        self._mailbox = mailbox
        self._gvr = gvr

    def mark(self, keys: Iterable[Key]) -> None:
        self._mailbox.mark_type(self._gvr)

    def mark_state(self) -> None:
        self._mailbox.mark_type(self._gvr)

    def overflow(self) -> None:
        self._mailbox.mark_type(self._gvr)
