"""What a page may link: what the viewer may list and the cache holds.

Whoever may not list something is shown the name alone, whether or not there is such an object. So is
whoever asks before the first list has come: a link is shown once it is known to lead somewhere.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.columns import ANYWHERE, Column, LinkColumn, Target, target_url
from console.ui.columns.links import Linked
from console.ui.decisions import Denied, Readable, readable
from console.ui.kind import ResourceKind
from console.ui.registry import kinds

#: What is told of an object: whether there is one; None where nobody may or can say.
_Look = Callable[[Key], bool | None]


class Links:
    """For one viewer and one page: rights are decided once for each kind. Starts the informers of what is
    named where nobody follows them; `waits_for` are the types whose first list has not come."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._looks: dict[str, _Look] = {}
        self.waits_for: set[GVR] = set()

    def to(self, target: Target | None) -> Linked:
        url = target_url(self.access.cluster.name, target) if target is not None else ""
        if target is None or not url:
            return Linked()
        look = self._looks.get(target.segment)
        if look is None:
            look = self._looks[target.segment] = self._look(target.segment)
        there = look(Key(target.namespace, target.name))
        return Linked(url if there else "", there is False)

    def of(self, columns: Iterable[Column], entry: Entry[Any]) -> tuple[Linked, ...]:
        """What the cells of those columns that link lead to, in their order."""
        return tuple(
            self.to(column.target(entry)) for column in columns if isinstance(column, LinkColumn)
        )

    def _look(self, segment: str) -> _Look:
        kind = self.access.cluster.kinds.find(segment)
        if kind is None:
            return _is_coming
        try:
            allowed = readable(kind, self.access)
        except Denied:
            return _nobody_knows
        return partial(self._there, kind, allowed)

    def _there(self, kind: ResourceKind, allowed: Readable, key: Key) -> bool | None:
        if not key.name:
            # A list, for whoever may see something there.
            return not key.namespace or allowed.reaches(key.namespace) or None
        if not allowed.sees(key):
            return None
        try:
            informer = self.access.cluster.runtime.informer(kind.gvr)
        except UnknownKind:
            # Never cached: its page reads it as the viewer, and says if there is none.
            return kind.private or None
        if not informer.freshness.synced:
            self.waits_for.add(kind.gvr)
            return None
        return informer.store.get(key) is not None


def _nobody_knows(key: Key) -> None:
    return None


def _is_coming(key: Key) -> bool | None:
    """The list of a type that is just being defined has a page, which waits for it."""
    return None if key.name else True


def linked(columns: Collection[Column], found: Iterable[Linked]) -> tuple[Column, ...]:
    """The columns, of which those that link know where to."""
    left = iter(found)
    return tuple(
        replace(column, linked=next(left)) if isinstance(column, LinkColumn) else column
        for column in columns
    )


def leads_anywhere(kind: ResourceKind) -> bool:
    """Whether cells of the kind's rows may lead to types that nobody can tell beforehand."""
    links = (column for column in kind.columns if isinstance(column, LinkColumn))
    return any(column.leads_to == ANYWHERE for column in links)


def linked_types(kind: ResourceKind) -> Iterator[GVR]:
    """The types that cells of the kind's rows may lead to."""
    segments = {
        segment: None
        for column in kind.columns
        if isinstance(column, LinkColumn)
        for segment in column.leads_to
    }
    yield from types_of(segments)


def types_of(segments: Iterable[str]) -> Iterator[GVR]:
    for segment in segments:
        kind = kinds.find(segment)
        if kind is not None:
            yield kind.gvr


async def prepare_links(
    kind: ResourceKind, links: Links, entries: Iterable[Entry[Any]], *, seconds: float
) -> None:
    """Waits for the first lists of what rows of these objects lead to, but no longer than that."""
    runtime = links.access.cluster.runtime
    running = runtime.informers()
    types = set(linked_types(kind))
    if all(gvr in running and running[gvr].freshness.synced for gvr in types):
        # Nearly always, and every page asks.
        return
    for entry in entries:
        links.of(kind.columns, entry)
    await asyncio.gather(*(runtime.wait_synced(gvr, timeout=seconds) for gvr in links.waits_for))
