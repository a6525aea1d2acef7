"""Counters of this process's connections and live websockets, for the metrics endpoint.

Plain numbers that are only written on the server's event loop. They may be read from any thread.
"""

from dataclasses import dataclass, field

from prometheus_client import Histogram

#: Upper bounds of histogram buckets in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


def _flush_seconds() -> Histogram:
    text = "Time to compute and queue the frames of a shared view."
    return Histogram("quarterdeck_live_flush_seconds", text, buckets=BOUNDS, registry=None)


@dataclass(slots=True)
class Counters:
    """Gauges `sockets` and `connections` (currently open) and monotonic counters.

    - `frames`, `bytes`: sent frames and their size in UTF-8.
    - `refreshes`: frames that asked a browser to fetch its page again.
    - `overflows`: mailboxes that received more keys between two flushes than their capacity.
    - `slow_closed`: connections closed because the client did not read.
    - `flush_seconds`: time to compute the frames of a shared view and queue them for its
      connections.
    - `connections_refused`: connections closed immediately because a limit was reached.
    - `connections_dropped`: idle connections closed to admit a new connection.
    """

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
