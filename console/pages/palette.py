"""Results of the command palette, as an HTML fragment."""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.pages.search import search_all_kinds
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_names import custom_kinds_like
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible as visible_text
from console.ui.editing.creating import creations, may_create_any
from console.ui.navigation.level import Level, Orientation, orientation_at
from console.ui.navigation.nav import RailEntry, nav
from console.ui.navigation.palette import PaletteContext, options_for
from console.ui.navigation.projects import visible_namespaces, visible_workspaces
from console.ui.search.query import parse_search
from console.ui.search.search import searchable, searchable_among
from console.views.back_link import referrer_path
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
    known = sorted([*access.cluster.kinds.creatable, *customs], key=lambda kind: kind.nav.rank)
    offered = _offered(request, access, known)
    groups = options_for(access.cluster, query, looked.found, visible, offered)
    context = {"groups": groups, "query": query, "loading": looked.loading}
    return render(request, "console/palette.html", context, status=400 if query.error else 200)


def _offered(
    request: ConsoleRequest, access: Access, known: Sequence[ResourceKind]
) -> PaletteContext:
    path, _mark, query = referrer_path(request).partition("?")
    place = orientation_at(unquote(path), query, access)
    here = place.level
    project = here.namespace if here.cluster == access.cluster.name else ""
    return PaletteContext(
        pages=[*_pages(place, access)],
        creations=[*creations(access, known, project)],
        workspaces=visible_workspaces(access),
        projects=visible_namespaces(access),
        creates=may_create_any(access),
    )


def _pages(place: Orientation, access: Access) -> Iterator[tuple[RailEntry, str]]:
    """Yield the menu pages of the referring page's level and of its parents, innermost first, without
    list pages.
    """
    here = place.level
    levels = [here]
    if here.workspace:
        levels.append(Level("workspace", workspace=here.workspace))
    if place.platform:
        levels.append(Level("platform", access.cluster.name))
    levels.append(Level("cluster", access.cluster.name))
    for level in dict.fromkeys(levels):
        where = level.namespace or level.workspace or level.name != "platform" and level.cluster
        for entry in nav(access, level, "").rail:
            if entry.is_page:
                yield entry, visible_text(where or _("Platform"))
