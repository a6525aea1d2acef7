"""Saved views of a list: the menu on the list page, and the page to manage views.

Everything works with plain forms. A saved view is a named list URL, and opening a view follows
the link.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.saved import service
from console.saved.models import MAX_NAME, MAX_QUERY, SavedView, Sharing
from console.saved.service import MAX_VIEWS, NameTaken, TooManyViews, ViewOwner
from console.ui.core.access import Access, may_change_everything
from console.ui.core.clusters import clusters
from console.ui.core.links import list_url
from console.ui.core.permissions import Denied, may_know_kind, readable
from console.ui.core.requests import ConsoleRequest, is_fragment, vary_on_htmx
from console.ui.fragments.empty_states import EmptyState
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import ListRoute, find_kind, resolve_list
from console.views.denial import denied_page
from console.views.errors import error_page
from console.views.guard import access_in, access_of
from console.views.page import page, success_redirect


@dataclass(frozen=True, slots=True)
class ViewLink:
    """Saved view for templates.

    - `url`: "" if the viewer can't open the view.
    - `managed`: the viewer may change the view.
    - `current`: the view is displayed.
    """

    number: int
    name: str
    url: str
    platform: bool
    opens: bool
    managed: bool
    current: bool


@dataclass(frozen=True, slots=True)
class ViewGroup:
    """Views of one kind.

    `url` is "" if the viewer may not open the list. `missing`: the cluster doesn't have the
    kind, for example because the custom resource definition was deleted.
    """

    title: str | Promise
    url: str
    missing: bool
    views: tuple[ViewLink, ...]


@page("GET", "POST")
async def saved_views(request: ConsoleRequest) -> HttpResponse:
    """GET /views: all views of the user, or with `list` (a URL) the views of that list.

    POST (`list`, `name`, `sharing`) saves the list as a view.
    """
    access = access_of(request)
    if request.method != "POST" and "list" not in request.GET:
        return await _all_shown(request, access)
    given = request.POST if request.method == "POST" else request.GET
    place = resolve_list(given.get("list", ""))
    there = place is not None and may_know_kind(access_in(request, place.cluster), place.kind)
    if place is None or place.spec.errors or not there:
        return error_page(request, 400, _("No list found at this address."))
    try:
        readable(place.kind, access_in(request, place.cluster))
    except Denied as denied:
        return denied_page(request, denied, place.kind)
    reader = ViewOwner(request.account or "", may_change_everything(access))
    if request.method == "POST":
        return await _save(request, place, reader)
    return await _shown(request, place, reader)


async def _shown(request: ConsoleRequest, place: ListRoute, reader: ViewOwner) -> HttpResponse:
    spec = place.spec.with_page(1)
    found = await sync_to_async(service.views_of)(reader, spec.cluster, place.kind.segment)
    views = [_link(view, reader, spec.query) for view in found]
    context: dict[str, Any] = {
        "kind": place.kind.view,
        "list": spec.url,
        "views": views,
        "manages": reader.manages,
        "max_name": MAX_NAME,
    }
    template = "console/views_menu.html" if is_fragment(request) else "console/views.html"
    response = render(request, template, context)
    vary_on_htmx(response)
    return response


async def _all_shown(request: ConsoleRequest, access: Access) -> HttpResponse:
    reader = ViewOwner(request.account or "", may_change_everything(access))
    groups: list[ViewGroup] = []
    for cluster in clusters:
        found = await sync_to_async(service.all_views)(reader, cluster.name)
        groups += _groups(found, reader, access_in(request, cluster))
    await update_counts(access.cluster)
    context = {
        "groups": groups,
        "max_name": MAX_NAME,
        "state": None
        if groups
        else EmptyState(
            "first-use",
            _("No saved views yet"),
            _(
                "Open a list and set filters or columns. Then open Views above the list and save the "
                "view under a name."
            ),
        ),
    }
    return render(request, "console/views_all.html", context)


def _groups(found: Sequence[SavedView], reader: ViewOwner, access: Access) -> Iterator[ViewGroup]:
    """Yield the views by kind, without platform views of kinds that the viewer may not see."""
    for segment, views in groupby(found, key=lambda view: view.kind):
        url = list_url(access.cluster.name, segment)
        kind = find_kind(access.cluster, segment)
        may = kind is not None and _may_open(url, access)
        shown = (view for view in views if may or view.sharing == Sharing.OWN)
        links = [_link(view, reader, None) for view in shown]
        if links:
            yield ViewGroup(
                kind.title if kind is not None else segment,
                url if may else "",
                kind is None,
                tuple(one if _may_open(one.url, access) else replace(one, url="") for one in links),
            )


def _may_open(url: str, access: Access) -> bool:
    """Return True if the URL is a valid list that the viewer may open. The view's query or
    permissions may have become invalid.
    """
    place = resolve_list(url)
    if place is None or place.spec.errors:
        return False
    try:
        readable(place.kind, access, place.spec.namespaces)
    except Denied:
        return False
    return True


def _link(view: SavedView, reader: ViewOwner, query: str | None) -> ViewLink:
    path = list_url(view.cluster, view.kind)
    platform = view.sharing == Sharing.PLATFORM
    return ViewLink(
        number=view.pk,
        name=view.name,
        url=f"{path}?{view.query}" if view.query else path,
        platform=platform,
        opens=view.opens,
        managed=not platform or reader.manages,
        current=view.query == query,
    )


async def _save(request: ConsoleRequest, place: ListRoute, reader: ViewOwner) -> HttpResponse:
    spec = place.spec.with_page(1)
    name = _name(request)
    if name is None:
        return error_page(request, 400, _name_error())
    if len(spec.query) > MAX_QUERY:
        return error_page(request, 400, _("This view is too long to save."))
    sharing = request.POST.get("sharing", Sharing.OWN)
    if sharing not in (Sharing.OWN, *((Sharing.PLATFORM,) if reader.manages else ())):
        return error_page(request, 403, _("You don't have permission to share views."))
    try:
        await sync_to_async(service.save)(
            reader, Sharing(sharing), spec.cluster, place.kind.segment, name, spec.query
        )
    except TooManyViews:
        text = _("The limit of %(most)s views is reached. Delete a view that is no longer needed.")
        return error_page(request, 400, text % {"most": MAX_VIEWS})
    return success_redirect(request, _("Saved view %(name)s.") % {"name": name}, spec.url)


@page("POST")
async def change_view(request: ConsoleRequest, number: int) -> HttpResponse:
    """POST /views/{number}: `action` is rename (`name`), delete, open or unopen.

    Redirects to the views of `list`, or to all views.
    """
    reader = ViewOwner(request.account or "", may_change_everything(access_of(request)))
    action, name = request.POST.get("action", ""), _name(request)
    if action == "rename" and name is None:
        return error_page(request, 400, _name_error())
    try:
        done = await sync_to_async(_change)(reader, number, action, name or "")
    except NameTaken:
        return error_page(request, 400, _("A view with this name already exists."))
    if not done:
        return error_page(request, 404, _("This view does not exist."))
    place = resolve_list(request.POST.get("list", ""))
    url = reverse("views")
    if place:
        url += f"?{urlencode({'list': place.spec.url})}"
    return HttpResponseRedirect(url)


def _change(reader: ViewOwner, number: int, action: str, name: str) -> bool:
    match action:
        case "rename":
            return service.rename(reader, number, name)
        case "delete":
            return service.delete_view(reader, number)
        case "open" | "unopen":
            return service.set_default(reader, number, opens=action == "open")
    return False


def _name(request: ConsoleRequest) -> str | None:
    """Return the normalized name, or None if it is invalid."""
    name = " ".join(request.POST.get("name", "").split())
    return name if name and len(name) <= MAX_NAME and name.isprintable() else None


def _name_error() -> str:
    return _("The name must have 1 to %(most)s printable characters.") % {"most": MAX_NAME}
