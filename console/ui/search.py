"""Objects of all kinds at once, for one viewer.

Permission comes first: what the viewer may not list is neither counted nor looked at. What is found of a
kind is exactly what its own list shows for the same words and labels.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.selectors import Requirement
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.columns.links import Target, target_url
from console.ui.columns.status import StatusText
from console.ui.decisions import Denied, Readable, readable
from console.ui.filters import LabelFilter, SearchFilter
from console.ui.haystacks import haystacks_of
from console.ui.kind import NAV_GROUPS, KindView, ResourceKind
from console.ui.names import SplitName
from console.ui.registry import kinds
from console.ui.searchquery import SearchQuery

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
            if _declared(kind) is not None:
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
    kind, declared = one.kind, _declared(one.kind)
    if declared is None or (query.labels and not _has_labels(kind)):
        return
    words = query.words_for(kind)
    found = haystacks_of(declared, informer).find((*words, *_hints(query)), one.readable)
    for selector in query.selectors:
        for requirement in selector.requirements:
            found = _labelled(found, requirement, informer)
    best = best_of(found, words, first)
    entries = [entry for _rank, key in best if (entry := informer.store.get(key)) is not None]
    if entries:
        hits = tuple(_hit(kind, entry) for entry in entries)
        url = query.list_of(kind, cluster).url
        yield best[0][0], HitGroup(kind.view, hits, len(found), url)


def best_of(found: Sequence[Key], words: Sequence[str], first: int) -> list[tuple[int, Key]]:
    """The first of these with how well each fits; the shorter name is the better one, then the alphabet.

    Written for tens of thousands: only what could still be among the first is looked at more closely.
    """
    best: list[tuple[int, Key]] = []
    rest = list(found)
    for rank, fits in enumerate(_fits_of(words[0]) if words else (_anything,)):
        hits = fits(rest)
        best += [(rank, key) for key in _shortest(hits, first - len(best))]
        if len(best) >= first:
            break
        if hits:
            taken = set(hits)
            rest = [key for key in rest if key not in taken]
    return best


def _fits_of(word: str) -> tuple[Callable[[list[Key]], list[Key]], ...]:
    """How well a name fits, the best first: it is the word, begins with it, has a part that does, has it
    inside; or the word is elsewhere. Each takes those of some objects that fit so well, or better."""
    dash, dot, colon = (f"{sign}{word}" for sign in "-.:")
    size = len(word)
    return (
        lambda keys: [key for key in keys if key[1] == word],
        # A method's call takes longer than a slice.
        lambda keys: [key for key in keys if key[1][:size] == word],
        lambda keys: [
            key for key in keys if dash in (name := key[1]) or dot in name or colon in name
        ],
        lambda keys: [key for key in keys if word in key[1]],
        _anything,
    )


def _anything(keys: list[Key]) -> list[Key]:
    return keys


def _shortest(keys: list[Key], first: int) -> list[Key]:
    if len(keys) > first:
        limit = sorted([len(key[1]) for key in keys])[first - 1]
        keys = [key for key in keys if len(key[1]) <= limit]
    return sorted(keys, key=lambda key: (len(key.name), key.name, key.namespace))[:first]


def _declared(kind: ResourceKind) -> SearchFilter | None:
    return next((found for found in kind.filters if isinstance(found, SearchFilter)), None)


def _has_labels(kind: ResourceKind) -> bool:
    return any(isinstance(found, LabelFilter) for found in kind.filters)


def _hints(query: SearchQuery) -> list[str]:
    """Texts in the haystack of every object with these labels, so that few are looked at closely."""
    return [
        f"{requirement.key}={value}".casefold()
        for selector in query.selectors
        for requirement in selector.requirements
        if requirement.op == "in" and len(requirement.values) == 1
        for value in requirement.values
    ]


def _labelled(keys: list[Key], requirement: Requirement, informer: Informer[Any]) -> list[Key]:
    get, matches = informer.store.get, requirement.matches
    return [
        key for key in keys if (entry := get(key)) is not None and matches(entry.projection.labels)
    ]


def _hit(kind: ResourceKind, entry: Entry[Any]) -> Hit:
    key, column = entry.key, kind.status_column
    return Hit(
        name=kind.name_column.split(entry),
        namespace=key.namespace,
        status=column.value(entry) if column is not None else None,
        created=entry.projection.created,
        url=target_url(Target(kind.segment, key.namespace, key.name)),
    )
