"""What the live sockets of this process have done, for whoever measures it.

Plain numbers, written on the server's loop alone; reading them from anywhere is harmless.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

#: Upper bounds in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Durations:
    """How long something took, as a histogram with fixed bounds."""

    def __init__(self, bounds: tuple[float, ...] = BOUNDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.count = 0
        self.sum = 0.0
        self.max = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.count += 1
        self.sum += seconds
        self.max = max(self.max, seconds)

    @property
    def buckets(self) -> tuple[tuple[float, int], ...]:
        """Per upper bound, how many took at most that long; the last bound is infinity."""
        bounds = (*self._bounds, float("inf"))
        return tuple(zip(bounds, accumulate(self._counts), strict=True))


@dataclass(slots=True)
class Counters:
    """`sockets` are open now; the others grow. `frames` and `bytes` (of UTF-8) left for sockets,
    `refreshes` of them told a browser to fetch its list again. `overflows`: times that more keys
    changed between two flushes than are counted. `slow_closed`: sockets whose client did not read.
    `flush_seconds`: working out what is new on one screen and handing it to its sockets."""

    sockets: int = 0
    frames: int = 0
    bytes: int = 0
    overflows: int = 0
    refreshes: int = 0
    slow_closed: int = 0
    flush_seconds: Durations = field(default_factory=Durations)


counters = Counters()
