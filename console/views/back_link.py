"""Back link from an object to the list the user came from, with its filters.

The first request has the list in its `Referer`; links between tabs pass the list's query in the
parameter `list`, which canonical URLs don't contain. Both are validated like a list URL.
"""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from console.ui.core.kind import ResourceKind
from console.ui.core.links import list_url
from console.ui.core.requests import ConsoleRequest
from console.ui.details.detail import TabLink
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import resolve_list

#: Query parameter with the list's query, which may be empty.
PARAMETER = "list"


def referrer_path(request: ConsoleRequest) -> str:
    """Return the referring page's path, or "" for other sites."""
    own = f"{request.scheme}://{request.get_host()}/"
    referrer = request.headers.get("Referer", "")
    return "/" + referrer.removeprefix(own) if referrer.startswith(own) else ""


def previous_list(request: ConsoleRequest, kind: ResourceKind) -> ViewSpec | None:
    """Return the list the user came from, or None if it is not a list of the kind in the request's
    cluster.
    """
    given = request.GET.get(PARAMETER)
    own = list_url(request.cluster.name, kind.segment)
    found = resolve_list(f"{own}?{given}" if given is not None else referrer_path(request))
    if found is None or (found.cluster, found.kind) != (request.cluster, kind):
        return None
    return None if found.spec.errors else found.spec


def with_list(tabs: Sequence[TabLink], spec: ViewSpec) -> tuple[TabLink, ...]:
    query = urlencode({PARAMETER: spec.query})
    return tuple(
        replace(tab, url=f"{tab.url}{'&' if '?' in tab.url else '?'}{query}") for tab in tabs
    )
