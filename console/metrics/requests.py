"""How many requests each route has answered, and how long that took."""

from collections.abc import Iterator
from time import perf_counter

from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Histogram, Metric

from console.inline import AsyncMiddleware

#: Upper bounds in seconds: pages are to take a few milliseconds, calls of kube-apiserver a few seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
#: What no view has answered: static files, and addresses that there are not.
NO_ROUTE = "none"


class Requests:
    """Counts of this process, by route; `answered` also by class of status, `5xx`."""

    def __init__(self) -> None:
        self.answered = Counter(
            "quarterdeck_http_requests",
            "Requests answered.",
            ("route", "status"),
            registry=None,
        )
        self.seconds = Histogram(
            "quarterdeck_http_render_seconds",
            "Time until a response was made, by route.",
            ("route",),
            buckets=BOUNDS,
            registry=None,
        )

    def note(self, route: str, status: int, seconds: float) -> None:
        self.answered.labels(route, f"{status // 100}xx").inc()
        self.seconds.labels(route).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        yield from self.answered.collect()
        yield from self.seconds.collect()


requests = Requests()


class CountingMiddleware(AsyncMiddleware):
    """Counts every request by the name of its route, so that no address gets into a metric."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = await self.get_response(request)
        match = request.resolver_match
        route = (match.view_name or NO_ROUTE) if match is not None else NO_ROUTE
        requests.note(route, response.status_code, perf_counter() - began)
        return response
