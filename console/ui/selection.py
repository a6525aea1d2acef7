"""Which objects a list shows, in its order, and how many there are of each severity.

This is the one place that takes objects of the shared cache for a viewer: the page, the socket and the
exports all read through `select`, and permission comes first.

What was worked out for a list is shared by all who ask the same with the same rights, and only by them:
the rights are part of its name.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.store import Store
from console.ui.access import Access
from console.ui.columns import UsageColumn
from console.ui.decisions import Readable, readable
from console.ui.linked import Links, prepare_links
from console.ui.meters import Meter, Reach, reach_of
from console.ui.ordered import ALL, OrderedView, Question, Selection
from console.ui.shelf import Shelf
from console.ui.threads import in_thread
from console.ui.viewspec import ViewSpec

#: Lists that are kept at most, what they may hold in all (objects; about 250 bytes each), and for how
#: long (seconds) when nobody reads them.
PLACES, ROOM, IDLE = 64, 500_000, 600.0
#: Objects that may be looked at without others having to wait for it: some milliseconds.
QUICK = 500

_shelf: Shelf[tuple[Store[Any], Question], OrderedView] = Shelf(places=PLACES, room=ROOM, idle=IDLE)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A list as a viewer asked for it, and what they may see of it: decided by `of`, once for one answer,
    and never kept for another.

    `reach`: whose usage they may know, None where none is shown. `links`: what its cells lead to.
    """

    spec: ViewSpec
    access: Access
    readable: Readable
    reach: Reach | None
    links: Links

    @classmethod
    def of(cls, spec: ViewSpec, access: Access) -> "ListQuery":
        """Raises `Denied`."""
        allowed = readable(spec.kind, access, spec.namespaces)
        return cls(spec, access, allowed, reach_of(spec.kind, access), Links(access))

    def meter(self) -> Meter | None:
        """What is known of usage now."""
        return self.reach.now() if self.reach is not None else None


def select(query: ListQuery, informer: Informer[Any], part: slice = ALL) -> Selection:
    """The part of a list, by positions from 0. The query has no errors."""
    return _view(query, informer).read(part, descending=query.spec.descending)


async def selected(
    query: ListQuery,
    informer: Informer[Any],
    part: slice = ALL,
    *,
    seconds: float,
    links: bool = False,
) -> Selection:
    """As `select`, in another thread if that takes long. So long at most it waits for usage that is shown
    and, with `links`, for the first lists of what the part leads to."""
    spec = query.spec
    if query.reach is not None:
        by_usage = isinstance(spec.kind.sortable.get(spec.sort_column), UsageColumn)
        await query.reach.usage.wait(timeout=seconds, fresh=by_usage)
    view = _view(query, informer)
    await brought_up(view)
    found = view.read(part, descending=spec.descending)
    if links:
        await prepare_links(spec.kind, query.links, found.entries, seconds=seconds)
    return found


class Followed(Protocol):
    @property
    def behind(self) -> int: ...
    def catch_up(self) -> None: ...


async def brought_up(followed: Followed) -> None:
    """Lets it take in what changed; other requests are served meanwhile."""
    if followed.behind > QUICK:
        await in_thread(followed.catch_up)


def _view(query: ListQuery, informer: Informer[Any]) -> OrderedView:
    store = informer.store
    question = Question.of(query.spec, query.readable, query.reach)
    if isinstance(informer, LiveList):
        # The store is one viewer's and ends with the page: nothing of it stays behind.
        return OrderedView(store, question)
    return _shelf.get((store, question), lambda: OrderedView(store, question))
