"""Links to objects that the viewer can list and that the cache contains.

Viewers without permission to list a kind see the name without a link, whether or not the object
exists. The same applies until the first list of the kind is loaded. Owners, event objects and
scale targets of kinds without `addressable_by_kind_name` always have a link, because lists don't
watch all of these kinds: the link is the same for all viewers, and the page checks permission and
existence.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import NOTHING, Readable, visible
from console.ui.core.registry import kinds
from console.ui.lists.columns import (
    ANY_KIND,
    Column,
    LinkColumn,
    LinkTarget,
    ResolvedLink,
    target_url,
)

#: Returns True if an object exists, False if not, None if unknown or not visible to the viewer.
_Look = Callable[[Key], bool | None]


class LinkResolver:
    """Link resolver for one viewer and one page. Permissions are checked once per kind.

    Starts the informers of kinds that no one watches yet. `unsynced_types` collects the types whose
    first list is not loaded.
    """

    def __init__(self, access: Access) -> None:
        self.access, self._cluster = access, access.cluster
        self._looks: dict[str, _Look] = {}
        self.unsynced_types: set[GVR] = set()

    def resolve(self, target: LinkTarget | None) -> ResolvedLink:
        if target is not None and target.group_kind:
            return ResolvedLink(self._unchecked_url(target))
        url = target_url(self._cluster.name, target) if target is not None else ""
        if target is None or not url:
            return ResolvedLink()
        look = self._looks.get(target.segment)
        if look is None:
            look = self._looks[target.segment] = self._look(target.segment)
        there = look(Key(target.namespace, target.name))
        return ResolvedLink(url if there else "", there is False)

    def _unchecked_url(self, target: LinkTarget) -> str:
        """Return the page of an object, or "" if its type is not served."""
        kind = self._cluster.kinds.by_group_kind(target.group_kind)
        if kind is None or (kind.view.namespaced and not target.namespace):
            return ""
        # Tenants see objects that belong to the role of their workspace, which they can't open.
        if kind.nav.group in ("access", "tenancy") and not kind.view.namespaced:
            return ""
        namespace = target.namespace if kind.view.namespaced else ""
        return target_url(self._cluster.name, LinkTarget(kind.segment, namespace, target.name))

    def _look(self, segment: str) -> _Look:
        kind = self._cluster.kinds.find(segment)
        if kind is None:
            return _link_pending_type
        allowed = visible(kind, self.access)
        return partial(self._there, kind, allowed) if allowed != NOTHING else lambda key: None

    def _there(self, kind: ResourceKind, allowed: Readable, key: Key) -> bool | None:
        if not key.name:
            # A list, linked for viewers who can see objects in it.
            return not key.namespace or allowed.may_include(key.namespace) or None
        if not allowed.includes(key):
            return None
        if kind.uncached:
            # The object's page reads it with the viewer's permissions and reports if it does not
            # exist.
            return True
        try:
            informer = self._cluster.runtime.informer(kind.gvr)
        except UnknownKind:
            return None
        if not informer.freshness.synced:
            self.unsynced_types.add(kind.gvr)
            return None
        return informer.store.get(key) is not None


def _link_pending_type(key: Key) -> bool | None:
    """Link the list of a type whose definition is still being created. The list's page waits for
    the type.
    """
    return None if key.name else True


def with_link_targets(
    columns: Collection[Column], found: Iterable[ResolvedLink]
) -> tuple[Column, ...]:
    """Return the columns with the link targets in `found` assigned to the link columns."""
    left = iter(found)
    return tuple(
        replace(column, linked=next(left)) if isinstance(column, LinkColumn) else column
        for column in columns
    )


def has_dynamic_links(kind: ResourceKind) -> bool:
    """Return True if the kind's rows can link to types that are not known in advance."""
    return any(column.leads_to == ANY_KIND for column in kind.link_columns)


def linked_types(kind: ResourceKind) -> Iterator[GVR]:
    """Yield the types that the kind's rows can link to."""
    yield from types_of(
        dict.fromkeys(segment for one in kind.link_columns for segment in one.leads_to)
    )


def types_of(segments: Iterable[str]) -> Iterator[GVR]:
    found = (kinds.by_segment(segment) for segment in segments)
    return (kind.gvr for kind in found if kind is not None)


async def prepare_links(
    kind: ResourceKind, links: LinkResolver, entries: Iterable[Entry[Any]], *, seconds: float
) -> None:
    """Wait up to `seconds` for the first lists of the types that these entries link to."""
    runtime = links.access.cluster.runtime
    running = runtime.informers()
    types = set(linked_types(kind))
    if all(gvr in running and running[gvr].freshness.synced for gvr in types):
        # Fast path: every page calls this, and the lists are nearly always loaded.
        return
    for entry in entries:
        for column in kind.link_columns:
            links.resolve(column.target(entry))
    await asyncio.gather(
        *(runtime.wait_synced(gvr, timeout=seconds) for gvr in links.unsynced_types)
    )
