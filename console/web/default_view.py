"""Middleware that opens lists with the user's default view.

Requests without a query are redirected to the URL of the default view. Links on the same list
that remove all filters are not redirected.
"""

import re
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.http import HttpResponseRedirect
from django.http.response import HttpResponseBase

from console.saved import service
from console.saved.service import ViewOwner
from console.ui.core.clusters import clusters
from console.ui.core.requests import ConsoleRequest, is_fragment
from console.ui.navigation.page_routes import find_kind, resolve_list
from console.web.async_middleware import AsyncMiddleware

#: Pattern of possible list URLs, checked first because most lists have no default view.
_LIST = re.compile(r"/clusters/([^/]+)/([^/]+)")


class DefaultViewMiddleware(AsyncMiddleware):
    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        asked = _LIST.fullmatch(request.path)
        place = (asked[1], asked[2]) if asked and request.method == "GET" else None
        if account and place and _is_kind(*place) and not request.META.get("QUERY_STRING"):
            found = service.cached_default_queries(*place) or await sync_to_async(
                service.load_default_queries
            )(*place)
            query = found.for_user(ViewOwner(account))
            if query and not is_fragment(request) and not _from_itself(request):
                listed = resolve_list(request.path)
                if listed is not None:
                    return HttpResponseRedirect(f"{listed.url}?{query}")
        return await self.get_response(request)


def _is_kind(cluster: str, resource: str) -> bool:
    return find_kind(clusters.get(cluster), resource) is not None


def _from_itself(request: ConsoleRequest) -> bool:
    """Return True if the request was sent from the same page. The host is ignored, because only the
    redirect depends on the result.
    """
    try:
        return urlsplit(request.headers.get("Referer", "")).path == request.path
    except ValueError:
        return False
