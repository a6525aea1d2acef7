"""Which objects a list shows, in its order, and how many there are of each severity.

This is the one place that takes objects of the shared cache for a viewer: the page, the socket and the
exports all read through `select`, and permission comes first.

What was worked out for a list is shared by all who ask the same with the same rights, and only by them:
the rights are part of its name.
"""

import asyncio
from typing import Any, Protocol

from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.store import Store
from console.ui.access import Access
from console.ui.decisions import readable
from console.ui.meters import reach_of
from console.ui.ordered import ALL, OrderedView, Question, Selection
from console.ui.shelf import Shelf
from console.ui.viewspec import ViewSpec

#: Lists that are kept at most, what they may hold in all (objects; about 250 bytes each), and for how
#: long (seconds) when nobody reads them.
PLACES, ROOM, IDLE = 64, 500_000, 600.0
#: Objects that may be looked at without others having to wait for it: some milliseconds.
QUICK = 500

_shelf: Shelf[tuple[Store[Any], Question], OrderedView] = Shelf(places=PLACES, room=ROOM, idle=IDLE)


def select(spec: ViewSpec, access: Access, informer: Informer[Any], part: slice = ALL) -> Selection:
    """The part of a list, by positions from 0. Raises `Denied`. `spec` has no errors."""
    return _view(spec, access, informer).read(part, descending=spec.descending)


async def prepare(spec: ViewSpec, access: Access, informer: Informer[Any]) -> None:
    """Makes `select` quick, in another thread if that takes long. Raises `Denied`."""
    await brought_up(_view(spec, access, informer))


class Followed(Protocol):
    @property
    def behind(self) -> int: ...
    def catch_up(self) -> None: ...


async def brought_up(followed: Followed) -> None:
    """Lets it take in what changed; other requests are served meanwhile."""
    if followed.behind > QUICK:
        await asyncio.to_thread(followed.catch_up)


def _view(spec: ViewSpec, access: Access, informer: Informer[Any]) -> OrderedView:
    store = informer.store
    allowed = readable(spec.kind, access, spec.namespaces)
    question = Question.of(spec, allowed, reach_of(spec.kind, access))
    if isinstance(informer, LiveList):
        # The store is one viewer's and ends with the page: nothing of it stays behind.
        return OrderedView(store, question)
    return _shelf.get((store, question), lambda: OrderedView(store, question))
