"""Detail page of an object of any kind, as a full page, an HTMX fragment, and data.

Permissions are checked before the object is looked up, so the response doesn't reveal whether a
forbidden object exists.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import override

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.link_resolver import LinkResolver, prepare_links
from console.ui.core.manifests import mask_values
from console.ui.core.object_source import (
    live_state,
    open_loaded_source,
    truncated_at,
    with_columns,
)
from console.ui.core.page_data import FIRST_LIST_WAIT
from console.ui.core.requests import ConsoleRequest, is_fragment, vary_on_htmx
from console.ui.core.statuses import status_response
from console.ui.core.threads import in_thread
from console.ui.details.detail import Detail, cause_of, detail, start_informers
from console.ui.details.panels.standard import AUDIT, CHANGES, tabs_of
from console.ui.details.panels.summary import Cause
from console.ui.editing.yaml_text import yaml_text
from console.ui.fragments.empty_states import loading_block, missing_text, not_installed_text
from console.ui.lists.export import export_item
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import DetailRoute, detail_route, find_kind
from console.views.audit.trail import trail_html
from console.views.back_link import ObjectPath, object_path
from console.views.errors import error_page, loading_page
from console.views.guard import access_of
from console.views.history import changes_html
from console.views.page import page


@page("GET", formats=("json", "yaml"))
async def detail_page(
    request: ConsoleRequest,
    cluster: Cluster,
    namespace: str,
    resource: str,
    name: str,
    tab: str = "",
) -> HttpResponse:
    access = access_of(request)
    kind = find_kind(cluster, resource)
    if kind is not None:
        await with_columns(kind, access)
    place = detail_route(cluster, namespace, resource, name, tab, request.GET)
    if place is None:
        raise Http404
    page_url = place.kind.page_url(cluster.name, place.key)
    if page_url and not tab and request.GET.get("format", "html") == "html":
        return HttpResponseRedirect(page_url)
    # Before the informer is started: users must not start watches of resources they can't read.
    place.check(access)
    reading = open_loaded_source(
        place.kind, access, place.namespaces, place.key, seconds=FIRST_LIST_WAIT
    )
    async with reading as informer:
        return await _shown(request, place, access, informer)


async def _shown(
    request: ConsoleRequest, place: DetailRoute, access: Access, informer: Informer[Any]
) -> HttpResponse:
    if informer.not_installed:
        return error_page(request, 404, not_installed_text(place.kind))
    if not informer.freshness.synced:
        refused = informer.refusal is not None
        block = loading_block(place.kind, live_state(informer).problem, refused=refused)
        return loading_page(request, f"{block.text} {block.reason}".strip())
    fmt = request.GET.get("format", "html")
    if fmt != "html":
        place.check(access)
        entry = informer.store.get(place.key)
        if entry is None:
            return _missing(request, place, informer)
        others = start_informers(place.needs, access) if fmt == "json" else {}
        # In a thread, because some objects have a million characters.
        return await in_thread(_data, place, access, informer, entry, others, fmt)
    if not is_fragment(request):
        await update_counts(access.cluster)
    entry = informer.store.get(place.key)
    if entry is not None:
        await prepare_links(place.kind, LinkResolver(access), [entry], seconds=FIRST_LIST_WAIT)
    path = object_path(request, place.kind, access, place.key)
    with_list = path.with_list if path.query is not None else None
    others = start_informers(place.needs, access)
    found = detail(place, access, informer, others, with_list=with_list)
    if found is None or entry is None:
        return _missing(request, place, informer)
    more = await changes_html(place, access, entry) if place.tab == CHANGES else ""
    below = await trail_html(request, place, access) if place.tab == AUDIT else ""
    first = place.tab == tabs_of(place.kind)[0]
    progress = place.kind.progress if first else None
    above = await progress(access, place.kind, entry) if progress is not None else ""
    return _drawn(request, found, path, above, more, below)


def _drawn(
    request: ConsoleRequest,
    found: Detail,
    path: ObjectPath,
    above: str,
    more: str,
    below: str,
) -> HttpResponse:
    """Render the page. `above`, `more` and `below` are parts that are not updated over the
    websocket.
    """
    context = {
        "detail": found,
        "tabs": path.tabs(found.tabs),
        "crumbs": path.crumbs(inside=False),
        "refresh_url": path.with_list(found.url),
        "list": path.query,
        "kind": found.kind,
        "live": found.freshness,
        "above": above,
        "more": more,
        "below": below,
    }
    if is_fragment(request):
        # Without the request, so that the fragment equals the parts rendered for the websocket.
        response = HttpResponse(render_to_string("ui/_detail.html", context))
    else:
        response = render(request, "console/detail.html", context)
    vary_on_htmx(response)
    return response


def _missing(request: ConsoleRequest, place: DetailRoute, informer: Informer[Any]) -> HttpResponse:
    text = missing_text(place.kind, place.key, truncated_at(informer))
    return error_page(request, 404, text)


def _data(
    place: DetailRoute,
    access: Access,
    informer: Informer[Any],
    entry: Entry[Any],
    others: Mapping[GVR, Informer[Any]],
    fmt: str,
) -> HttpResponse:
    kind = place.kind
    try:
        manifest = mask_values(entry.original(), kind.masked)
        if fmt == "json":
            with override(None):
                cause = _cause(cause_of(place, access, informer, entry, others))
            found = {
                **export_item(kind, kind.columns, entry),
                "resourceVersion": entry.resource_version,
                "cause": cause,
                "manifest": manifest,
            }
            return HttpResponse(msgspec.json.encode(found), content_type="application/json")
        response = HttpResponse(
            yaml_text(kind, manifest), content_type="application/yaml; charset=utf-8"
        )
    except RecursionError:
        return status_response(422, _("This object is nested too deeply to show here."))
    name = content_disposition_header(True, f"{place.key.name}.yaml")
    response["Content-Disposition"] = name or "attachment"
    return response


def _cause(found: Cause | None) -> dict[str, str] | None:
    """Return the cause in English, like all values in JSON."""
    if found is None:
        return None
    text = str(found.diagnosis.text) if found.diagnosis is not None else ""
    return {"severity": found.severity, "text": text, "reason": str(found.reason)}
