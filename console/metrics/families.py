"""All metrics of the console. No label contains a tenant, user, object or address."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import prometheus_client
from prometheus_client import Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from console.kube.controller import ControllerStats, controller_stats
from console.kube.stats import InformerStats, stats_of
from console.live.counters import Counters, counters
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.lru_cache import caches
from console.ui.fragments.cached_fragments import cell_cache, part_cache
from console.ui.lists.spec_cache import sizes

#: Bucket bounds in seconds. Pages take a few milliseconds, requests to kube-apiserver up to a few
#: seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class RequestMetrics:
    """Request counts of this process by route and status class, such as `5xx`, and response times
    by route.
    """

    def __init__(self) -> None:
        self.answered = prometheus_client.Counter(
            "quarterdeck_http_requests",
            "HTTP responses.",
            ("route", "status"),
            registry=None,
        )
        self.seconds = Histogram(
            "quarterdeck_http_render_seconds",
            "Response time by route.",
            ("route",),
            buckets=BOUNDS,
            registry=None,
        )

    def record(self, route: str, status: int, seconds: float) -> None:
        self.answered.labels(route, f"{status // 100}xx").inc()
        self.seconds.labels(route).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        yield from self.answered.collect()
        yield from self.seconds.collect()


requests = RequestMetrics()


_Type = type[Counter] | type[Gauge]
_Value = Callable[[InformerStats], float | None]

# `_created` series are useless because counters start with the process.
disable_created_metrics()  # type: ignore[no-untyped-call]

#: Name, type, help text and value of the cache metrics per kind. A value of None emits no sample.
_CACHE: Sequence[tuple[str, _Type, str, _Value]] = (
    ("objects", Gauge, "Objects in the cache.", lambda f: f.objects),
    ("bytes", Gauge, "Bytes of the compressed originals.", lambda f: f.bytes),
    ("synced", Gauge, "1 if the first list is loaded.", lambda f: f.freshness.synced),
    (
        "stale",
        Gauge,
        "1 if the watch is interrupted.",
        lambda f: f.freshness.stale_since is not None,
    ),
    (
        "lag_seconds",
        Gauge,
        "Seconds since the cache was last known to be current.",
        lambda f: f.lag,
    ),
    ("events_total", Counter, "Watch events applied.", lambda f: f.events),
    ("undecodable_total", Counter, "Objects that can't be decoded.", lambda f: f.undecodable),
    ("relists_total", Counter, "Lists after the first.", lambda f: f.relists),
    ("watch_restarts_total", Counter, "Watches after the first.", lambda f: f.restarts),
    ("listeners", Gauge, "Registered listeners.", lambda f: f.listeners),
    (
        "listener_failures_total",
        Counter,
        "Listeners that failed and were dropped.",
        lambda f: f.listener_failures,
    ),
)
_LIVE: Sequence[tuple[str, _Type, str, Callable[[Counters], float]]] = (
    ("sockets", Gauge, "Open live sockets.", lambda c: c.sockets),
    ("frames_total", Counter, "Frames sent to browsers.", lambda c: c.frames),
    ("bytes_total", Counter, "Bytes of frames sent to browsers.", lambda c: c.bytes),
    (
        "mailbox_overflows_total",
        Counter,
        "Flushes with more changes than a mailbox can hold.",
        lambda c: c.overflows,
    ),
    ("refreshes_total", Counter, "Refresh messages sent to browsers.", lambda c: c.refreshes),
    ("slow_closed_total", Counter, "Sockets closed: client too slow.", lambda c: c.slow_closed),
)
_CONNECTIONS: Sequence[tuple[str, _Type, str, Callable[[Counters], float]]] = (
    ("open", Gauge, "Open connections of browsers and proxies.", lambda c: c.connections),
    ("refused_total", Counter, "Connections refused: too many.", lambda c: c.connections_refused),
    (
        "dropped_total",
        Counter,
        "Idle connections closed: too many.",
        lambda c: c.connections_dropped,
    ),
)
_CONTROLLERS: Sequence[tuple[str, _Type, str, Callable[[ControllerStats], float]]] = (
    ("reconciles_total", Counter, "Successful reconciliations.", lambda p: p.done),
    ("failures_total", Counter, "Failed reconciliations.", lambda p: p.failed),
    ("waiting", Gauge, "Objects waiting for reconciliation.", lambda p: p.waiting),
    ("retrying", Gauge, "Objects waiting for a retry after a failure.", lambda p: p.retrying),
)
#: Metrics of the operating system. Empty on systems without /proc.
process = ProcessCollector(registry=None)
#: Caches of rendered fragments.
_DRAWN = (("cells", cell_cache), ("parts", part_cache))


class ConsoleCollector(Collector):
    """Collects the metrics of this process."""

    def collect(self) -> Iterator[Metric]:
        yield from cache_families({cluster.name: _figures(cluster) for cluster in clusters})
        yield from live_families(counters)
        yield from fragment_families()
        yield from derived_families()
        yield from requests.collect()
        yield from controller_families()
        yield from process.collect()


def fragment_families() -> Iterator[Metric]:
    things = Gauge("quarterdeck_drawn_kept", "Cached fragments.", labels=["what"])
    weights = Gauge(
        "quarterdeck_drawn_bytes", "Approximate size of cached fragments.", labels=["what"]
    )
    for name, kept in _DRAWN:
        things.add_metric([name], len(kept))
        weights.add_metric([name], kept.weight)
    yield things
    yield weights


def derived_families() -> Iterator[Metric]:
    """Yield the metrics of caches of data that is derived from the cache of objects."""
    kept = Gauge("quarterdeck_derived_kept", "Cached derived data.", labels=["what"])
    lengths = Gauge(
        "quarterdeck_derived_items",
        "Objects, causes, text blocks or bytes in cached derived data.",
        labels=["what"],
    )
    for name, cache in sorted(caches.items()):
        kept.add_metric([name], len(cache))
        lengths.add_metric([name], cache.length)
    for name, size in sorted(sizes.items()):
        kept.add_metric([name], size())
    yield kept
    yield lengths


def _figures(cluster: Cluster) -> list[InformerStats]:
    runtime, now = cluster.runtime, datetime.now(UTC)
    return stats_of(runtime.informers(), answered=runtime.last_response, now=now)


def cache_families(figures: Mapping[str, Iterable[InformerStats]]) -> Iterator[Metric]:
    """Yield the cache metrics, given the statistics per cluster name."""
    ordered = [
        (name, item)
        for name, items in figures.items()
        for item in sorted(items, key=lambda item: item.gvr)
    ]
    for name, family_of, text, value_of in _CACHE:
        labels = ["cluster", "group", "version", "resource"]
        family = family_of(f"quarterdeck_cache_{name}", text, labels=labels)
        for cluster, item in ordered:
            value = value_of(item)
            if value is not None:
                gvr = item.gvr
                family.add_metric([cluster, gvr.group, gvr.version, gvr.resource], value)
        if family.samples:
            yield family


def live_families(found: Counters) -> Iterator[Metric]:
    for name, family_of, text, value_of in _LIVE:
        yield family_of(f"quarterdeck_live_{name}", text, value_of(found))
    for name, family_of, text, value_of in _CONNECTIONS:
        yield family_of(f"quarterdeck_connections_{name}", text, value_of(found))
    yield from found.flush_seconds.collect()


def controller_families() -> Iterator[Metric]:
    found = sorted(controller_stats().items())
    for name, family_of, text, value_of in _CONTROLLERS:
        family = family_of(f"quarterdeck_controller_{name}", text, labels=["controller"])
        for controller, figures in found:
            family.add_metric([controller], value_of(figures))
        yield family


def resident_bytes() -> int:
    """Return the resident memory in bytes, or 0 if it is unknown."""
    found = {family.name: family.samples for family in process.collect()}
    samples = found.get("process_resident_memory_bytes", ())
    return int(sum(sample.value for sample in samples))
