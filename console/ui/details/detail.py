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
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, GVR, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import EVERYTHING, Access
from console.ui.core.actions import HEADER
from console.ui.core.kind import KindView, ResourceKind
from console.ui.core.kind_permissions import RestrictedAccess
from console.ui.core.links import list_url, who_may_url
from console.ui.core.object_source import LiveState, live_state
from console.ui.core.permissions import Denied, check_visible
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.panels.standard import AUDIT, tabs_of
from console.ui.details.panels.summary import Cause, CausePanel
from console.ui.fragments.cached_fragments import CachedFragment, part_html
from console.ui.fragments.placeholders import collect_placeholders, split_at_placeholders
from console.ui.lists.rows import ActionBar, ListRow, action_bar, make_row, short_hash
from console.ui.navigation.page_routes import DetailRoute

log = logging.getLogger(__name__)

#: Returns a changed URL.
UrlChange = Callable[[str], str]
#: Template of the head of an object's page.
HEAD = "ui/detail/_head_text.html"


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
        """Return the HTML of the part with current ages, in the language of its body.

        The element around the body is rendered once for all objects.
        """
        given = {
            "signature": self.signature,
            "hidden": " hidden" if self.empty else "",
            "body": self.body.html(),
        }
        values = (("id", self.id), ("title", str(self.title)))
        # The names must not become placeholders of a cached fragment around the part.
        with collect_placeholders() as names:
            element = part_html(self.template, values)
        before, *others = split_at_placeholders(element)
        pieces = [before]
        for name, piece in zip(names, others, strict=True):
            pieces += (given[str(name)], piece)
        return SafeString("".join(pieces))


@dataclass(frozen=True, slots=True)
class TabLink:
    """A tab. `elsewhere` is True if the whole page is loaded, which may be another page."""

    title: str | Promise
    url: str
    current: bool
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """The content of a detail page.

    `parts` are the deletion notice, the head, and the panels. `etag` is equal for two pages that
    look the same.
    """

    kind: KindView
    key: str
    namespace: str
    name: str
    url: str
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
    with_list: UrlChange | None = None,
    head_template: str = HEAD,
) -> Detail | None:
    """Return the object as the user may see it, or None if it does not exist. Raise `Denied`.

    `known` contains parts by ID that are reused instead of rendered again. `with_list` adds the list
    that the user came from to the URLs of actions. `head_template` renders name, status and actions.
    """
    place.check(access)
    entry = informer.store.get(place.key)
    if entry is None:
        return None
    subject = _subject(place, access, informer, entry, others)
    have = known or {}
    head = have.get("detail-head") or _head(place, access, entry, with_list, head_template)
    parts = [deletion_notice(place), head]
    parts += [have.get(panel_id(panel)) or _panel(panel, subject) for panel in place.tab.panels]
    return Detail(
        kind=place.kind.view,
        key=str(place.key),
        namespace=place.key.namespace,
        name=place.key.name,
        url=place.url,
        tabs=_tabs(place, access),
        parts=tuple(parts),
        etag=etag_of(parts),
        resource_version=entry.resource_version,
        freshness=live_state(informer),
    )


def cause_of(
    place: DetailRoute,
    access: Access,
    informer: Informer[Any],
    entry: Entry[Any],
    others: Mapping[GVR, Informer[Any]],
) -> Cause | None:
    """Return the cause that the tab shows for the object's state, or None."""
    subject = _subject(place, access, informer, entry, others)
    panels = (one for one in place.tab.panels if isinstance(one, CausePanel))
    try:
        return next((found for one in panels if (found := one.cause(subject))), None)
    except RecursionError:
        return None


def _subject(
    place: DetailRoute,
    access: Access,
    informer: Informer[Any],
    entry: Entry[Any],
    others: Mapping[GVR, Informer[Any]],
) -> Subject:
    return Subject(
        kind=place.kind,
        key=place.key,
        entry=entry,
        access=RestrictedAccess(access, place.kind, place.readable_types),
        informers={place.kind.gvr: informer, **others},
        cluster=place.cluster.name,
        query=dict(place.choices),
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


def _head(
    place: DetailRoute,
    access: Access,
    entry: Entry[Any],
    with_list: UrlChange | None = None,
    template: str = HEAD,
) -> DetailPart:
    row = make_row(place.kind, access, entry)
    column = place.kind.status_column

    def part(actions: ActionBar) -> DetailPart:
        context = {
            "row": row,
            "actions": actions,
            "kind": place.kind.view,
            "status": column.value(entry) if column is not None else None,
            "created": entry.projection.created,
        }
        return _part(
            "detail-head",
            "ui/detail/_head.html",
            "",
            lambda: render_to_string(template, context),
        )

    found = part(_actions(row))
    # The signature is that of the part without the list, which the websockets send to all users.
    return replace(found, body=part(_actions(row, with_list)).body) if with_list else found


def _actions(row: ListRow, with_list: UrlChange | None = None) -> ActionBar:
    shown = (item for item in row.menu if HEADER in item.action.places)
    if with_list is not None:
        shown = (replace(item, url=with_list(item.url)) for item in shown)
    return action_bar(shown)


def _panel(panel: Panel, subject: Subject) -> DetailPart:
    part = _part(
        panel_id(panel), "ui/detail/_panel.html", panel.title, lambda: panel_html(panel, subject)
    )
    return replace(part, place=panel.place)


def panel_html(panel: Panel, subject: Subject) -> str:
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


def object_head(
    access: Access, gvr: GVR, key: Key, with_list: UrlChange | None = None
) -> ObjectHead | None:
    """Return the head of the object, or None if the user may not see it or it is not in the cache.
    `with_list` adds the list that the user came from to the URLs of actions.
    """
    kind, runtime = access.cluster.kinds.of(gvr), access.cluster.runtime
    tabs = object_tabs(access, kind, key)
    entry = None
    if tabs:
        with suppress(UnknownKind):
            entry = runtime.informer(gvr).store.get(key)
    if kind is None or entry is None:
        return None
    row = make_row(kind, access, entry)
    place = DetailRoute(access.cluster, kind, key, tabs_of(kind)[0])
    head = _head(place, access, entry, with_list)
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
    page, *tabs = (replace(tab, current=False, elsewhere=True) for tab in _tabs(place, access))
    return replace(page, current=True), *tabs


def linked_tabs(access: Access, kind: ResourceKind, key: Key, current: str) -> tuple[TabLink, ...]:
    """Return the tabs for the page with the URL `current`, which is one of `ResourceKind.tab_pages`.

    Empty if the user may not see the object.
    """
    try:
        check_visible(kind, access, key)
    except Denied:
        return ()
    place = DetailRoute(access.cluster, kind, key, tabs_of(kind)[0])
    tabs = _tabs(place, access)
    return tuple(replace(tab, current=tab.url == current, elsewhere=True) for tab in tabs)


def _tabs(place: DetailRoute, access: Access) -> tuple[TabLink, ...]:
    """Return the tabs. The first is the page of the entity that the object represents, if it
    exists. The last are other pages of the object, and a link to the users who may read the object,
    for viewers who may list bindings.
    """
    found = [
        TabLink(tab.title, replace(place, tab=tab, choices=()).url, tab == place.tab, tab == AUDIT)
        for tab in tabs_of(place.kind)
        if tab != AUDIT or access.can("list", EVERYTHING, namespace=place.key.namespace)
    ]
    page = place.kind.page_url(place.cluster.name, place.key)
    if page:
        found[0] = replace(found[0], title=_("Details"))
        found.insert(0, TabLink(_("Overview"), page, current=False, elsewhere=True))
    others = place.kind.tab_pages(access, place.key)
    found += (TabLink(title, url, current=False, elsewhere=True) for title, url in others)
    if access.can("list", CLUSTER_ROLE_BINDINGS):
        # The page checks the other permissions, which depend on the question.
        url = who_may_url(place.cluster.name, place.kind.segment, place.key)
        found.append(TabLink(_("Who may…?"), url, current=False, elsewhere=True))
    return tuple(found)


def _up(place: DetailRoute) -> str:
    return list_url(place.cluster.name, place.kind.segment, place.key.namespace)
