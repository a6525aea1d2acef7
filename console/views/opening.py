"""Opens a list with the view that its reader chose for it.

Whoever comes to a list without a query is led to the address of that view, which then says all. Not
whoever comes from the same list, by a link that drops what narrowed it: they want all of it.
"""

import re
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.http import HttpResponseRedirect
from django.http.response import HttpResponseBase

from console.inline import AsyncMiddleware
from console.saved import book
from console.saved.book import Reader
from console.ui.clusters import clusters
from console.ui.fragments import is_fragment
from console.ui.http import ConsoleRequest
from console.ui.places import find_kind, find_list

#: What may be a list, by the look of it: nearly none opens with anything, and then no more is asked.
_LIST = re.compile(r"/clusters/([^/]+)/([^/]+)")


class OpeningViewMiddleware(AsyncMiddleware):
    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        asked = _LIST.fullmatch(request.path)
        place = (asked[1], asked[2]) if asked and request.method == "GET" else None
        if account and place and _is_kind(*place) and not request.META.get("QUERY_STRING"):
            found = book.known_openings(*place) or await sync_to_async(book.openings)(*place)
            query = found.of(Reader(account))
            if query and not is_fragment(request) and not _from_itself(request):
                listed = find_list(request.path)
                if listed is not None:
                    return HttpResponseRedirect(f"{listed.url}?{query}")
        return await self.get_response(request)


def _is_kind(cluster: str, resource: str) -> bool:
    return find_kind(clusters.get(cluster), resource) is not None


def _from_itself(request: ConsoleRequest) -> bool:
    """Whichever host that was on: nothing but the redirect depends on it."""
    try:
        return urlsplit(request.headers.get("Referer", "")).path == request.path
    except ValueError:
        return False
