"""Middleware that counts and times requests."""

from time import perf_counter

from django.http import HttpRequest, HttpResponseBase

from console.metrics.requests import requests
from console.web.async_middleware import AsyncMiddleware

#: Route of requests that no view handled: static files and unknown URLs.
NO_ROUTE = "none"


class CountingMiddleware(AsyncMiddleware):
    """Counts requests by route name, so that no URL becomes a label."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = await self.get_response(request)
        match = request.resolver_match
        route = (match.view_name or NO_ROUTE) if match is not None else NO_ROUTE
        requests.record(route, response.status_code, perf_counter() - began)
        return response
