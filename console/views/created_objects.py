"""States of objects that were just created, for their progress page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.group_kind import group_kind
from console.kube.gvr import Key
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.permissions import visible
from console.ui.core.words import reason_text, translate
from console.views.importing import CreatedObject

#: Severities of objects that are ready.
_READY = (Severity.OK, Severity.PAUSED, Severity.DONE)


@dataclass(frozen=True, slots=True)
class CreatedRow:
    """A created object. `severity` is "" for objects without a state, which are ready."""

    kind: str | Promise
    name: str
    url: str
    severity: str = ""
    word: str | Promise = ""
    reason: str | Promise = ""
    is_ready: bool = True


def created_rows(access: Access, made: Sequence[CreatedObject]) -> list[CreatedRow]:
    """Return the objects with the states that the viewer may see."""
    return [_row(access, one) for one in made]


def _row(access: Access, made: CreatedObject) -> CreatedRow:
    kind = access.cluster.kinds.by_group_kind(group_kind(made.kind, made.group))
    if kind is None:
        return CreatedRow(made.kind, made.shown_name, "")
    key = Key(made.namespace, made.name)
    url = object_url(access.cluster.name, kind.segment, key)
    start = CreatedRow(kind.singular, made.shown_name, url)
    if kind.uncached or not visible(kind, access).includes(key):
        return start
    informer = access.cluster.runtime.informer(kind.gvr)
    entry = informer.store.get(key)
    if entry is None:
        gone = informer.freshness.synced
        word = _("No longer exists") if gone else _("Loading")
        return CreatedRow(kind.singular, made.shown_name, url, "unknown", word, is_ready=gone)
    return _with_state(start, kind, entry, access)


def _with_state(
    row: CreatedRow, kind: ResourceKind, entry: Entry[Any], access: Access
) -> CreatedRow:
    status = kind.status(entry)
    if status is None:
        return row
    cause = kind.diagnosis(entry, entry.original(), access)
    return CreatedRow(
        row.kind,
        row.name,
        row.url,
        status.severity.value,
        translate(status.word),
        cause or reason_text(status),
        status.severity in _READY,
    )
