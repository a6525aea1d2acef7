"""Things that are made when they are first asked for, and kept while they are in use."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Sized)
T = TypeVar("T")


class Shelf(Generic[K, V]):
    """Keeps at most `places` things, no longer together than `room`, and none that nobody asked for in
    `idle` seconds. What was asked for last stays longest. Whenever something is asked for it lets go of
    what is overdue, and when something is added of what is too much. Any thread may ask.
    """

    def __init__(
        self, *, places: int, room: int, idle: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._places, self._room, self._idle = places, room, idle
        self._clock = clock
        self._lock = Lock()
        # The least recently asked for first, each with the time at which it was.
        self._kept: OrderedDict[K, tuple[V, float]] = OrderedDict()
        # Until then nothing is overdue: it is asked for many times a page, and only then looked at.
        self._fresh_until = 0.0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: K) -> V | None:
        """The one of this key if it is kept. Nothing is let go of."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept[key] = found[0], self._clock()
            self._kept.move_to_end(key)
            return found[0]

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The one of this key. `make` must be quick: others wait for it."""
        with self._lock:
            now = self._clock()
            found = self._kept.pop(key, None)
            value = make() if found is None else found[0]
            if found is None or now > self._fresh_until:
                self._tidy(now, adding=found is None)
            self._kept[key] = value, now
            return value

    def _tidy(self, now: float, *, adding: bool) -> None:
        """Makes a place if one is needed. What grew since it was put here is weighed as it is now."""
        length = sum(len(value) for value, _asked in self._kept.values())
        while self._kept:
            crowded = adding and (len(self._kept) >= self._places or length > self._room)
            _value, asked = next(iter(self._kept.values()))
            self._fresh_until = asked + self._idle
            if not crowded and now <= self._fresh_until:
                return
            _key, (value, _asked) = self._kept.popitem(last=False)
            length -= len(value)
        self._fresh_until = now + self._idle


class Weighed(Generic[K, T]):
    """Keeps what was asked for last, together no heavier than `room`, for things that stay as they are.
    `weigh` is asked once of each. Any thread may ask; at worst two make the same at once.
    """

    def __init__(self, room: int, weigh: Callable[[T], int]) -> None:
        self._room, self._weigh = room, weigh
        self._lock = Lock()
        # The least recently asked for first, each with its weight.
        self._kept: OrderedDict[K, tuple[T, int]] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K, make: Callable[[], T]) -> T:
        """The one of this key. `make` may ask for others."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]
        value = make()
        weight = self._weigh(value)
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = value, weight
            self.weight += weight - (before[1] if before is not None else 0)
            while self.weight > self._room:
                _key, (_value, gone) = self._kept.popitem(last=False)
                self.weight -= gone
        return value

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.weight = 0
