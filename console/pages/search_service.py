"""Search in the cache of all kinds, limited to objects the viewer may see.

A search uses every built-in kind that the viewer may list. Kinds that are not cached yet are
watched from then on, as after opening their list, and kinds whose first list is still loading
are reported. Of the custom resources, which may be hundreds, only those already watched and the
kind named in the query are searched.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import BUILT_IN_GROUPS
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.kube.uncached import UNCACHED
from console.ui.core.access import Access
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import KindView, ResourceKind
from console.ui.core.threads import in_thread
from console.ui.search.query import SearchQuery
from console.ui.search.search import (
    FIRST,
    Searchable,
    SearchResults,
    search,
    searchable,
    searchable_among,
)


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
