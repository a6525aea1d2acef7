"""The menu: what the viewer may list, with how many there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils.functional import Promise

from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.kube.status import Severity
from console.ui.access import Access
from console.ui.decisions import Denied, readable_namespaces
from console.ui.kind import NAV_GROUPS, ResourceKind
from console.ui.registry import kinds
from console.ui.selection import select
from console.ui.viewspec import ViewSpec


@dataclass(frozen=True, slots=True)
class NavItem:
    """`count` and `failing` are None for kinds that nobody has looked at yet."""

    label: str | Promise
    url: str
    current: bool
    count: int | None
    failing: int | None


@dataclass(frozen=True, slots=True)
class NavGroup:
    label: str | Promise
    items: tuple[NavItem, ...]


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
    places = {group: at for at, group in enumerate(NAV_GROUPS)}
    ordered = sorted(kinds, key=lambda kind: (places[kind.nav.group], kind.nav.order))
    groups = []
    for group, members in groupby(ordered, key=lambda kind: kind.nav.group):
        items = [
            _item(kind, spec, access, informers.get(kind.gvr), current == kind.segment)
            for kind in members
            if (spec := _spec(kind, access, cluster, namespace))
        ]
        if items:
            groups.append(NavGroup(NAV_GROUPS[group], tuple(items)))
    return tuple(groups)


def _spec(kind: ResourceKind, access: Access, cluster: str, namespace: str) -> ViewSpec | None:
    """The list that the menu leads to; None if the viewer may not see it at all."""
    everywhere = ViewSpec(kind, cluster)
    try:
        readable_namespaces(kind, access)
    except Denied:
        return None
    if not namespace or not kind.view.namespaced:
        return everywhere
    try:
        readable_namespaces(kind, access, (namespace,))
    except Denied:
        return everywhere
    return everywhere.with_values("namespace", (namespace,))


def _item(
    kind: ResourceKind,
    spec: ViewSpec,
    access: Access,
    informer: Informer[Any] | None,
    current: bool,
) -> NavItem:
    count = failing = None
    if informer is not None and informer.freshness.synced:
        tally = select(spec, access, informer).tally
        count = sum(tally.values())
        failing = tally[Severity.ERROR] if kind.status_column else None
    return NavItem(kind.title, spec.url, current, count, failing)
