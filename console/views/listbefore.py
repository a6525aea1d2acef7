"""The list that somebody came to an object from, so that the way up leads back to it as it was.

The browser says so when the object is opened (`Referer`); from tab to tab the query `list` says it, which
no canonical address has. Either is read as a list's own address is, and nothing else is believed of it.
"""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from console.ui.detail import TabLink
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.links import list_url
from console.ui.places import find_list
from console.ui.viewspec import ViewSpec

#: The query of the list, also an empty one.
PARAMETER = "list"


def referring_url(request: ConsoleRequest) -> str:
    """The page of ours that the request comes from; "" for any other."""
    own = f"{request.scheme}://{request.get_host()}/"
    referrer = request.headers.get("Referer", "")
    return "/" + referrer.removeprefix(own) if referrer.startswith(own) else ""


def list_before(request: ConsoleRequest, kind: ResourceKind) -> ViewSpec | None:
    """None where one came from no list of the kind in the cluster of the request."""
    given = request.GET.get(PARAMETER)
    own = list_url(request.cluster.name, kind.segment)
    found = find_list(f"{own}?{given}" if given is not None else referring_url(request))
    if found is None or (found.cluster, found.kind) != (request.cluster, kind):
        return None
    return None if found.spec.errors else found.spec


def with_list(tabs: Sequence[TabLink], spec: ViewSpec) -> tuple[TabLink, ...]:
    query = urlencode({PARAMETER: spec.query})
    return tuple(
        replace(tab, url=f"{tab.url}{'&' if '?' in tab.url else '?'}{query}") for tab in tabs
    )
