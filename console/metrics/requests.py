"""How many requests each route has answered, and how long that took."""

from collections.abc import Awaitable, Callable, Iterator
from time import perf_counter
from typing import ClassVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Histogram, Metric

#: Upper bounds in seconds: pages are to take a few milliseconds, calls of kube-apiserver a few seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
#: What no view has answered: static files, and addresses that there are not.
NO_ROUTE = "none"

Answer = HttpResponseBase | Awaitable[HttpResponseBase]


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


class CountingMiddleware:
    """Counts every request by the name of its route, so that no address gets into a metric."""

    sync_capable: ClassVar[bool] = True
    async_capable: ClassVar[bool] = True

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer:
        began = perf_counter()
        answer = self.get_response(request)
        if isinstance(answer, HttpResponseBase):
            return _noted(request, answer, began)
        return self._later(request, answer, began)

    async def _later(
        self, request: HttpRequest, answer: Awaitable[HttpResponseBase], began: float
    ) -> HttpResponseBase:
        return _noted(request, await answer, began)


def _noted(request: HttpRequest, response: HttpResponseBase, began: float) -> HttpResponseBase:
    match = request.resolver_match
    route = (match.view_name or NO_ROUTE) if match is not None else NO_ROUTE
    requests.note(route, response.status_code, perf_counter() - began)
    return response
