"""Gives a request the viewer's rights."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from console.kube.identity import Identity
from console.ui.access import Access
from rbac.current import get_authorizer

Answer = HttpResponseBase | Awaitable[HttpResponseBase]


def access_of(identity: Identity | None) -> Access | None:
    """What `identity` may do; None for nobody, which everything treats as a refusal."""
    return get_authorizer().access_for(identity) if identity is not None else None


class AccessMiddleware:
    """Sets `request.access`. Comes after the middleware that sets `request.identity`."""

    sync_capable: ClassVar[bool] = True
    async_capable: ClassVar[bool] = True

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer:
        request.access = access_of(getattr(request, "identity", None))  # type: ignore[attr-defined]
        return self.get_response(request)
