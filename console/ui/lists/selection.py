"""The visible objects of a list, in order, and their number by severity.

Pages, websockets and exports all read objects of the shared cache through `select`, which checks
permissions first. Sorted lists are shared by viewers with the same query and permissions. The
permissions are part of the cache key.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.store import Store
from console.ui.core.access import Access
from console.ui.core.kind import FindCause
from console.ui.core.link_resolver import LinkResolver, prepare_links
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Readable, readable
from console.ui.core.threads import in_thread
from console.ui.lists.columns import UsageColumn
from console.ui.lists.ordered_view import ALL, ListSlice, OrderedView, ViewQuery
from console.ui.lists.viewspec import ViewSpec
from console.ui.usage.reading import UsageAccess, UsageReading, usage_access_of

#: Limits of the LRU cache: lists, objects in all lists (about 250 bytes each), and seconds without
#: use.
PLACES, ROOM, IDLE = 64, 500_000, 600.0
#: Objects that can be processed in the event loop without delaying other requests: a few
#: milliseconds.
QUICK = 500

_shelf: LruCache[tuple[Store[Any], ViewQuery], OrderedView] = LruCache(
    places=PLACES, room=ROOM, idle=IDLE, name="lists"
)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The query of a list with the viewer's access, computed for one response and never reused.

    `reach` is the viewer's usage access, None if no usage is shown. `links` resolves the links
    in cells. `find_cause` returns the cause of a row's state, None for kinds without causes.
    """

    spec: ViewSpec
    access: Access
    readable: Readable
    reach: UsageAccess | None
    links: LinkResolver
    find_cause: FindCause | None

    @classmethod
    def of(cls, spec: ViewSpec, access: Access) -> "ListQuery":
        """Return the query of a viewer. Raise `Denied` if the viewer can't see the list."""
        kind, allowed = spec.kind, readable(spec.kind, access, spec.namespaces)
        reach, find_cause = usage_access_of(kind, access), kind.cause_finder(access)
        return cls(spec, access, allowed, reach, LinkResolver(access), find_cause)

    def meter(self) -> UsageReading | None:
        """Return the current usage reading, if usage is shown."""
        return self.reach.read() if self.reach is not None else None


def select(query: ListQuery, informer: Informer[Any], part: slice = ALL) -> ListSlice:
    """Return a slice of a list. The query must not have errors."""
    return _view(query, informer).read(part, descending=query.spec.descending)


async def select_async(
    query: ListQuery,
    informer: Informer[Any],
    part: slice = ALL,
    *,
    seconds: float,
    links: bool = False,
) -> ListSlice:
    """Like `select`, but run in another thread if it takes long.

    Wait up to `seconds` for usage if it is shown, and, with `links`, for the first lists of the
    linked types.
    """
    spec = query.spec
    if query.reach is not None:
        by_usage = isinstance(spec.kind.sortable.get(spec.sort_column), UsageColumn)
        await query.reach.usage.wait(timeout=seconds, fresh=by_usage)
    view = _view(query, informer)
    await ensure_current(view)
    found = view.read(part, descending=spec.descending)
    if links:
        await prepare_links(spec.kind, query.links, found.entries, seconds=seconds)
    return found


class Derivable(Protocol):
    @property
    def pending_changes(self) -> int: ...
    def catch_up(self) -> None: ...


async def ensure_current(followed: Derivable) -> None:
    """Apply pending changes, in another thread if there are many."""
    if followed.pending_changes > QUICK:
        await in_thread(followed.catch_up)


def _view(query: ListQuery, informer: Informer[Any]) -> OrderedView:
    store = informer.store
    question = ViewQuery.of(query.spec, query.readable, query.reach)
    if isinstance(informer, LiveList):
        # The store belongs to one viewer and is discarded with the page, so it must not be cached.
        return OrderedView(store, question)
    return _shelf.get((store, question), lambda: OrderedView(store, question))
