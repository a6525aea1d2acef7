"""Request counts and response times per route."""

from collections.abc import Iterator
from time import perf_counter

from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Histogram, Metric

from console.inline import AsyncMiddleware

#: Bucket bounds in seconds. Pages take a few milliseconds, requests to kube-apiserver up to a few
#: seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
#: Route of requests that no view handled: static files and unknown URLs.
NO_ROUTE = "none"


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


class CountingMiddleware(AsyncMiddleware):
    """Counts requests by route name, so that no URL becomes a label."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = await self.get_response(request)
        match = request.resolver_match
        route = (match.view_name or NO_ROUTE) if match is not None else NO_ROUTE
        requests.record(route, response.status_code, perf_counter() - began)
        return response
