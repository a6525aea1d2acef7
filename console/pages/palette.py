"""What the palette shows for what is typed, as a part of a page."""

from django.http import HttpResponse
from django.shortcuts import render

from console.pages.looking import look
from console.ui.creating import may_create_any
from console.ui.http import ConsoleRequest
from console.ui.kindnames import customs_like
from console.ui.palette import options_for
from console.ui.projects import visible_namespaces
from console.ui.search import searchable, searchable_of
from console.ui.searchquery import parse_search
from console.views.guard import asked_access
from console.views.page import page

#: Seconds that somebody who types waits for the first list of a kind, and objects shown of each kind.
FIRST_LIST_WAIT, FIRST = 0.3, 3


@page("GET")
async def palette(request: ConsoleRequest) -> HttpResponse:
    """GET /palette?q=…, with `cluster` as for the search: the options, best first. Whoever opens it
    as a page sees them as links."""
    access = asked_access(request)
    query = parse_search(access.cluster.kinds, " ".join(request.GET.getlist("q")))
    looked = await look(query, access, wait=FIRST_LIST_WAIT, first=FIRST)
    customs = customs_like(access.cluster.kinds, query.words[0]) if query.words else []
    groups = options_for(
        access.cluster,
        query,
        looked.found,
        [one.kind for one in (*searchable(access), *searchable_of(customs, access))],
        visible_namespaces(access),
        creates=may_create_any(access),
    )
    context = {"groups": groups, "query": query, "loading": looked.loading}
    return render(request, "console/palette.html", context, status=400 if query.error else 200)
