"""The menu: what the viewer may list, with how many there are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.kube.status import Severity
from console.ui.access import Access
from console.ui.counts import counts_of
from console.ui.decisions import Denied, Readable, readable
from console.ui.kind import NAV_GROUPS, ResourceKind
from console.ui.platform import may_list_everything
from console.ui.registry import kinds
from console.ui.selection import brought_up
from console.ui.viewspec import ViewSpec

#: Links that are kept: of each kind for some namespaces.
KEPT = 5000


@dataclass(frozen=True, slots=True)
class NavItem:
    """`count` and `failing` are None for kinds that nobody has looked at yet.

    Items are compared by their URL, which names the kind, not by the label that goes with it.
    """

    label: str | Promise = field(compare=False)
    url: str
    current: bool
    count: int | None
    failing: int | None


@dataclass(frozen=True, slots=True)
class NavGroup:
    label: str | Promise = field(compare=False)
    items: tuple[NavItem, ...]


class _Place(NamedTuple):
    """`namespaces`: the one that the list is narrowed to, if any."""

    url: str
    namespaces: tuple[str, ...]


def menu(
    access: Access,
    informers: Mapping[GVR, Informer[Any]],
    *,
    cluster: str,
    namespace: str,
    current: str,
) -> tuple[NavGroup, ...]:
    """The menu for a viewer. `informers`: those that run; the menu starts none.

    `namespace` ("" for all) is kept by its links where the viewer may look there; `current` is the
    segment of the list that is open.
    """
    groups = []
    for group, members in groupby(_ordered(tuple(kinds)), key=lambda kind: kind.nav.group):
        items = [
            _item(kind, allowed, place, informers.get(kind.gvr), current == kind.segment)
            for kind in members
            if (allowed := _allowed(kind, access))
            for place in (_place(kind, allowed, cluster, namespace),)
        ]
        items += _pages(group, access, cluster, current)
        if items:
            groups.append(NavGroup(NAV_GROUPS[group], tuple(items)))
    return tuple(groups)


async def prepare_menu(informers: Mapping[GVR, Informer[Any]]) -> None:
    """Makes `menu` quick, in another thread if counting takes long."""
    for kind in kinds:
        informer = informers.get(kind.gvr)
        if informer is not None and informer.freshness.synced:
            await brought_up(counts_of(kind, informer))


@lru_cache(1)
def _ordered(known: tuple[ResourceKind, ...]) -> list[ResourceKind]:
    groups = {group: at for at, group in enumerate(NAV_GROUPS)}
    return sorted(known, key=lambda kind: (groups[kind.nav.group], kind.nav.order))


def _pages(group: str, access: Access, cluster: str, current: str) -> list[NavItem]:
    """What the menu has besides kinds."""
    if group == "access" and may_list_everything(access):
        url, label = reverse("accounts:federation:providers"), gettext_lazy("Identity providers")
        return [NavItem(label, url, current == "providers", None, None)]
    if group != "cluster" or not may_list_everything(access):
        return []
    url = reverse("cache", args=(cluster,))
    return [NavItem(gettext_lazy("Cache"), url, current == "cache", None, None)]


def _allowed(kind: ResourceKind, access: Access) -> Readable | None:
    """None if the viewer may not see the kind at all."""
    try:
        return readable(kind, access)
    except Denied:
        return None


def _place(kind: ResourceKind, allowed: Readable, cluster: str, namespace: str) -> _Place:
    """The list that the menu leads to."""
    if kind.view.namespaced and namespace and allowed.reaches(namespace):
        return _Place(_url(kind, cluster, namespace), (namespace,))
    return _Place(_url(kind, cluster, ""), ())


@lru_cache(KEPT)
def _url(kind: ResourceKind, cluster: str, namespace: str) -> str:
    spec = ViewSpec(kind, cluster)
    return (spec.with_values("namespace", (namespace,)) if namespace else spec).url


def _item(
    kind: ResourceKind,
    allowed: Readable,
    place: _Place,
    informer: Informer[Any] | None,
    current: bool,
) -> NavItem:
    count = failing = None
    if informer is not None and informer.freshness.synced:
        counts = counts_of(kind, informer).of(allowed, place.namespaces)
        count = sum(counts.values())
        failing = counts[Severity.ERROR] if kind.status_column else None
    return NavItem(kind.title, place.url, current, count, failing)
