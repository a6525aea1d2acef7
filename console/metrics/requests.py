"""Request counts and response times per route."""

from collections.abc import Iterator

from prometheus_client import Counter, Histogram, Metric

#: Bucket bounds in seconds. Pages take a few milliseconds, requests to kube-apiserver up to a few
#: seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class RequestMetrics:
    """Request counts of this process by route and status class, such as `5xx`, and response times
    by route.
    """

    def __init__(self) -> None:
        self.answered = Counter(
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
