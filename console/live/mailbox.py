"""What one socket has not looked at yet.

A mailbox says that keys changed, not how. It is bounded: when more keys changed than it holds it keeps
none of them and says so, and the socket looks at everything anew. Used on one event loop only.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from console.kube.gvr import Key

#: More keys than are ever on one page, so that an overflow means that all of it may have changed.
CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class Mail:
    """`keys`: changed since the last time. `overflow`: too many to name. `state`: freshness or somebody's
    rights changed."""

    keys: frozenset[Key]
    overflow: bool
    state: bool

    def __bool__(self) -> bool:
        return bool(self.keys) or self.overflow or self.state


class Mailbox:
    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._keys: set[Key] = set()
        self._overflow = False
        self._state = False
        self._filled = asyncio.Event()

    def mark(self, keys: Iterable[Key]) -> None:
        if not self._overflow:
            self._keys.update(keys)
        if len(self._keys) > self._capacity:
            self._overflow = True
            self._keys.clear()
        self._filled.set()

    def mark_state(self) -> None:
        self._state = True
        self._filled.set()

    def overflow(self) -> None:
        self._overflow = True
        self._keys.clear()
        self._filled.set()

    async def wait(self) -> None:
        """Returns as soon as there is something to take."""
        await self._filled.wait()

    def take(self) -> Mail:
        """Everything since the last call."""
        mail = Mail(frozenset(self._keys), self._overflow, self._state)
        self._keys.clear()
        self._overflow = self._state = False
        self._filled.clear()
        return mail
