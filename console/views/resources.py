"""Every kind of a cluster that the viewer may list, by group: what the rail has no entry for, too."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.ui.clusters import Cluster
from console.ui.http import ConsoleRequest
from console.ui.level import level_of
from console.ui.nav import NavGroup, prepare_menu, resources
from console.ui.states import StateBlock
from console.views.guard import access_of
from console.views.page import page

#: Characters of what is looked for.
MAX_QUERY = 100


@page("GET")
async def resources_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET /clusters/{cluster}/resources; `q` is a part of a kind's name, `namespace` a project."""
    access = access_of(request)
    level, _named = level_of(request, access)
    await prepare_menu(cluster)
    wanted = request.GET.get("q", "").strip()[:MAX_QUERY]
    groups = _matching(resources(access, level), wanted.casefold())
    context = {
        "groups": groups,
        "q": wanted,
        "namespace": level.namespace,
        "state": None if groups else _none(wanted),
    }
    return render(request, "console/resources.html", context)


def _matching(groups: tuple[NavGroup, ...], wanted: str) -> list[NavGroup]:
    """By what the page calls them and by their addresses, which have Kubernetes' own words."""
    found = (
        replace(
            group,
            items=tuple(
                item
                for item in group.items
                if wanted in str(item.label).casefold()
                or wanted in item.url.partition("?")[0].rpartition("/")[2]
            ),
        )
        for group in groups
    )
    return [group for group in found if group.items]


def _none(wanted: str) -> StateBlock:
    if wanted:
        return StateBlock(
            "no-match", _("No kind is called that"), _("Try a shorter part of its name.")
        )
    return StateBlock(
        "first-use", _("There is nothing that you may list"), _("Ask an administrator for a role.")
    )
