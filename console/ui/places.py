"""Addresses that come from outside, resolved as the console's own pages or not at all.

A socket subscribes to a list by its address, and a form names the page to return to. Both go through
the URLconf, so that neither can name anything that is not a page of ours.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict
from django.urls import Resolver404, resolve

from console.ui.kind import ResourceKind
from console.ui.links import HOST_CLUSTER
from console.ui.registry import kinds
from console.ui.viewspec import ViewSpec

#: Characters of an address; longer ones are nobody's.
MAX_URL = 16 * 1024


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The list that an address names. `spec` may have errors, as on the page itself."""

    kind: ResourceKind
    spec: ViewSpec


def find_list(url: str) -> ListPlace | None:
    """The list at `url` (path and query); None for anything else, whatever it is."""
    path, query = _split(url)
    try:
        match = resolve(path)
        params = QueryDict(query)
    except (Resolver404, SuspiciousOperation, ValueError):
        return None
    if match.view_name != "list":
        return None
    kind = find_kind(match.kwargs["cluster"], match.kwargs["resource"])
    if kind is None:
        return None
    return ListPlace(kind, ViewSpec.parse(kind, params, cluster=match.kwargs["cluster"]))


def find_kind(cluster: str, resource: str) -> ResourceKind | None:
    """The kind that a list's URL names; None if there is no such cluster or kind."""
    return kinds.find(resource) if cluster == HOST_CLUSTER else None


def _split(url: str) -> tuple[str, str]:
    """Path and query, or ("", "") for what is not an address on this host."""
    if len(url) > MAX_URL or not url.isprintable() or not url.startswith("/") or "\\" in url:
        return "", ""
    if url.startswith("//"):
        return "", ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.path, parts.query
