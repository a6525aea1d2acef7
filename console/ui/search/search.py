"""Search across all kinds, for one viewer, and the ranking of results.

Objects that the viewer can't list are neither searched nor counted. The results of a kind are
exactly the objects that its list shows for the same words and labels.
"""

import sys
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.selectors import Requirement
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.kind import NAV_GROUPS, KindView, ResourceKind
from console.ui.core.permissions import NOTHING, Readable, visible
from console.ui.core.text import SplitName
from console.ui.lists.columns import LinkTarget, StatusText, target_url
from console.ui.lists.filters import label_line
from console.ui.search.index_blocks import END, SIGNS, Order, bits, order_of
from console.ui.search.matches import NAME, MatchedText, matches_of
from console.ui.search.query import SearchQuery
from console.ui.search.search_index import BlockMatch, search_index_of

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
    """An object in the search results.

    `status` is None for kinds without a status column. `matches` contains the texts that match the
    search (`console.ui.search.matches`).
    """

    name: SplitName
    namespace: str
    status: StatusText | None
    created: datetime | None
    url: str
    matches: tuple[MatchedText, ...] = ()

    @property
    def name_match(self) -> MatchedText | None:
        """The first match in the name."""
        return next((one for one in self.matches if one.field == NAME), None)

    @property
    def other_matches(self) -> tuple[MatchedText, ...]:
        return tuple(one for one in self.matches if one.field != NAME)


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
    """Return the installed built-in kinds that the viewer can search, in menu order."""
    ordered = sorted(
        access.cluster.kinds.offered, key=lambda kind: (_GROUPS[kind.nav.group], kind.nav.order)
    )
    return searchable_among(ordered, access)


def searchable_among(some: Iterable[ResourceKind], access: Access) -> list[Searchable]:
    """Return the kinds that the viewer can search."""
    found = (Searchable(kind, visible(kind, access)) for kind in some)
    return [one for one in found if one.readable != NOTHING]


def rank_of(name: str, words: Sequence[str]) -> int:
    """Return the rank of an object with this lowercase name, as in `best_of`."""
    if not words or name == words[0]:
        return 0
    if name.startswith(words[0]):
        return 1
    if any(f"{sign}{words[0]}" in name for sign in SIGNS):
        return 2
    return 3 if words[0] in name else 4


def search(
    query: SearchQuery,
    where: Iterable[tuple[Searchable, Informer[Any]]],
    *,
    cluster: str,
    first: int = FIRST,
    more: Sequence[tuple[int, HitGroup]] = (),
) -> SearchResults:
    """Return the best results of each kind. `more` contains the ranks and results of kinds that
    were searched separately.

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
    named = query.kind.view if query.kind is not None else None
    last = sys.maxsize // 2
    ranked += [
        (group.kind != named, rank, last + at, group) for at, (rank, group) in enumerate(more)
    ]
    return SearchResults(
        tuple(group for *_rank, group in sorted(ranked, key=lambda item: item[:3]))
    )


def _of_kind(
    query: SearchQuery, one: Searchable, informer: Informer[Any], cluster: str, first: int
) -> Iterable[tuple[int, HitGroup]]:
    kind = one.kind
    words = query.words_for(kind)
    requirements = [one for selector in query.selectors for one in selector.requirements]
    lines = [line for requirement in requirements if (line := label_line(requirement))]
    found = search_index_of(kind.search, informer).find((*words, *lines), one.readable)
    for requirement in requirements:
        if not label_line(requirement):
            found = _labelled(found, requirement, informer)
    best = best_of(found, words, first)
    entries = [entry for _rank, key in best if (entry := informer.store.get(key)) is not None]
    if entries:
        hits = tuple(_hit(kind, cluster, entry, query) for entry in entries)
        url = query.list_of(kind, cluster).url
        total = sum(match.mask.bit_count() for match in found)
        yield best[0][0], HitGroup(kind.view, hits, total, url)


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


def _hit(kind: ResourceKind, cluster: str, entry: Entry[Any], query: SearchQuery) -> Hit:
    key, column = entry.key, kind.status_column
    return Hit(
        name=kind.name_column.split(entry),
        namespace=key.namespace,
        status=column.value(entry) if column is not None else None,
        created=entry.projection.created,
        url=target_url(cluster, LinkTarget(kind.segment, key.namespace, key.name)),
        matches=matches_of(kind, entry, query),
    )


#: Number of index blocks in the first batch, before a limit is known that excludes other blocks.
_AT_ONCE = 10
_LAST: Order = (sys.maxsize, "", "")


def best_of(found: Sequence[BlockMatch], words: Sequence[str], first: int) -> list[tuple[int, Key]]:
    """Return the best `first` matches with the rank of each.

    Ranks: the name equals the first word (0), starts with it (1), has a part that starts with it
    (2), contains it (3), or the word occurs elsewhere (4). Without words, all matches have rank
    0. Within a rank, shorter names come first, then alphabetical order applies.
    """
    if not words:
        return [(0, key) for key in _first(found, [""], first, [])]
    word = words[0]
    named = [match for match in found if word in match[0].names]
    begun = [match for match in named if word[0] in match[0].initials]
    ranks = (
        (begun, [f"{END}{word}{END}"]),
        (begun, [f"{END}{word}"]),
        (begun, [f"{sign}{word}" for sign in SIGNS]),
        (named, [word]),
        (found, [""]),
    )
    best: list[tuple[int, Key]] = []
    for rank, (among, marks) in enumerate(ranks):
        wanted, taken = first - len(best), [key for _rank, key in best]
        best += [(rank, key) for key in _first(among, marks, wanted, taken)]
        if len(best) >= first:
            break
    return best


def _first(
    found: Sequence[BlockMatch], marks: Sequence[str], wanted: int, taken: Sequence[Key]
) -> list[Key]:
    """Return the first `wanted` keys whose names contain any of the `marks`, except those in
    `taken`. The mark "" matches every name.
    """
    best: list[Order] = []
    for mark in marks:
        start, limit = 0, best[-1] if len(best) == wanted else _LAST
        while start < len(found):
            # Batches grow, because the limit barely changes after the first ones.
            end = 2 * start + _AT_ONCE
            for block, mask in [
                match
                for match in found[start:end]
                if match[0].first < limit and mark in match[0].names
            ]:
                for at in block.named(mark) if mark else bits(mask):
                    key = block.keys[at]
                    order = order_of(key)
                    if order >= limit:
                        break
                    if mask >> at & 1 and order not in best and key not in taken:
                        insort(best, order)
                        del best[wanted:]
                        limit = best[-1] if len(best) == wanted else _LAST
            start = end
    return [Key(namespace, name) for _length, name, namespace in best]
