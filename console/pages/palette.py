"""Results of the command palette, as an HTML fragment."""

from collections.abc import Iterator, Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.pages.search import search_all_kinds
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_names import custom_kinds_like
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible as visible_text
from console.ui.editing.creating import create_url, may_create_any
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.level import Level, last_level, may_see_platform
from console.ui.navigation.nav import RailEntry, nav
from console.ui.navigation.palette import PaletteContext, options_for
from console.ui.navigation.projects import visible_namespaces, visible_workspaces
from console.ui.search.query import parse_search
from console.ui.search.search import searchable, searchable_among
from console.views.guard import access_from_query
from console.views.page import page

#: Seconds to wait for the first list of a kind, and maximum number of objects per kind.
FIRST_LIST_WAIT, FIRST = 0.3, 3


@page("GET")
async def palette(request: ConsoleRequest) -> HttpResponse:
    """GET /palette?q=…: the results, best match first. `cluster` works as in the search.

    Opened as a page, the results are plain links.
    """
    access = access_from_query(request)
    query = parse_search(access.cluster.kinds, " ".join(request.GET.getlist("q")))
    looked = await search_all_kinds(query, access, wait=FIRST_LIST_WAIT, first=FIRST)
    customs = custom_kinds_like(access.cluster.kinds, query.words[0]) if query.words else []
    visible = [one.kind for one in (*searchable(access), *searchable_among(customs, access))]
    groups = options_for(
        access.cluster, query, looked.found, visible, _offered(request, access, visible)
    )
    context = {"groups": groups, "query": query, "loading": looked.loading}
    return render(request, "console/palette.html", context, status=400 if query.error else 200)


def _offered(
    request: ConsoleRequest, access: Access, visible: Sequence[ResourceKind]
) -> PaletteContext:
    cluster = access.cluster.name
    creations = ((kind, create_url(ViewSpec(kind, cluster), access)) for kind in visible)
    return PaletteContext(
        pages=[*_pages(request, access)],
        creations=[(kind, url) for kind, url in creations if url],
        workspaces=visible_workspaces(access),
        projects=visible_namespaces(access),
        creates=may_create_any(access),
    )


def _pages(request: ConsoleRequest, access: Access) -> Iterator[tuple[RailEntry, str]]:
    """Yield the menu pages of the current level and its parents, innermost first, without list
    pages.
    """
    here = last_level(request, access)
    levels = [here] if here is not None else []
    if here is not None and here.workspace:
        levels.append(Level("workspace", workspace=here.workspace))
    if may_see_platform(access):
        levels.append(Level("platform", access.cluster.name))
    levels.append(Level("cluster", access.cluster.name))
    for level in dict.fromkeys(levels):
        where = level.namespace or level.workspace or level.name != "platform" and level.cluster
        for entry in nav(access, level, "").rail:
            if entry.problems is None:
                yield entry, visible_text(where or _("Platform"))
