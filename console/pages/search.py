"""Search page for objects of all kinds, as HTML and JSON."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import override

from console.kube.factory import UnknownKind
from console.kube.gvr import BUILT_IN_GROUPS
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.kube.uncached import UNCACHED
from console.ui.core.access import Access
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import KindView, ResourceKind
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response
from console.ui.core.threads import in_thread
from console.ui.fragments.empty_states import EmptyState
from console.ui.navigation.nav import update_counts
from console.ui.search.query import SearchQuery, parse_search
from console.ui.search.search import (
    FIRST,
    Hit,
    HitGroup,
    Searchable,
    SearchResults,
    search,
    searchable,
    searchable_among,
)
from console.views.guard import access_from_query
from console.views.page import page


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Search result. `loading` contains kinds that were not searched because their first list is
    not loaded yet.
    """

    found: SearchResults = SearchResults()
    loading: tuple[KindView, ...] = ()


async def search_all_kinds(
    query: SearchQuery, access: Access, *, wait: float, first: int = FIRST
) -> SearchResult:
    """Search in all kinds. Wait at most `wait` seconds for first lists."""
    if query.empty or query.error:
        return SearchResult()
    runtime = access.cluster.runtime
    where = [
        (one, informer)
        for one in (*searchable(access), *_customs(query, access))
        if (informer := _informer(runtime, one.kind)) is not None
    ]
    await _first_lists(runtime, where, wait)
    ready = [(one, informer) for one, informer in where if informer.freshness.synced]
    missing = tuple(one.kind.view for one, informer in where if _is_coming(one.kind, informer))
    found = await in_thread(search, query, ready, cluster=access.cluster.name, first=first)
    return SearchResult(found, missing)


def _is_coming(kind: ResourceKind, informer: Informer[Any]) -> bool:
    if informer.freshness.synced:
        return False
    # Custom resources that the console may not list are read with the viewer's own credentials on
    # their list page.
    return informer.refusal is None or not isinstance(kind, GenericKind)


def _customs(query: SearchQuery, access: Access) -> list[Searchable]:
    cluster = access.cluster
    followed = (cluster.kinds.of(gvr) for gvr in cluster.runtime.informers())
    wanted = dict.fromkeys(
        kind for kind in (query.kind, *followed) if isinstance(kind, GenericKind)
    )
    return searchable_among(wanted, access)


def _informer(runtime: Runtime, kind: ResourceKind) -> Informer[Any] | None:
    """Return the kind's informer, or None if the cluster doesn't have the kind or the kind is never
    cached.
    """
    gvr = kind.gvr
    if gvr in UNCACHED:
        return None
    known = gvr in runtime.informers() or gvr.group in BUILT_IN_GROUPS
    if not known and runtime.types.get(gvr) is None:
        return None
    try:
        return runtime.informer(gvr)
    except UnknownKind:
        return None


async def _first_lists(
    runtime: Runtime, where: list[tuple[Searchable, Informer[Any]]], wait: float
) -> None:
    # Don't wait for lists that kube-apiserver refuses, because that would delay every search.
    cold = [
        one.kind.gvr
        for one, informer in where
        if not informer.freshness.synced and not informer.freshness.problem
    ]
    if cold:
        await asyncio.gather(*(runtime.wait_synced(gvr, timeout=wait) for gvr in cold))


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
