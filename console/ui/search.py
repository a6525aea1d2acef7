"""Objects of all kinds at once, for one viewer.

Permission comes first: what the viewer may not list is neither counted nor looked at. What is found of a
kind is exactly what its own list shows for the same words and labels.
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
from console.ui.columns.links import Target, target_url
from console.ui.columns.status import StatusText
from console.ui.decisions import Denied, Readable, readable
from console.ui.filters import label_line
from console.ui.haystacks import Match, haystacks_of
from console.ui.kind import NAV_GROUPS, KindView, ResourceKind
from console.ui.names import SplitName
from console.ui.registry import kinds
from console.ui.searchquery import SearchQuery
from console.ui.textblocks import bits

#: Objects of a kind that are shown before its whole list.
FIRST = 5
_GROUPS = {group: at for at, group in enumerate(NAV_GROUPS)}


@dataclass(frozen=True, slots=True)
class Searchable:
    """A kind that the viewer may list, with what of it may be seen."""

    kind: ResourceKind
    readable: Readable


@dataclass(frozen=True, slots=True)
class Hit:
    """One object. `url`: its page. `status` is None for kinds that have none."""

    name: SplitName
    namespace: str
    status: StatusText | None
    created: datetime | None
    url: str


@dataclass(frozen=True, slots=True)
class HitGroup:
    """`hits`: the first of `total`; `url`: the list of all of them."""

    kind: KindView
    hits: tuple[Hit, ...]
    total: int
    url: str


@dataclass(frozen=True, slots=True)
class Found:
    groups: tuple[HitGroup, ...] = ()

    @property
    def total(self) -> int:
        return sum(group.total for group in self.groups)


def searchable(access: Access) -> list[Searchable]:
    """The declared kinds that the viewer may look for, in the menu's order."""
    ordered = sorted(kinds, key=lambda kind: (_GROUPS[kind.nav.group], kind.nav.order))
    return searchable_of(ordered, access)


def searchable_of(some: Iterable[ResourceKind], access: Access) -> list[Searchable]:
    """Those of these kinds that the viewer may look for."""
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
) -> Found:
    """The best of each kind; the kind that the query names leads, then those whose names fit best."""
    if query.empty or query.error:
        return Found()
    ranked = [
        (one.kind is not query.kind, rank, at, group)
        for at, (one, informer) in enumerate(where)
        for rank, group in _of_kind(query, one, informer, cluster, first)
    ]
    return Found(tuple(group for *_rank, group in sorted(ranked, key=lambda item: item[:3])))


def _of_kind(
    query: SearchQuery, one: Searchable, informer: Informer[Any], cluster: str, first: int
) -> Iterable[tuple[int, HitGroup]]:
    kind = one.kind
    words, requirements = query.words_for(kind), _requirements(query)
    lines = [line for requirement in requirements if (line := label_line(requirement))]
    found = haystacks_of(kind.search, informer).find((*words, *lines), one.readable)
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
    found: Sequence[Match], requirement: Requirement, informer: Informer[Any]
) -> list[Match]:
    """Those whose labels meet the condition, which their texts do not tell."""
    get = informer.store.get

    def meets(key: Key) -> bool:
        entry = get(key)
        return entry is not None and requirement.matches(entry.projection.labels)

    masks = [
        (block, sum(1 << at for at in bits(mask) if meets(block.keys[at]))) for block, mask in found
    ]
    return [Match(block, mask) for block, mask in masks if mask]


def _hit(kind: ResourceKind, cluster: str, entry: Entry[Any]) -> Hit:
    key, column = entry.key, kind.status_column
    return Hit(
        name=kind.name_column.split(entry),
        namespace=key.namespace,
        status=column.value(entry) if column is not None else None,
        created=entry.projection.created,
        url=target_url(cluster, Target(kind.segment, key.namespace, key.name)),
    )
