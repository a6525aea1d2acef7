"""Search page for objects of all kinds, as HTML and JSON."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import override

from console.kube.factory import UnknownKind
from console.kube.informer import Informer
from console.kube.runtime import Runtime
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
from console.ui.search.uncached import NotSearched, search_uncached
from console.views.guard import access_from_query
from console.views.page import page


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Search result.

    `loading` contains kinds that were not searched because their first list is not loaded yet,
    `skipped` those that were not searched completely for another reason, and `pending` those that
    the cache doesn't follow and that were not asked for.
    """

    found: SearchResults = SearchResults()
    loading: tuple[KindView, ...] = ()
    skipped: tuple[NotSearched, ...] = ()
    pending: tuple[Searchable, ...] = ()


async def search_all_kinds(
    query: SearchQuery,
    access: Access,
    *,
    wait: float,
    first: int = FIRST,
    uncached: bool | None = None,
) -> SearchResult:
    """Search in all kinds. Wait at most `wait` seconds for first lists.

    `uncached` True reads the types that the cache doesn't follow as the viewer, False only returns
    them, None ignores them.
    """
    if query.empty or query.error:
        return SearchResult()
    runtime = access.cluster.runtime
    where = [
        (one, informer)
        for one in (*searchable(access), *_customs(query, access))
        if (informer := _informer(access, one.kind)) is not None
    ]
    await _first_lists(runtime, where, wait)
    ready = [(one, informer) for one, informer in where if informer.freshness.synced]
    missing = [(one, informer) for one, informer in where if not informer.freshness.synced]
    loading = tuple(one.kind.view for one, informer in missing if _is_coming(one.kind, informer))
    more: list[tuple[int, HitGroup]] = []
    skipped: list[NotSearched] = []
    pending: list[Searchable] = []
    if uncached is not None:
        cached = {one.kind for one, informer in where if _is_cached(one.kind, informer)}
        pending = _uncached(query, access, cached)
    if uncached:
        more, skipped = await search_uncached(query, pending, access, first=first)
        pending = []
    cluster = access.cluster.name
    found = await in_thread(search, query, ready, cluster=cluster, first=first, more=more)
    return SearchResult(found, loading, tuple(skipped), tuple(pending))


def _is_cached(kind: ResourceKind, informer: Informer[Any]) -> bool:
    return informer.freshness.synced or _is_coming(kind, informer)


def _uncached(
    query: SearchQuery, access: Access, cached: Collection[ResourceKind]
) -> list[Searchable]:
    """Return the kinds that the cache doesn't follow and the viewer can list, the kind that the query
    names first.
    """
    kinds = access.cluster.kinds
    private = (kind for kind in kinds.offered if kind.uncached)
    wanted = dict.fromkeys([*private, *islice(kinds.customs, MOST_KINDS)])
    if query.kind in wanted:
        wanted = {query.kind: None, **wanted}
    return searchable_among((kind for kind in wanted if kind not in cached), access)


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


def _informer(access: Access, kind: ResourceKind) -> Informer[Any] | None:
    """Return the kind's informer, or None if the cluster doesn't have the kind or the kind is never
    cached.
    """
    runtime, kinds = access.cluster.runtime, access.cluster.kinds
    if kind.uncached or not (kind.gvr in runtime.informers() or kinds.installed(kind.gvr)):
        return None
    try:
        return runtime.informer(kind.gvr)
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


#: Maximum kinds to examine for those that the viewer can list.
MOST_KINDS = 500
#: Seconds that the first search of a kind waits for its list.
FIRST_LIST_WAIT = 2.0


@page("GET", formats=("json",))
async def search_page(request: ConsoleRequest) -> HttpResponse:
    """GET /search?q=…: search in the cluster named by `cluster`, the host by default.

    The page first shows results from the cache. Then it requests itself with `?all=1`, which also
    asks kube-apiserver for each type that the cache doesn't follow.
    """
    access = access_from_query(request)
    query = parse_search(access.cluster.kinds, " ".join(request.GET.getlist("q")))
    as_json = request.GET.get("format") == "json"
    everything = as_json or request.GET.get("all") == "1"
    looked = await search_all_kinds(query, access, wait=FIRST_LIST_WAIT, uncached=everything)
    if as_json:
        return _data(query, looked)
    await update_counts(access.cluster)
    context = {
        "query": query,
        "found": looked.found,
        "loading": looked.loading,
        "skipped": looked.skipped,
        "pending": looked.pending,
        "state": _state(query, looked),
    }
    return render(request, "console/search.html", context, status=400 if query.error else 200)


def _state(query: SearchQuery, looked: SearchResult) -> EmptyState | None:
    if query.error:
        return EmptyState("bad-input", _("Invalid search"), query.error)
    if query.empty or looked.found.groups or looked.pending:
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
                "notSearched": [
                    {"resource": one.kind.segment, "reason": str(one.reason)}
                    for one in looked.skipped
                ],
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
        "matches": [
            {"field": one.field, "text": f"{one.before}{one.matched}{one.after}"}
            for one in hit.matches
        ],
    }
