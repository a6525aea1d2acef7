"""Searching the cache of all kinds for one viewer, without making others wait.

A search is a use of every declared kind that the viewer may list: those that nobody follows are followed
from then on, as after a look at their lists, and what has not arrived yet is named. Of custom resources,
which may be hundreds, it looks at those that are followed already and at the one that it names.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import BUILT_IN_GROUPS
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.kube.uncached import UNCACHED
from console.ui.access import Access
from console.ui.generic import GenericKind
from console.ui.kind import KindView, ResourceKind
from console.ui.search import FIRST, Found, Searchable, search, searchable, searchable_of
from console.ui.searchquery import SearchQuery
from console.ui.threads import in_thread


@dataclass(frozen=True, slots=True)
class Looked:
    """`loading`: kinds that were not searched, since their first lists have not arrived."""

    found: Found = Found()
    loading: tuple[KindView, ...] = ()


async def look(query: SearchQuery, access: Access, *, wait: float, first: int = FIRST) -> Looked:
    """Waits at most `wait` seconds for first lists."""
    if query.empty or query.error:
        return Looked()
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
    return Looked(found, missing)


def _is_coming(kind: ResourceKind, informer: Informer[Any]) -> bool:
    if informer.freshness.synced:
        return False
    # Custom resources that the cache may not list are read as whoever opens their list.
    return informer.refusal is None or not isinstance(kind, GenericKind)


def _customs(query: SearchQuery, access: Access) -> list[Searchable]:
    cluster = access.cluster
    followed = (cluster.kinds.of(gvr) for gvr in cluster.runtime.informers())
    wanted = dict.fromkeys(
        kind for kind in (query.kind, *followed) if isinstance(kind, GenericKind)
    )
    return searchable_of(wanted, access)


def _informer(runtime: Runtime, kind: ResourceKind) -> Informer[Any] | None:
    """None for kinds that this cluster does not have, or the cache never."""
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
    # What the server refuses to list will not come soon: nobody waits for it at each search.
    cold = [
        one.kind.gvr
        for one, informer in where
        if not informer.freshness.synced and not informer.freshness.problem
    ]
    if cold:
        await asyncio.gather(*(runtime.wait_synced(gvr, timeout=wait) for gvr in cold))
