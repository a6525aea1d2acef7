"""The detail page of one object.

`detail` builds the page, the fragment and the websocket messages, so they can't differ. A page
consists of parts. Each part is rendered once, with placeholders for ages, and compared by its
rendered content, so the passing of time alone does not change it.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import HEADER
from console.ui.core.kind import NAV_GROUPS, KindView, ResourceKind
from console.ui.core.kind_permissions import RestrictedAccess
from console.ui.core.links import list_url
from console.ui.core.object_source import LiveState, live_state
from console.ui.core.permissions import Denied, check_visible
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.panels.standard import tabs_of
from console.ui.fragments.cached_fragments import CachedFragment
from console.ui.fragments.placeholders import collect_placeholders, split_at_placeholders
from console.ui.lists.rows import ActionBar, ListRow, action_bar, make_row, short_hash
from console.ui.navigation.level import Level
from console.ui.navigation.page_routes import DetailRoute
from console.ui.navigation.projects import can_access_project

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DetailPart:
    """A part of the page.

    `id` is the ID of the element. `template` renders the element around `body`, which is "" for
    a hidden part. `signature` changes with the rendered content. `place` is the place of the
    panel, or "head".
    """

    id: str
    template: str
    title: str | Promise
    body: CachedFragment
    signature: str
    place: str = "head"

    @property
    def empty(self) -> bool:
        return not "".join(self.body.pieces).strip()

    @property
    def html(self) -> SafeString:
        """Render the part with current ages, in the language that it was rendered in."""
        return render_to_string(self.template, {"part": self, "body": self.body.html()})


@dataclass(frozen=True, slots=True)
class TabLink:
    """A tab. `elsewhere` is True if it links to another page."""

    title: str | Promise
    url: str
    current: bool
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """The content of a detail page.

    `parts` are the deletion notice, the head, and the panels. `etag` is equal for two pages that
    look the same. `up_url` is the list of the kind. `project_url` is "" if the user may not open
    the project.
    """

    kind: KindView
    group: str | Promise
    key: str
    namespace: str
    name: str
    url: str
    up_url: str
    project_url: str
    tabs: tuple[TabLink, ...]
    parts: tuple[DetailPart, ...]
    etag: str
    resource_version: str
    freshness: LiveState

    @property
    def parts_by_place(self) -> Mapping[str, list[DetailPart]]:
        """The parts grouped by place."""
        found: dict[str, list[DetailPart]] = {}
        for part in self.parts:
            found.setdefault(part.place, []).append(part)
        return found


def start_informers(types: Collection[GVR], access: Access) -> Mapping[GVR, Informer[Any]]:
    """Return informers of the given types, and start them if necessary.

    Types are left out that the user may not list anywhere, that the cluster does not have, or
    that are never cached.
    """
    found: dict[GVR, Informer[Any]] = {}
    for gvr in sorted(types):
        nowhere = access.namespaces_where("list", gvr) == frozenset()
        if nowhere and not access.names_where("list", gvr):
            continue
        with suppress(UnknownKind):
            found[gvr] = access.cluster.runtime.informer(gvr)
    return found


def detail(
    place: DetailRoute,
    access: Access,
    informer: Informer[Any],
    others: Mapping[GVR, Informer[Any]],
    *,
    known: Mapping[str, DetailPart] | None = None,
) -> Detail | None:
    """Return the object as the user may see it, or None if it does not exist. Raise `Denied`.

    `known` contains parts by ID that are reused instead of rendered again.
    """
    place.check(access)
    entry = informer.store.get(place.key)
    if entry is None:
        return None
    subject = Subject(
        kind=place.kind,
        key=place.key,
        entry=entry,
        access=RestrictedAccess(access, place.kind, place.readable_types),
        informers={place.kind.gvr: informer, **others},
        cluster=place.cluster.name,
        query=dict(place.choices),
    )
    have = known or {}
    parts = [deletion_notice(place), have.get("detail-head") or _head(place, access, entry)]
    parts += [have.get(panel_id(panel)) or _panel(panel, subject) for panel in place.tab.panels]
    home = Level("project", place.cluster.name, namespace=place.key.namespace)
    return Detail(
        kind=place.kind.view,
        group=NAV_GROUPS[place.kind.nav.group],
        key=str(place.key),
        namespace=place.key.namespace,
        name=place.key.name,
        url=place.url,
        up_url=_up(place),
        project_url=home.url
        if home.namespace and can_access_project(access, home.namespace)
        else "",
        tabs=_tabs(place),
        parts=tuple(parts),
        etag=etag_of(parts),
        resource_version=entry.resource_version,
        freshness=live_state(informer),
    )


def panel_id(panel: Panel) -> str:
    """Return the ID of the panel's element."""
    return f"panel-{panel.id}"


def etag_of(parts: list[DetailPart]) -> str:
    return short_hash([(part.id, part.signature) for part in parts])


def deletion_notice(
    place: DetailRoute, deleted: datetime | None = None, *, gone: bool = False
) -> DetailPart:
    """Return the notice for a deleted object. `deleted` is the time of deletion, or None if
    unknown.
    """
    if not gone:
        return _part("detail-gone", "ui/detail/_gone.html", "", lambda: "")
    words = {"kind": place.kind.view, "deleted": deleted, "up_url": _up(place)}
    return _part(
        "detail-gone",
        "ui/detail/_gone.html",
        "",
        lambda: render_to_string("ui/detail/_gone_text.html", words),
    )


def _head(place: DetailRoute, access: Access, entry: Entry[Any]) -> DetailPart:
    row = make_row(place.kind, access, entry)
    column = place.kind.status_column
    context = {
        "row": row,
        "actions": _actions(row),
        "kind": place.kind.view,
        "status": column.value(entry) if column is not None else None,
        "created": entry.projection.created,
    }
    return _part(
        "detail-head",
        "ui/detail/_head.html",
        "",
        lambda: render_to_string("ui/detail/_head_text.html", context),
    )


def _actions(row: ListRow) -> ActionBar:
    return action_bar(item for item in row.menu if HEADER in item.action.places)


def _panel(panel: Panel, subject: Subject) -> DetailPart:
    part = _part(
        panel_id(panel), "ui/detail/_panel.html", panel.title, lambda: _shown(panel, subject)
    )
    return replace(part, place=panel.place)


def _shown(panel: Panel, subject: Subject) -> str:
    """Render one panel. A failing panel must not break the others, because tenants control its
    input.
    """
    try:
        return panel.html(subject)
    except RecursionError:
        text = _("This object is nested too deeply to show here.")
    except Exception:
        log.exception(
            "Failed to render panel %s of %s %s", panel.id, subject.kind.segment, subject.key
        )
        text = _("An internal error occurred. This section cannot be shown.")
    return render_to_string("ui/detail/_failed.html", {"text": text})


def _part(id: str, template: str, title: str | Promise, draw: Callable[[], str]) -> DetailPart:
    with collect_placeholders() as left:
        pieces = split_at_placeholders(draw())
    # A panel that failed halfway has registered placeholders for output that was discarded.
    body = CachedFragment(pieces, tuple(left[len(left) - len(pieces) + 1 :]))
    return DetailPart(id, template, title, body, short_hash((pieces, body.placeholders)))


@dataclass(frozen=True, slots=True)
class ObjectHead:
    """Tabs, actions and head of an object, for the page of an entity that the object represents."""

    entry: Entry[Any]
    tabs: tuple[TabLink, ...]
    actions: ActionBar
    uid: str
    name: str
    head: DetailPart

    @property
    def details_url(self) -> str:
        """The first tab of the object itself."""
        return self.tabs[1].url


def object_head(access: Access, gvr: GVR, key: Key) -> ObjectHead | None:
    """Return the head of the object, or None if the user may not see it or it is not in the cache."""
    kind, runtime = access.cluster.kinds.of(gvr), access.cluster.runtime
    tabs = object_tabs(access, kind, key)
    entry = None
    if tabs:
        with suppress(UnknownKind):
            entry = runtime.informer(gvr).store.get(key)
    if kind is None or entry is None:
        return None
    row = make_row(kind, access, entry)
    head = _head(DetailRoute(access.cluster, kind, key, tabs_of(kind)[0]), access, entry)
    return ObjectHead(entry, tabs, _actions(row), row.uid, key.name, head)


def object_tabs(access: Access, kind: ResourceKind | None, key: Key) -> tuple[TabLink, ...]:
    """Return the tabs for the page of an entity that the object represents: that page, then the
    object's tabs.

    Empty if the user may not see the object or the kind does not exist.
    """
    if kind is None:
        return ()
    try:
        check_visible(kind, access, key)
    except Denied:
        return ()
    place = DetailRoute(access.cluster, kind, key, tabs_of(kind)[0])
    page, *tabs = (replace(tab, current=False, elsewhere=True) for tab in _tabs(place))
    return replace(page, current=True), *tabs


def _tabs(place: DetailRoute) -> tuple[TabLink, ...]:
    """Return the tabs. The first is the page of the entity that the object represents, if it
    exists.
    """
    found = [
        TabLink(tab.title, replace(place, tab=tab, choices=()).url, tab == place.tab)
        for tab in tabs_of(place.kind)
    ]
    page = place.kind.page_url(place.cluster.name, place.key)
    if page:
        found[0] = replace(found[0], title=_("Details"))
        found.insert(0, TabLink(_("Overview"), page, current=False, elsewhere=True))
    return tuple(found)


def _up(place: DetailRoute) -> str:
    return list_url(place.cluster.name, place.kind.segment, place.key.namespace)
