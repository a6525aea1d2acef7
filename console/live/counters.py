"""What the connections and live sockets of this process have done, for whoever measures it.

Plain numbers, written on the server's loop alone; reading them from anywhere is harmless.
"""

from dataclasses import dataclass, field

from prometheus_client import Histogram

#: Upper bounds in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


def _flush_seconds() -> Histogram:
    text = "Working out what is new on one shared view."
    return Histogram("quarterdeck_live_flush_seconds", text, buckets=BOUNDS, registry=None)


@dataclass(slots=True)
class Counters:
    """`sockets` are open now; the others grow. `frames` and `bytes` (of UTF-8) left for sockets,
    `refreshes` of them told a browser to fetch its list again. `overflows`: times that more keys
    changed between two flushes than are counted. `slow_closed`: sockets whose client did not read.
    `flush_seconds`: working out what is new on one shared view and handing it to its sockets.

    `connections` are open now; of those that there were too many of `connections_refused` were closed at
    once, and `connections_dropped` gave way to others."""

    connections: int = 0
    connections_refused: int = 0
    connections_dropped: int = 0
    sockets: int = 0
    frames: int = 0
    bytes: int = 0
    overflows: int = 0
    refreshes: int = 0
    slow_closed: int = 0
    flush_seconds: Histogram = field(default_factory=_flush_seconds)


counters = Counters()
