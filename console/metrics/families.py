"""Every metric of the console. No label names a tenant, a user, an object or an address."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from console.kube.figures import Figures, figures_of
from console.live.counters import Counters, Durations, counters
from console.metrics import process
from console.metrics.controllers import controller_families
from console.metrics.exposition import Family
from console.metrics.requests import Requests, requests
from console.ui.clusters import Cluster, clusters

_Value = Callable[[Figures], float | None]

#: Name, kind, help and value of what is known of each kind. None: no sample.
_CACHE: Sequence[tuple[str, str, str, _Value]] = (
    ("objects", "gauge", "Objects in the cache.", lambda f: f.objects),
    ("bytes", "gauge", "Bytes of the compressed originals.", lambda f: f.bytes),
    ("synced", "gauge", "1 once a list has arrived.", lambda f: f.freshness.synced),
    ("stale", "gauge", "1 while not followed.", lambda f: f.freshness.stale_since is not None),
    ("lag_seconds", "gauge", "Seconds since the last proof that it is current.", lambda f: f.lag),
    ("events_total", "counter", "Watch events applied.", lambda f: f.events),
    ("undecodable_total", "counter", "Objects left out: unreadable.", lambda f: f.undecodable),
    ("relists_total", "counter", "Lists after the first.", lambda f: f.relists),
    ("watch_restarts_total", "counter", "Watches after the first.", lambda f: f.restarts),
    ("listeners", "gauge", "Who is told of changes.", lambda f: f.listeners),
    (
        "listener_failures_total",
        "counter",
        "Listeners that failed and were dropped.",
        lambda f: f.listener_failures,
    ),
)
_LIVE: Sequence[tuple[str, str, str, Callable[[Counters], float]]] = (
    ("sockets", "gauge", "Live sockets that are open.", lambda c: c.sockets),
    ("frames_total", "counter", "Frames sent to browsers.", lambda c: c.frames),
    ("bytes_total", "counter", "Bytes of these frames.", lambda c: c.bytes),
    (
        "mailbox_overflows_total",
        "counter",
        "Times that more changed between two flushes than is counted.",
        lambda c: c.overflows,
    ),
    ("refreshes_total", "counter", "Browsers told to fetch a list again.", lambda c: c.refreshes),
    ("slow_closed_total", "counter", "Sockets closed: not reading.", lambda c: c.slow_closed),
)


def all_families() -> list[Family]:
    """Those of this process now."""
    return [
        *cache_families({cluster.name: _figures(cluster) for cluster in clusters}),
        *live_families(counters),
        *request_families(requests),
        *controller_families(),
        *process_families(),
    ]


def _figures(cluster: Cluster) -> list[Figures]:
    runtime, now = cluster.runtime, datetime.now(UTC)
    return figures_of(runtime.informers(), answered=runtime.answered, now=now)


def cache_families(figures: Mapping[str, Iterable[Figures]]) -> Iterator[Family]:
    """Of each cluster, by its name."""
    ordered = [
        (name, item)
        for name, items in figures.items()
        for item in sorted(items, key=lambda item: item.gvr)
    ]
    for name, kind, text, value_of in _CACHE:
        family = Family(f"quarterdeck_cache_{name}", kind, text)
        for cluster, item in ordered:
            value = value_of(item)
            if value is not None:
                labels = {"cluster": cluster, **asdict(item.gvr)}
                family.add(value, **labels)
        yield family


def live_families(found: Counters) -> Iterator[Family]:
    for name, kind, text, value_of in _LIVE:
        yield Family(f"quarterdeck_live_{name}", kind, text).add(value_of(found))
    text = "Working out what is new on one screen."
    flushes = Family("quarterdeck_live_flush_seconds", "histogram", text)
    yield _observed(flushes, found.flush_seconds)


def request_families(found: Requests) -> Iterator[Family]:
    answered = Family("quarterdeck_http_requests_total", "counter", "Requests answered.")
    for (route, status), count in sorted(found.answered.items()):
        answered.add(count, route=route, status=status)
    yield answered
    text = "Time until a response was made, by route."
    seconds = Family("quarterdeck_http_render_seconds", "histogram", text)
    for route, durations in sorted(found.seconds.items()):
        _observed(seconds, durations, route=route)
    yield seconds


def process_families() -> Iterator[Family]:
    """By the names that all Prometheus clients use."""
    memory = Family("process_resident_memory_bytes", "gauge", "Memory in RAM.")
    yield memory.add(process.resident_bytes())
    spent = Family("process_cpu_seconds_total", "counter", "CPU time.")
    yield spent.add(process.cpu_seconds())
    started = Family("process_start_time_seconds", "gauge", "Start, in seconds since 1970.")
    yield started.add(process.started_at())


def _observed(family: Family, durations: Durations, **labels: str) -> Family:
    return family.add_histogram(durations.buckets, durations.sum, **labels)
