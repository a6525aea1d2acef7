"""Pending changes of a shared view.

A mailbox records the keys that changed, not the changes. It is bounded: if more keys change than
its capacity, it drops them and sets the overflow flag, and the shared view reads everything
again. A mailbox is only used on one event loop.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from console.kube.gvr import GVR, Key
from console.live.counters import counters

#: More keys than any page shows, so an overflow means that the whole page may have changed.
CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class Mail:
    """Content of a mailbox.

    - `keys`: keys that changed since the last call of `take`.
    - `overflow`: too many keys changed.
    - `state`: freshness or permissions changed.
    - `types`: other resource types the view depends on, of which an object changed.
    """

    keys: frozenset[Key] = frozenset()
    overflow: bool = False
    state: bool = False
    types: frozenset[GVR] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.keys or self.types) or self.overflow or self.state


class ChangeReceiver(Protocol):
    """Receiver of a feed's changes."""

    def mark(self, keys: Iterable[Key]) -> None: ...
    def mark_state(self) -> None: ...
    def overflow(self) -> None: ...


class Mailbox:
    """Pending changes. `ring` is called once when the mailbox becomes non-empty."""

    def __init__(self, ring: Callable[[], None], *, capacity: int = CAPACITY) -> None:
        self._ring = ring
        self._capacity = capacity
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._types: set[GVR] = set()
        self._rung = False

    def slot(self, gvr: GVR) -> ChangeReceiver:
        """Return a receiver that only records that objects of a type have changed."""
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
        """Return all changes since the last call."""
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
