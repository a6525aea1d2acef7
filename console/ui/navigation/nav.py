"""Navigation of a level: its rail, the tabs of a list, and the page of all resources.

The rail has few entries. An entry with several kinds shows them as tabs above each list. The
page of all resources contains every kind that the viewer can list.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.functional import Promise

from console.kube.gvr import GVR, NAMESPACES
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Store
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import NAV_GROUPS, ResourceKind
from console.ui.core.menu import RESOURCES_ENTRY, LevelName, MenuEntry, menu
from console.ui.core.permissions import Denied, Readable, readable
from console.ui.lists.selection import ensure_current
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.counts import counts_of
from console.ui.navigation.level import Level
from console.ui.navigation.projects import projects_in, visible_workspaces

#: Maximum custom resource kinds shown, and examined to find visible ones. The list of
#: CustomResourceDefinitions links to all of them.
CUSTOMS, CUSTOMS_LOOKED_AT = 200, 500
#: Number of cached URLs and rendered counts.
KEPT = 5000
#: Number of cached navigations, by viewer and project.
VIEWERS = 500


class _Count(NamedTuple):
    """The counts at one version of a store. `failing` is None for a kind without a status column."""

    store: "weakref.ref[Store[Any]]"
    version: int
    total: int
    failing: int | None


@dataclass(slots=True, eq=False)
class NavCount:
    """Number of visible objects of a kind, and of those that fail.

    `latest` is the result of the last count, or None before the first count. The value changes
    while the cached menu stays the same, so the cached fragment contains a placeholder for it.
    Thread-safe.
    """

    latest: _Count | None = None

    def update(self, shown: "_VisibleKind", informer: Informer[Any] | None) -> None:
        if informer is None or not informer.freshness.synced:
            self.latest = None
            return
        store, latest = informer.store, self.latest
        # Read before counting, because counting may include later changes.
        version = store.version
        if latest is not None and latest.version == version and latest.store() is store:
            return
        found = counts_of(shown.kind, informer).of(shown.allowed, shown.namespaces)
        failing = found[Severity.ERROR] if shown.kind.status_column else None
        self.latest = _Count(weakref.ref(store), version, sum(found.values()), failing)

    def html(self, lang: str) -> str:
        """Render the count in the active language."""
        latest = self.latest
        return "" if latest is None else _count_html(latest.total, latest.failing, lang)


@lru_cache(KEPT)
def _count_html(total: int, failing: int | None, lang: str) -> str:
    return render_to_string("ui/_kind_count.html", {"total": total, "failing": failing})


@dataclass(frozen=True, slots=True)
class NavItem:
    """Navigation link to the list of a kind.

    `kind` is the kind's URL segment. `group` is the API group of a custom resource, else "".
    Items are compared by URL and not by label.
    """

    label: str | Promise = field(compare=False)
    url: str
    current: bool
    count: NavCount
    kind: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class NavGroup:
    """A group of navigation items. `name` is its key in `NAV_GROUPS`."""

    name: str
    label: str | Promise = field(compare=False)
    items: tuple[NavItem, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProblemCount:
    """Number of failing objects of several kinds, as far as they are counted. Thread-safe."""

    counts: tuple[NavCount, ...]

    def html(self, lang: str) -> str:
        """Render the number in the active language, or nothing if no object fails."""
        failing = sum(one.latest.failing or 0 for one in self.counts if one.latest is not None)
        return _problems_html(failing, lang)


@dataclass(slots=True, eq=False)
class LevelProblems:
    """Number of failing objects by project and workspace, of the kinds that are checked for problems.

    Includes only objects that the viewer can see and kinds that are cached. All pages show these
    numbers. Thread-safe.
    """

    seen: tuple[Any, ...] = ()
    failing: Counter[tuple[LevelName, str]] = field(default_factory=Counter)

    def update(self, shown: Iterable["_VisibleKind"], access: Access) -> None:
        informers = access.cluster.runtime.informers()
        followed = [(one, informers[one.kind.gvr]) for one in shown if one.kind.gvr in informers]
        followed = [
            (one, informer)
            for one, informer in followed
            if informer.freshness.synced and one.kind.checked_for_problems
        ]
        # Read before counting, because counting may include later changes. The namespaces are
        # included because a project's workspace can change.
        stores = [informer.store for _one, informer in followed]
        stores += [informers[NAMESPACES].store] if NAMESPACES in informers else []
        seen = tuple((weakref.ref(store), store.version) for store in stores)
        if seen == self.seen:
            return
        failing: Counter[tuple[LevelName, str]] = Counter()
        for one, informer in followed:
            for namespace, number in counts_of(one.kind, informer).failing(one.allowed).items():
                failing["project", namespace] += number
        for workspace in visible_workspaces(access) if failing else ():
            projects = projects_in(access, workspace)
            failing["workspace", workspace] = sum(failing["project", name] for name in projects)
        self.seen, self.failing = seen, failing


class LevelProblemCount(NamedTuple):
    """Number of failing objects of one project or workspace."""

    problems: LevelProblems
    level: LevelName
    name: str

    def html(self, lang: str) -> str:
        """Render the number in the active language, or nothing if no object fails."""
        return _problems_html(self.problems.failing[self.level, self.name], lang)


@lru_cache(KEPT)
def _problems_html(failing: int, lang: str) -> str:
    return render_to_string("ui/_rail_problems.html", {"failing": failing})


@dataclass(frozen=True, slots=True)
class RailEntry:
    """An entry of the rail. `is_page` is True for a page that is not a list. `problems` is None if no
    objects are counted.
    """

    label: str | Promise = field(compare=False)
    icon: str
    url: str
    current: bool
    problems: ProblemCount | None = None
    is_page: bool = False


#: Maximum rail entries, so that the rail never scrolls.
MOST = 14


@dataclass(frozen=True, slots=True)
class Navigation:
    """The rail, and `tabs` with the kinds of the open entry if it has several. `listed` is the open
    kind if it has projects and the viewer can list it, else "".
    """

    rail: tuple[RailEntry, ...]
    tabs: tuple[NavItem, ...] = ()
    listed: str = ""


class _Place(NamedTuple):
    """A list's URL, and the namespace that the list is filtered by, if any."""

    url: str
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _VisibleKind:
    """A kind that the viewer can list. `item` is its navigation item in the inactive state."""

    kind: ResourceKind
    allowed: Readable
    namespaces: tuple[str, ...]
    item: NavItem


@dataclass(frozen=True, slots=True, eq=False)
class _KindGroup:
    """The kinds of an entry or a group.

    The object stays the same while the viewer's permissions stay the same, so fragment caches
    can look it up by identity.
    """

    kinds: tuple[_VisibleKind, ...]
    problems: ProblemCount


def nav(access: Access, level: Level, current: str, pins: tuple[str, ...] = ()) -> Navigation:
    """Return the rail of a level for a viewer, and the tabs of the open list. Does not start
    informers.

    `current` is the URL segment of the open kind, or the view name of the page. `pins` are URL
    segments of kinds that are added to a cluster's rail if the viewer can list them and space is
    left.
    """
    informers = access.cluster.runtime.informers()
    kinds = _kinds_of(access, level)
    rail: list[RailEntry] = []
    tabs: tuple[NavItem, ...] = ()
    found = menu()
    for entry in found.levels[level.name]:
        open_ = found.by_name.get(current) is entry
        members = kinds.entries.get(entry.kinds)
        if members is not None:
            items = [_item(shown, informers, current) for shown in members.kinds]
            open_ = open_ or any(item.current for item in items)
            tabs = tuple(items) if open_ and len(items) > 1 else tabs
            url, problems = members.kinds[0].item.url, members.problems
            rail.append(RailEntry(entry.label, entry.icon, url, open_, problems))
        elif _is_offered(entry, access, level) and (url := level.page_url(entry)):
            problems = None
            if entry is RESOURCES_ENTRY:
                problems = kinds.others.problems
                for shown in kinds.others.kinds:
                    shown.item.count.update(shown, informers.get(shown.kind.gvr))
            rail.append(RailEntry(entry.label, entry.icon, url, open_, problems, is_page=True))
    if level.name == "cluster":
        pinned = _pinned(access, level, current, pins)[: MOST - len(rail)]
        if any(entry.current for entry in pinned):
            rail = [replace(entry, current=False) for entry in rail]
        rail += pinned
    kind = access.cluster.kinds.find(current)
    if kind is None or kind.segment not in kinds.segments and not may_list(kind, access):
        return Navigation(tuple(rail), tabs)
    if not any(entry.current for entry in rail):
        # Kinds without an entry belong to the page of all resources.
        rail = [replace(one, current=one.icon == RESOURCES_ENTRY.icon) for one in rail]
    return Navigation(tuple(rail), tabs, kind.segment if kind.view.namespaced else "")


def _is_offered(entry: MenuEntry, access: Access, level: Level) -> bool:
    """Return True if the entry is a page that the viewer can open."""
    place = level.namespace or level.workspace
    return not entry.kinds and entry.may(access) and entry.may_here(access, place)


def _pinned(access: Access, level: Level, current: str, pins: tuple[str, ...]) -> list[RailEntry]:
    informers, entries = access.cluster.runtime.informers(), []
    known = {
        one.kind.segment: one
        for members in (_kinds_of(access, level).groups.values() if pins else ())
        for one in members.kinds
    }
    for segment in pins:
        kind = access.cluster.kinds.find(segment)
        shown = known.get(segment) or (_shown(kind, access, level) if kind is not None else None)
        if shown is not None:
            item = _item(shown, informers, current)
            # Counts of other custom resources are not cached.
            problems = _problems_of(shown) if segment in known else None
            entries.append(RailEntry(item.label, "pin", item.url, item.current, problems))
    return entries


@lru_cache(KEPT)
def _problems_of(shown: _VisibleKind) -> ProblemCount:
    return ProblemCount((shown.item.count,))


def level_problems(access: Access) -> LevelProblems:
    """Return the failing objects by project and workspace of the viewer's cluster. Does not start
    informers.
    """
    kinds = _kinds_of(access, Level("cluster", access.cluster.name))
    shown = (one for members in kinds.groups.values() for one in members.kinds)
    kinds.problems.update(shown, access)
    return kinds.problems


def all_kinds(access: Access, level: Level) -> tuple[NavGroup, ...]:
    """Return every kind that the viewer can list, by group. Does not start informers."""
    informers = access.cluster.runtime.informers()
    groups, customs = [], [*_customs(access)]
    for name, members in _kinds_of(access, level).groups.items():
        shown = list(members.kinds)
        if name in ("custom", "other"):
            known = {one.kind: one for one in shown}
            found = (
                known.get(kind) or _shown(kind, access, level)
                for kind in customs
                if kind.nav.group == name
            )
            shown = [one for one in shown if not isinstance(one.kind, GenericKind)]
            shown += filter(None, found)
        if items := tuple(_item(one, informers, "") for one in shown):
            groups.append(NavGroup(name, NAV_GROUPS[name], items))
    return tuple(groups)


async def update_counts(cluster: Cluster) -> None:
    """Update all counts before `nav` needs them, in another thread if counting takes long."""
    for gvr, informer in cluster.runtime.informers().items():
        kind = cluster.kinds.of(gvr)
        if kind is not None and informer.freshness.synced:
            await ensure_current(counts_of(kind, informer))


@dataclass(frozen=True, slots=True)
class _VisibleKinds:
    """The built-in kinds and the cached custom kinds that a viewer can list, by rail entry and group.

    `others` contains the kinds without an entry on the rail whose problems the page of all resources
    counts.
    """

    entries: Mapping[str, _KindGroup]
    groups: Mapping[str, _KindGroup]
    others: _KindGroup
    segments: frozenset[str]
    problems: LevelProblems = field(default_factory=LevelProblems)


def _kinds_of(access: Access, level: Level) -> _VisibleKinds:
    rights_version, cluster = access.rights_version(), access.cluster
    known = (*cluster.kinds.offered, *cluster.cached_customs)
    # Only an `Access` with a rights version can be a cache key.
    found: Callable[..., _VisibleKinds] = _declared if rights_version else _declared.__wrapped__
    return found(known, access, rights_version, level.cluster, level.namespace)


@lru_cache(VIEWERS)
def _declared(
    known: tuple[ResourceKind, ...],
    access: Access,
    rights_version: Hashable,
    cluster: str,
    namespace: str,
) -> _VisibleKinds:
    """Compute the kinds of a viewer. The result depends on the permissions only through `rights_version`,
    the rights version.
    """
    level = Level("cluster", cluster, namespace=namespace)
    rail = {one.kinds for one in menu().levels["project" if namespace else "cluster"]} - {""}
    entries: dict[str, list[_VisibleKind]] = {}
    groups: dict[str, list[_VisibleKind]] = {group: [] for group in NAV_GROUPS}
    others: list[_VisibleKind] = []
    for kind in _ordered(known):
        shown = _shown(kind, access, level)
        if shown is not None:
            groups[kind.nav.group].append(shown)
            # Project rails have no entries for cluster-scoped kinds.
            if shown.namespaces or not namespace:
                if kind.nav.entry:
                    entries.setdefault(kind.nav.entry, []).append(shown)
                if kind.nav.entry not in rail and kind.checked_for_problems:
                    others.append(shown)
    return _VisibleKinds(
        {name: _members(ones) for name, ones in entries.items()},
        {name: _members(ones) for name, ones in groups.items()},
        _members(others),
        frozenset(one.kind.segment for ones in groups.values() for one in ones),
    )


def _members(shown: list[_VisibleKind]) -> _KindGroup:
    counts = tuple(one.item.count for one in shown if one.kind.checked_for_problems)
    return _KindGroup(tuple(shown), ProblemCount(counts))


def _shown(kind: ResourceKind, access: Access, level: Level) -> _VisibleKind | None:
    """Return the kind's list for the viewer, or None if the viewer can't see the kind."""
    try:
        allowed = readable(kind, access)
    except Denied:
        return None
    place = _place(kind, allowed, level)
    item = NavItem(kind.title, place.url, False, NavCount(), kind.segment, _group(kind))
    return _VisibleKind(kind, allowed, place.namespaces, item)


@lru_cache(1)
def _ordered(known: tuple[ResourceKind, ...]) -> list[ResourceKind]:
    groups = {group: at for at, group in enumerate(NAV_GROUPS)}
    return sorted(known, key=lambda kind: (groups[kind.nav.group], kind.nav.order))


def _customs(access: Access) -> Iterator[ResourceKind]:
    """Yield the first kinds without a declaration that the viewer can see."""
    seen = (
        kind
        for kind in islice(access.cluster.kinds.customs, CUSTOMS_LOOKED_AT)
        if may_list(kind, access)
    )
    return islice(seen, CUSTOMS)


def may_list(kind: ResourceKind, access: Access) -> bool:
    """Return True if the viewer can list objects of the kind in any project."""
    try:
        readable(kind, access)
    except Denied:
        return False
    return True


def _place(kind: ResourceKind, allowed: Readable, level: Level) -> _Place:
    """Return the list that the navigation links to."""
    namespace = level.namespace
    if kind.view.namespaced and namespace and allowed.may_include(namespace):
        return _Place(_url(kind, level.cluster, namespace), (namespace,))
    return _Place(_url(kind, level.cluster, ""), ())


@lru_cache(KEPT)
def _url(kind: ResourceKind, cluster: str, namespace: str) -> str:
    spec = ViewSpec(kind, cluster)
    return (spec.with_values("namespace", (namespace,)) if namespace else spec).url


def _item(shown: _VisibleKind, informers: Mapping[GVR, Informer[Any]], current: str) -> NavItem:
    shown.item.count.update(shown, informers.get(shown.kind.gvr))
    return replace(shown.item, current=True) if current == shown.kind.segment else shown.item


def _group(kind: ResourceKind) -> str:
    return kind.gvr.group if isinstance(kind, GenericKind) else ""
