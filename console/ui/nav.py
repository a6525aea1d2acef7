"""The menu: what the viewer may list, with how many there are."""

import weakref
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import CLUSTER_ROLES, GLOBAL_ROLES, GVR, ROLES, USERS
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Store
from console.ui.access import Access
from console.ui.clusters import HOST, Cluster
from console.ui.counts import counts_of
from console.ui.creating import may_create_any
from console.ui.decisions import Denied, Readable, readable
from console.ui.generic import GenericKind
from console.ui.kind import NAV_GROUPS, ResourceKind
from console.ui.links import import_url
from console.ui.platform import may_list_everything
from console.ui.selection import brought_up
from console.ui.viewspec import ViewSpec

#: Custom resources that the menu has, and those that are looked at to find them. The list of their
#: definitions leads to all.
CUSTOMS, CUSTOMS_LOOKED_AT = 20, 500
#: Links that are kept: of each kind for some namespaces.
KEPT = 5000
#: The names of pages that the menu has one entry for.
_ROLE_PAGES = frozenset(f"access:{name}" for name in ("new_role", "project_role", "role", "roles"))
#: Viewers in a project, or in all, whose kinds are kept.
MENUS = 500


class _Counted(NamedTuple):
    """How many there were in a version of a store; `failing` is None for a kind without states."""

    store: "weakref.ref[Store[Any]]"
    version: int
    total: int
    failing: int | None


@dataclass(slots=True, eq=False)
class NavCount:
    """How many objects of a kind a viewer may see, and how many of them fail. `latest`: when anybody last
    looked; None for what nobody has looked at yet, which says nothing.

    It changes while the menu around it stays: drawings have gaps for it. Any thread may look.
    """

    latest: _Counted | None = None

    def bring_up(self, shown: "_Shown", informer: Informer[Any] | None) -> None:
        if informer is None or not informer.freshness.synced:
            self.latest = None
            return
        store, latest = informer.store, self.latest
        # Before the counting, which may take in more than that.
        version = store.version
        if latest is not None and latest.version == version and latest.store() is store:
            return
        found = counts_of(shown.kind, informer).of(shown.allowed, shown.namespaces)
        failing = found[Severity.ERROR] if shown.kind.status_column else None
        self.latest = _Counted(weakref.ref(store), version, sum(found.values()), failing)

    def html(self, lang: str) -> str:
        """In the language that is active."""
        latest = self.latest
        return "" if latest is None else _count_html(latest.total, latest.failing, lang)


@lru_cache(KEPT)
def _count_html(total: int, failing: int | None, lang: str) -> str:
    return render_to_string("ui/_rail_count.html", {"total": total, "failing": failing})


@dataclass(frozen=True, slots=True)
class NavItem:
    """`group` is the API group of a kind that nobody declared, else "". Items are compared by their URL,
    which names the kind, not by the label that goes with it. What is no kind has no `count`.
    """

    label: str | Promise = field(compare=False)
    url: str
    current: bool
    count: NavCount | None = None
    group: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class NavGroup:
    """`name`: its key in `NAV_GROUPS`. The same object for as long as it looks the same to a viewer, so
    that it need not be compared to be known again."""

    name: str
    label: str | Promise
    items: tuple[NavItem, ...]


class _Place(NamedTuple):
    """`namespaces`: the one that the list is narrowed to, if any."""

    url: str
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """A kind in a viewer's menu. `item`: while its list is not open."""

    kind: ResourceKind
    allowed: Readable
    namespaces: tuple[str, ...]
    item: NavItem
    count: NavCount


@dataclass(slots=True, eq=False)
class _Members:
    """A group of a viewer's menu. `customs` and `drawn`: what it was like when somebody last looked."""

    name: str
    kinds: tuple[_Shown, ...]
    customs: dict[ResourceKind, _Shown] = field(default_factory=dict)
    drawn: NavGroup | None = None

    def group(self, items: tuple[NavItem, ...]) -> NavGroup:
        drawn = self.drawn
        if drawn is None or drawn.items != items:
            drawn = self.drawn = NavGroup(self.name, NAV_GROUPS[self.name], items)
        return drawn


_Menu = tuple[_Members, ...]


def menu(access: Access, *, namespace: str, current: str) -> tuple[NavGroup, ...]:
    """The menu of a cluster, for a viewer. It starts no informers.

    `namespace` ("" for all) is kept by its links where the viewer may look there; `current` is the
    segment of the list that is open.
    """
    kinds, cluster = access.cluster.kinds, access.cluster.name
    informers = access.cluster.runtime.informers()
    groups = [_overview(cluster, namespace, current, creates=may_create_any(access))]
    standing, known = access.standing(), tuple(kinds.declared)
    everything = may_list_everything(access)
    # An Access with a standing can be compared.
    declared: Callable[..., _Menu] = _declared if standing else _declared.__wrapped__
    for members in declared(known, access, standing, cluster, namespace):
        found = list(members.kinds)
        if members.name == "custom":
            known_customs = members.customs
            customs = {
                kind: known_customs.get(kind) or _shown(kind, access, cluster, namespace)
                for kind in _customs(access, current)
            }
            members.customs = {kind: shown for kind, shown in customs.items() if shown}
            found += members.customs.values()
        items = [
            _item(shown, informers.get(shown.kind.gvr), current == shown.kind.segment)
            for shown in found
        ]
        items += _pages(members.name, access, current, everything=everything)
        if items:
            groups.append(members.group(tuple(items)))
    return tuple(groups)


async def prepare_menu(cluster: Cluster) -> None:
    """Makes `menu` quick, in another thread if counting takes long."""
    for gvr, informer in cluster.runtime.informers().items():
        kind = cluster.kinds.of(gvr)
        if kind is not None and informer.freshness.synced:
            await brought_up(counts_of(kind, informer))


@lru_cache(MENUS)
def _declared(
    known: tuple[ResourceKind, ...],
    access: Access,
    standing: Hashable,
    cluster: str,
    namespace: str,
) -> _Menu:
    """The kinds that have a declaration, by group. The same for as long as `standing` is."""
    viewer = access, cluster, namespace
    return tuple(
        _Members(group, tuple(filter(None, (_shown(kind, *viewer) for kind in members))))
        for group, members in groupby(_ordered(known), key=lambda kind: kind.nav.group)
    )


def _shown(kind: ResourceKind, access: Access, cluster: str, namespace: str) -> _Shown | None:
    """None if the viewer may not see the kind at all."""
    allowed = _allowed(kind, access)
    if allowed is None:
        return None
    place, count = _place(kind, allowed, cluster, namespace), NavCount()
    item = NavItem(kind.title, place.url, False, count, _group(kind))
    return _Shown(kind, allowed, place.namespaces, item, count)


@lru_cache(1)
def _ordered(known: tuple[ResourceKind, ...]) -> list[ResourceKind]:
    groups = {group: at for at, group in enumerate(NAV_GROUPS)}
    return sorted(known, key=lambda kind: (groups[kind.nav.group], kind.nav.order))


def _customs(access: Access, current: str) -> Iterator[ResourceKind]:
    """Kinds of custom resources: the first that the viewer may see, and the one that is open."""
    shown = 0
    for kind in islice(access.cluster.kinds.customs, CUSTOMS_LOOKED_AT):
        if shown < CUSTOMS and _allowed(kind, access):
            shown += 1
            yield kind
        elif kind.segment == current:
            yield kind


@lru_cache(KEPT)
def _overview(cluster: str, namespace: str, current: str, *, creates: bool) -> NavGroup:
    items = tuple(_overviews(cluster, namespace, current, creates=creates))
    return NavGroup("overview", gettext_lazy("Overview"), items)


def _overviews(cluster: str, namespace: str, current: str, *, creates: bool) -> Iterator[NavItem]:
    """Everybody has them, as they show what their reader may see; but whoever may create nothing is not
    offered that (`creates`). The project is the chosen one."""
    pages = [
        ("dashboard", gettext_lazy("Platform"), ()),
        ("cluster_overview", gettext_lazy("Cluster"), (cluster,)),
    ]
    if namespace:
        pages.append(("project_overview", gettext_lazy("Project"), (cluster, namespace)))
    for name, label, place in pages:
        yield NavItem(label, _address(name, *place), current == name)
    if creates:
        url = import_url(cluster, namespace=namespace)
        yield NavItem(gettext_lazy("Create from YAML"), url, current == "import")


@lru_cache(KEPT)
def _address(name: str, *place: str) -> str:
    return reverse(name, args=place)


def _access_pages(access: Access, current: str, *, everything: bool) -> Iterator[NavItem]:
    if any(_may_list(access, gvr) for gvr in (GLOBAL_ROLES, CLUSTER_ROLES, ROLES)):
        url = _address("access:roles")
        yield NavItem(gettext_lazy("Roles by level"), url, current in _ROLE_PAGES)
    if access.can("create", USERS):
        name, label = "access:new_account", gettext_lazy("New user")
        yield NavItem(label, _address(name), current == name)
    if everything:
        name, label = "accounts:federation:providers", gettext_lazy("Identity providers")
        yield NavItem(label, _address(name), current == name)


def _may_list(access: Access, gvr: GVR) -> bool:
    return access.namespaces_where("list", gvr) != frozenset()


def _pages(group: str, access: Access, current: str, *, everything: bool) -> list[NavItem]:
    """What the menu has besides kinds, of this cluster alone: accounts, roles by level and workspaces are
    the host's. `everything`: the viewer may list it."""
    cluster = access.cluster.name
    if group == "access" and cluster == HOST:
        return list(_access_pages(access, current, everything=everything))
    if group == "tenancy" and cluster == HOST:
        url = _address("workspace_list")
        here = f"{current.removeprefix('access:')}_".startswith("workspace_")
        return [NavItem(gettext_lazy("My workspaces"), url, here)]
    if group == "cluster" and everything:
        return [NavItem(gettext_lazy("Cache"), _address("cache", cluster), current == "cache")]
    return []


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


def _item(shown: _Shown, informer: Informer[Any] | None, current: bool) -> NavItem:
    shown.count.bring_up(shown, informer)
    return replace(shown.item, current=True) if current else shown.item


def _group(kind: ResourceKind) -> str:
    return kind.gvr.group if isinstance(kind, GenericKind) else ""
