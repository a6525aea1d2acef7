"""LRU caches whose values are created on first use."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from threading import Lock
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Sized)
T = TypeVar("T")

#: The caches of the process by their name in the metrics.
caches: "dict[str, LruCache[Any, Any]]" = {}


class LruCache(Generic[K, V]):
    """LRU cache with limits for the number of values, their total length and their idle time.

    It holds at most `places` values with a total `len()` of at most `room`, and drops values
    that were not used for `idle` seconds. The idle limit is enforced on each lookup, and the
    other limits when a value is added. Caches with a `name` are in the metrics. Thread-safe.
    """

    def __init__(
        self,
        *,
        places: int,
        room: int,
        idle: float,
        clock: Callable[[], float] = time.monotonic,
        name: str = "",
    ) -> None:
        if name:
            caches[name] = self
        self._places, self._room, self._idle = places, room, idle
        self._clock = clock
        self._lock = Lock()
        # Values in order of use, least recent first, with the time of the last use.
        self._kept: OrderedDict[K, tuple[V, float]] = OrderedDict()
        # No value exceeds its idle time before this moment. Saves the check, because a page makes
        # many lookups.
        self._fresh_until = 0.0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def length(self) -> int:
        """The total length of the values."""
        with self._lock:
            return sum(len(value) for value, _asked in self._kept.values())

    def find(self, key: K) -> V | None:
        """Return the cached value of a key, or None. Does not evict values."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept[key] = found[0], self._clock()
            self._kept.move_to_end(key)
            return found[0]

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, creating it with `make` if necessary. `make` must be fast,
        because it holds the lock.
        """
        with self._lock:
            now = self._clock()
            found = self._kept.pop(key, None)
            value = make() if found is None else found[0]
            if found is None or now > self._fresh_until:
                self._evict(now, adding=found is None)
            self._kept[key] = value, now
            return value

    def _evict(self, now: float, *, adding: bool) -> None:
        """Evict idle values, and make room for a new value if `adding`. Lengths are measured now,
        because values can grow.
        """
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


class WeightedLruCache(Generic[K, T]):
    """LRU cache with a limit for the total weight of its values, for immutable values.

    `weigh` is called once per value. Thread-safe: two threads may create the same value
    concurrently.
    """

    def __init__(self, room: int, weigh: Callable[[T], int]) -> None:
        self._room, self._weigh = room, weigh
        self._lock = Lock()
        # Values in order of use, least recent first, with their weights.
        self._kept: OrderedDict[K, tuple[T, int]] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K, make: Callable[[], T]) -> T:
        """Return the value of a key, creating it with `make` if necessary. `make` can use the cache
        recursively.
        """
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
