"""Authenticate requests of the test users by the header `X-Cast`, without signing in."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from console.kube.identity import Identity
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.requests import UserSession
from rbac.middleware import named_cluster
from tests.ui.support import FakeAccess, admin, alice, bob, charlie, dora

VIEWERS: dict[str, Callable[[], FakeAccess]] = {
    "admin": admin,
    "alice": alice,
    "bob": bob,
    "charlie": charlie,
    "dora": dora,
}


class CastMiddleware:
    async_capable = True
    sync_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = request.headers.get("X-Cast")
        request.account = name  # type: ignore[attr-defined]
        request.access = VIEWERS[name]() if name in VIEWERS else None  # type: ignore[attr-defined]
        request.presence = _presence(name) if name else None  # type: ignore[attr-defined]
        request.cluster = clusters.get(HOST)  # type: ignore[attr-defined]
        request.own_identity = Identity(name) if name else None  # type: ignore[attr-defined]
        request.csp_nonce = "nonce"  # type: ignore[attr-defined]
        request.request_id = "request-1"  # type: ignore[attr-defined]
        return await self.get_response(request)

    async def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: dict[str, Any]
    ) -> None:
        # Anonymous requests are refused earlier, with the same response for every cluster name.
        if request.account:  # type: ignore[attr-defined]
            named_cluster(kwargs)


def _presence(name: str) -> UserSession:
    """Return the presence of a test user. A user removed from the cast has permissions but no
    session.
    """
    before = VIEWERS.get(name, charlie)

    async def lasts() -> bool:
        return name in VIEWERS

    def access_in(_cluster: Cluster) -> FakeAccess:
        return VIEWERS.get(name, before)()

    return UserSession(lasts, access_in, f"session-of-{name}")
