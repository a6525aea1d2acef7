"""Page with all kinds of a cluster that the viewer may list, by group, including kinds without a
menu entry.
"""

from dataclasses import dataclass, replace

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from console.saved import pins
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.links import list_url
from console.ui.core.menu import RESOURCES_ENTRY
from console.ui.core.permissions import may_know_kind, readable
from console.ui.core.requests import ConsoleRequest
from console.ui.fragments.empty_states import EmptyState
from console.ui.navigation.level import Level
from console.ui.navigation.nav import MOST, NavGroup, all_kinds, nav, update_counts
from console.ui.navigation.page_frame import orientation_of, pins_in
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page

#: Maximum characters of the search text.
MAX_QUERY = 100


@page("GET", "POST", menu=RESOURCES_ENTRY)
async def resources_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET /clusters/{cluster}/resources, with `q`, part of a kind's name, and `namespace`.

    POST (`pin` or `unpin` with the kind's segment) adds a kind to the cluster's menu or removes
    it.
    """
    access = access_of(request)
    level = orientation_of(request, access).level
    await update_counts(cluster)
    if request.method == "POST":
        return await _pin(request, access)
    wanted = request.GET.get("q", "").strip()[:MAX_QUERY]
    groups = _matching(all_kinds(access, level), wanted.casefold())
    pinned = None
    if level.name == "cluster":
        fixed = _rail(access)
        pinned = PinnedLists(_rail(access, pins_in(request, cluster.name)) - fixed, fixed)
    context = {
        "groups": groups,
        "q": wanted,
        "namespace": level.namespace,
        "pins": pinned,
        "state": None if groups else _none(wanted),
    }
    return render(request, "console/resources.html", context)


@dataclass(frozen=True, slots=True)
class PinnedLists:
    """List URLs of pinned kinds, and of kinds that the menu always contains."""

    pinned: frozenset[str]
    fixed: frozenset[str]


def _rail(access: Access, pins: tuple[str, ...] = ()) -> frozenset[str]:
    rail = nav(access, Level("cluster", access.cluster.name), "", pins).rail
    return frozenset(entry.url for entry in rail)


async def _pin(request: ConsoleRequest, access: Access) -> HttpResponse:
    account, cluster = request.account or "", access.cluster
    there = reverse("resources", args=(cluster.name,))
    unwanted = request.POST.get("unpin", "")
    if unwanted:
        await sync_to_async(pins.unpin)(account, cluster.name, unwanted)
        return HttpResponseRedirect(there)
    kind = cluster.kinds.find(request.POST.get("pin", ""))
    if kind is None or not may_know_kind(access, kind):
        return error_page(request, 400, _("No list found at this address."))
    readable(kind, access)
    if list_url(cluster.name, kind.segment) in _rail(access):
        return error_page(request, 400, _("This kind is already in the menu."))
    known = (await sync_to_async(pins.load_pins)(account)).get(cluster.name, ())
    if len(_rail(access, known)) >= MOST:
        text = _(
            "The menu already has %(most)s entries, which is the maximum. Unpin an entry first."
        )
        return error_page(request, 400, text % {"most": MOST})
    await sync_to_async(pins.pin)(account, cluster.name, kind.segment)
    return HttpResponseRedirect(there)


def _matching(groups: tuple[NavGroup, ...], wanted: str) -> list[NavGroup]:
    """Filter kinds by their label and URL segment, which is the name in Kubernetes."""
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


def _none(wanted: str) -> EmptyState:
    if wanted:
        return EmptyState("no-match", _("No kinds found"), _("Try a shorter part of the name."))
    return EmptyState(
        "first-use",
        _("You don't have permission to list any resources"),
        _("Ask an administrator to assign a role to you."),
    )
