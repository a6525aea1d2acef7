"""Gives a request its cluster, and the viewer's rights there."""

from typing import Any

from django.http import Http404, HttpResponseBase

from console.inline import AsyncMiddleware
from console.kube.identity import Identity
from console.ui.access import Access
from console.ui.clusters import Cluster, clusters
from console.ui.http import ConsoleRequest


def access_of(identity: Identity | None, cluster: Cluster) -> Access | None:
    """What `identity` may do there; None for nobody, which everything treats as a refusal."""
    return cluster.access_for(identity) if identity is not None else None


def named_cluster(kwargs: dict[str, Any]) -> Cluster | None:
    """The cluster that an address names by these arguments, None where it names none. Raises `Http404`
    for a name that no cluster has."""
    if "cluster" not in kwargs:
        return None
    found: Cluster | None = kwargs["cluster"]
    if found is None:
        raise Http404
    return found


class AccessMiddleware(AsyncMiddleware):
    """Sets `request.cluster` and `request.access`: of the host, until it is known that the address names
    another cluster. Comes after what sets `request.identity` and refuses whoever is not signed in."""

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
