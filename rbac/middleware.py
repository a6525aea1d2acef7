"""Middleware that sets a request's cluster and the viewer's permissions there."""

from typing import Any

from django.http import Http404, HttpResponseBase

from console.kube.identity import Identity
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.requests import ConsoleRequest
from console.web.async_middleware import AsyncMiddleware


def access_of(identity: Identity | None, cluster: Cluster) -> Access | None:
    """Return the permissions of `identity` in the cluster, or None if there is no identity, which
    denies all access.
    """
    return cluster.access_for(identity) if identity is not None else None


def named_cluster(kwargs: dict[str, Any]) -> Cluster | None:
    """Return the cluster that the URL arguments name, or None if they name none. Raise `Http404` if
    the cluster does not exist.
    """
    if "cluster" not in kwargs:
        return None
    found: Cluster | None = kwargs["cluster"]
    if found is None:
        raise Http404
    return found


class AccessMiddleware(AsyncMiddleware):
    """Set `request.cluster` and `request.access`, for the host cluster unless the URL names another
    cluster.

    Must come after the middleware that sets `request.identity` and rejects requests without a
    session.
    """

    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        _enter(request, clusters.host)
        return await self.get_response(request)

    async def process_view(
        self, request: ConsoleRequest, view: object, args: object, kwargs: dict[str, Any]
    ) -> None:
        named = named_cluster(kwargs)
        if named is not None and named is not request.cluster:
            _enter(request, named)


def _enter(request: ConsoleRequest, cluster: Cluster) -> None:
    request.cluster = cluster
    request.access = access_of(getattr(request, "identity", None), cluster)
