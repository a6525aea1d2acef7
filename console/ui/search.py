"""Search across all kinds, for one viewer.

Objects that the viewer can't list are neither searched nor counted. The results of a kind are
exactly the objects that its list shows for the same words and labels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.selectors import Requirement
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.bestmatches import best_of
from console.ui.columns.links import LinkTarget, target_url
from console.ui.columns.status import StatusText
from console.ui.decisions import Denied, Readable, readable
from console.ui.filters import label_line
from console.ui.haystacks import BlockMatch, search_index_of
from console.ui.kind import NAV_GROUPS, KindView, ResourceKind
from console.ui.names import SplitName
from console.ui.registry import kinds
from console.ui.searchquery import SearchQuery
from console.ui.textblocks import bits

#: Maximum objects shown per kind. The kind's list shows all.
FIRST = 5
_GROUPS = {group: at for at, group in enumerate(NAV_GROUPS)}


@dataclass(frozen=True, slots=True)
class Searchable:
    """A kind that the viewer can search, and its visible objects."""

    kind: ResourceKind
    readable: Readable


@dataclass(frozen=True, slots=True)
class Hit:
    """An object in the search results. `status` is None for kinds without a status column."""

    name: SplitName
    namespace: str
    status: StatusText | None
    created: datetime | None
    url: str


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The search results of a kind. `hits` contains the first of `total` objects, and `url` is the
    list of all.
    """

    kind: KindView
    hits: tuple[Hit, ...]
    total: int
    url: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    groups: tuple[HitGroup, ...] = ()

    @property
    def total(self) -> int:
        return sum(group.total for group in self.groups)


def searchable(access: Access) -> list[Searchable]:
    """Return the built-in kinds that the viewer can search, in menu order."""
    ordered = sorted(kinds, key=lambda kind: (_GROUPS[kind.nav.group], kind.nav.order))
    return searchable_among(ordered, access)


def searchable_among(some: Iterable[ResourceKind], access: Access) -> list[Searchable]:
    """Return the kinds that the viewer can search."""
    found = []
    for kind in some:
        try:
            found.append(Searchable(kind, readable(kind, access)))
        except Denied:
            continue
    return found


def search(
    query: SearchQuery,
    where: Iterable[tuple[Searchable, Informer[Any]]],
    *,
    cluster: str,
    first: int = FIRST,
) -> SearchResults:
    """Return the best results of each kind.

    The kind named in the query comes first, followed by the kinds with the best-matching object
    names.
    """
    if query.empty or query.error:
        return SearchResults()
    ranked = [
        (one.kind is not query.kind, rank, at, group)
        for at, (one, informer) in enumerate(where)
        for rank, group in _of_kind(query, one, informer, cluster, first)
    ]
    return SearchResults(
        tuple(group for *_rank, group in sorted(ranked, key=lambda item: item[:3]))
    )


def _of_kind(
    query: SearchQuery, one: Searchable, informer: Informer[Any], cluster: str, first: int
) -> Iterable[tuple[int, HitGroup]]:
    kind = one.kind
    words, requirements = query.words_for(kind), _requirements(query)
    lines = [line for requirement in requirements if (line := label_line(requirement))]
    found = search_index_of(kind.search, informer).find((*words, *lines), one.readable)
    for requirement in requirements:
        if not label_line(requirement):
            found = _labelled(found, requirement, informer)
    best = best_of(found, words, first)
    entries = [entry for _rank, key in best if (entry := informer.store.get(key)) is not None]
    if entries:
        hits = tuple(_hit(kind, cluster, entry) for entry in entries)
        url = query.list_of(kind, cluster).url
        total = sum(match.mask.bit_count() for match in found)
        yield best[0][0], HitGroup(kind.view, hits, total, url)


def _requirements(query: SearchQuery) -> list[Requirement]:
    return [found for selector in query.selectors for found in selector.requirements]


def _labelled(
    found: Sequence[BlockMatch], requirement: Requirement, informer: Informer[Any]
) -> list[BlockMatch]:
    """Filter matches by a label requirement that the search index can't answer."""
    get = informer.store.get

    def meets(key: Key) -> bool:
        entry = get(key)
        return entry is not None and requirement.matches(entry.projection.labels)

    masks = [
        (block, sum(1 << at for at in bits(mask) if meets(block.keys[at]))) for block, mask in found
    ]
    return [BlockMatch(block, mask) for block, mask in masks if mask]


def _hit(kind: ResourceKind, cluster: str, entry: Entry[Any]) -> Hit:
    key, column = entry.key, kind.status_column
    return Hit(
        name=kind.name_column.split(entry),
        namespace=key.namespace,
        status=column.value(entry) if column is not None else None,
        created=entry.projection.created,
        url=target_url(cluster, LinkTarget(kind.segment, key.namespace, key.name)),
    )
