"""Recent events of an object, from the shared recent-events store.

Every user who can create events can write arbitrary content into them, so their content is not
trusted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import EVENTS
from console.kube.indexes import indexes_of
from console.kube.projections.event import Event
from console.kube.status import Severity
from console.kube.store import Entry, Store
from console.ui.core.links import list_url, object_url
from console.ui.core.manifests import text
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.visible_type import VisibleType
from console.ui.lists.columns import StatusText

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _EventLine:
    status: StatusText
    message: str
    count: int
    last: datetime | None
    source: str
    url: str


@dataclass(frozen=True, kw_only=True)
class EventsPanel(Panel):
    """The newest `most` events. The panel is hidden if `quiet` is True and the object has no
    events.
    """

    id: str = "events"
    title: str | Promise = _("Events")
    most: int = 200
    quiet: bool = False
    also = (EVENTS,)

    def html(self, subject: Subject) -> SafeString:
        informer = subject.informers.get(EVENTS)
        synced = informer is not None and informer.freshness.synced
        found = _about(subject, informer.store) if informer is not None else []
        if self.quiet and not found:
            return NOTHING
        context = {
            "lines": [_line(subject, entry) for entry in found[: self.most]],
            "more": max(0, len(found) - self.most),
            "all_url": _all_url(subject),
            "may": informer is not None,
            "synced": synced,
        }
        return render_to_string("ui/panels/events.html", context)


def _about(subject: Subject, store: Store[Any]) -> list[Entry[Event]]:
    """Return the events of this object's UID, and events without a UID for an object of this name,
    newest first.
    """
    index = indexes_of(store).by(_keys)
    uid = subject.entry.projection.uid
    named = (subject.kind.group_kind, subject.key.namespace, subject.key.name)
    found = {entry.key: entry for entry in index.get(uid) if uid}
    found |= {entry.key: entry for entry in index.get(named)}
    return sorted(VisibleType(subject, EVENTS).only_visible(found.values()), key=_newest)


def _keys(entry: Entry[Event]) -> Iterable[str | tuple[str, str, str]]:
    event = entry.projection
    kind, _slash, name = event.about.partition("/")
    # Older kubelets set the UID of their node to its name.
    if event.about_uid not in ("", name):
        yield event.about_uid
    else:
        yield (kind, event.about_namespace, name)


def _newest(entry: Entry[Event]) -> tuple[float, str]:
    return -(entry.projection.last or _LONG_AGO).timestamp(), entry.key.name


def _line(subject: Subject, entry: Entry[Event]) -> _EventLine:
    event = entry.projection
    severity = "" if event.status.severity is Severity.OK else event.status.severity.value
    return _EventLine(
        status=StatusText(severity, translate(event.status.word), escape_invisible(event.reason)),
        message=text(event.message),
        count=event.count,
        last=event.last,
        source=escape_invisible(event.source),
        url=object_url(subject.cluster, EVENTS.resource, entry.key),
    )


def _all_url(subject: Subject) -> str:
    about = f"{subject.kind.group_kind}/{subject.key.name}"
    place = [("namespace", subject.key.namespace)] if subject.key.namespace else []
    query = urlencode([*place, ("object", about)])
    return f"{list_url(subject.cluster, EVENTS.resource)}?{query}"
