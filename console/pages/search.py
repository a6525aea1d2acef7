"""Search page for objects of all kinds, as HTML and JSON."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import override

from console.pages.search_service import SearchResult, search_all_kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response
from console.ui.fragments.empty_states import EmptyState
from console.ui.navigation.nav import update_counts
from console.ui.search.query import SearchQuery, parse_search
from console.ui.search.search import Hit, HitGroup
from console.views.guard import access_from_query
from console.views.page import page

#: Seconds that the first search of a kind waits for its list.
FIRST_LIST_WAIT = 2.0


@page("GET", formats=("json",))
async def search_page(request: ConsoleRequest) -> HttpResponse:
    """GET /search?q=…: search in the cluster named by `cluster`, the host by default."""
    access = access_from_query(request)
    query = parse_search(access.cluster.kinds, " ".join(request.GET.getlist("q")))
    looked = await search_all_kinds(query, access, wait=FIRST_LIST_WAIT)
    if request.GET.get("format") == "json":
        return _data(query, looked)
    await update_counts(access.cluster)
    context = {
        "query": query,
        "found": looked.found,
        "loading": looked.loading,
        "state": _state(query, looked),
    }
    return render(request, "console/search.html", context, status=400 if query.error else 200)


def _state(query: SearchQuery, looked: SearchResult) -> EmptyState | None:
    if query.error:
        return EmptyState("bad-input", _("Invalid search"), query.error)
    if query.empty or looked.found.groups:
        return None
    text = _("No objects that you can view match all of these words.")
    return EmptyState("no-match", _("No objects found"), text)


def _data(query: SearchQuery, looked: SearchResult) -> JsonResponse:
    if query.error:
        return status_response(400, query.error, causes=(("q", query.error),))
    # Values in JSON are never translated.
    with override(None):
        return JsonResponse(
            {
                "query": query.text,
                "total": looked.found.total,
                "groups": [_group(group) for group in looked.found.groups],
                "loading": [kind.segment for kind in looked.loading],
            }
        )


def _group(group: HitGroup) -> dict[str, Any]:
    return {
        "resource": group.kind.segment,
        "total": group.total,
        "url": group.url,
        "items": [_item(hit) for hit in group.hits],
    }


def _item(hit: Hit) -> dict[str, Any]:
    created: datetime | None = hit.created
    status = hit.status
    return {
        "namespace": hit.namespace,
        "name": "".join(hit.name),
        "status": {
            "severity": status.severity,
            "word": str(status.word),
            "reason": str(status.reason),
        }
        if status
        else None,
        "created": created.isoformat() if created else None,
        "url": hit.url,
    }
