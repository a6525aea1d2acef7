"""Recent changes of an overview page: created, rolled out and deleted workloads, and warning
events.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from console.kube.group_kind import without_group
from console.kube.gvr import EVENTS, WORKLOADS, Key
from console.kube.store import Entry
from console.ui.core.link_resolver import LinkResolver
from console.ui.core.page_data import PageData, VisibleKind
from console.ui.core.text import escape_invisible, space_mixed_scripts
from console.ui.diagnosis.recent_changes import ChangeTime, recent_changes_of
from console.ui.lists.columns import LinkTarget, target_of, target_url
from console.ui.lists.selection import ensure_current
from console.ui.lists.viewspec import ViewSpec

#: Maximum number of entries of each list.
MAX_ENTRIES = 8
#: Maximum age of a change.
RECENT = timedelta(days=7)
#: A rollout that ends within this number of seconds after the object's creation counts as the
#: creation.
FIRST_ROLLOUT = 600.0

CREATED = pgettext_lazy("change", "Created")
ROLLED_OUT = pgettext_lazy("change", "Rolled out")
DELETED = pgettext_lazy("change", "Deleted")


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """Change of a workload. `url` is "" if the object was deleted."""

    at: datetime
    word: str | Promise
    noun: str | Promise
    name: str
    namespace: str
    url: str

    @property
    def what(self) -> str:
        """Action and kind for display. Chinese text has no space between them."""
        return space_mixed_scripts(
            _("%(action)s %(kind)s") % {"action": self.word, "kind": self.noun}
        )


@dataclass(frozen=True, slots=True)
class WarningEntry:
    """Warning event. `url` links to the event's object, or is "" if the object's kind has no list
    page.
    """

    at: datetime
    reason: str
    message: str
    about: str
    namespace: str
    url: str
    count: int


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """Recent changes and warnings.

    `all_warnings` is the URL of the list of warnings. If the viewer may not list events, it is
    "" and `warnings` is None.
    """

    changes: tuple[WorkloadChange, ...]
    warnings: tuple[WarningEntry, ...] | None
    all_warnings: str


async def recent_changes(sight: PageData) -> RecentChanges:
    found: list[WorkloadChange] = []
    for seen in sight.all(WORKLOADS):
        found += [_change(seen, moment) for moment in await _latest(seen)]
    found += _deletions(sight)
    horizon = datetime.now(UTC) - RECENT
    found = [change for change in found if change.at > horizon]
    found.sort(key=lambda change: change.at, reverse=True)
    events = sight.get(EVENTS)
    if events is None:
        return RecentChanges(tuple(found[:MAX_ENTRIES]), None, "")
    moments = await _latest(events)
    links = LinkResolver(sight.access)
    entries = (events.informer.store.get(moment.key) for moment in moments)
    warnings = [_warned(events, entry, links) for entry in entries if entry is not None]
    spec = ViewSpec(events.kind, events.cluster.name).with_values("type", ("Warning",))
    spec = spec.with_values("namespace", events.wanted)
    return RecentChanges(tuple(found[:MAX_ENTRIES]), tuple(warnings), spec.url)


async def _latest(seen: VisibleKind) -> list[ChangeTime]:
    latest = recent_changes_of(seen.informer)
    await ensure_current(latest)
    return latest.newest(seen.readable, MAX_ENTRIES, seen.wanted)


def _change(seen: VisibleKind, moment: ChangeTime) -> WorkloadChange:
    entry, key = seen.informer.store.get(moment.key), moment.key
    created = entry.projection.created if entry is not None else None
    first = created is None or (moment.at - created).total_seconds() <= FIRST_ROLLOUT
    at = created if first and created is not None else moment.at
    url = target_url(seen.cluster.name, LinkTarget(seen.kind.segment, key.namespace, key.name))
    return _workload_change(seen, key, at, CREATED if first else ROLLED_OUT, url)


def _workload_change(
    seen: VisibleKind, key: Key, at: datetime, word: str | Promise, url: str
) -> WorkloadChange:
    namespace = "" if seen.wanted else escape_invisible(key.namespace)
    return WorkloadChange(at, word, seen.kind.singular, escape_invisible(key.name), namespace, url)


def _deletions(sight: PageData) -> list[WorkloadChange]:
    found = []
    for departure in sight.cluster.runtime.recent_deletions.latest():
        seen = sight.get(departure.gvr)
        if seen is None or not seen.readable.includes(departure.key):
            continue
        if not seen.wanted or departure.key.namespace in seen.wanted:
            found.append(_workload_change(seen, departure.key, departure.at, DELETED, ""))
            if len(found) == MAX_ENTRIES:
                break
    return found


def _warned(seen: VisibleKind, entry: Entry[Any], links: LinkResolver) -> WarningEntry:
    event = entry.projection
    target = target_of(event.about, event.about_namespace)
    # Authors of events may reference any object: only link to objects of the event's own namespace.
    own = target is not None and target.namespace in ("", entry.key.namespace)
    return WarningEntry(
        event.last,
        escape_invisible(event.reason),
        escape_invisible(event.message),
        escape_invisible(event.about.partition("/")[2] or without_group(event.about)),
        "" if seen.wanted else escape_invisible(entry.key.namespace),
        links.resolve(target).url if own else "",
        event.count,
    )
