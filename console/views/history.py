"""Records changes made with the console after each action, and shows them on the object's Changes
tab.

Kinds that are never cached are not recorded, because they contain secrets.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import AuditEntry
from console.history.store import RecordedChange, change_of, changes_of, store_change
from console.kube.apply import Manifest
from console.kube.clients import ObjectClient
from console.kube.errors import ApiError
from console.kube.gvr import Key, ObjectReference
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import ActionContext
from console.ui.core.kind import ResourceKind
from console.ui.core.object_source import cached_entry
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.diff import Difference, manifest_difference
from console.ui.editing.manifest import editable
from console.ui.navigation.page_routes import DetailRoute

#: Maximum digits of a change's number.
MAX_DIGITS = 15
#: Limits of the whole tab: bytes of manifests to compare, and displayed lines.
MAX_BYTES, MAX_LINES = 1024 * 1024, 4000
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """Change for display.

    `what` is the label of the action. `difference` is None if it is too large or can't be
    computed.
    """

    change: RecordedChange
    what: str | Promise
    actor: str
    difference: Difference | None


def cached_manifest(kind: ResourceKind, access: Access, key: Key, uid: str) -> Manifest | None:
    """Return the cached object, or None if it is not cached or nested too deeply."""
    entry = cached_entry(kind, access, key, uid)
    try:
        return entry.original() if entry is not None else None
    except RecursionError:
        return None


async def record_change(
    kind: ResourceKind,
    recorded: Recorded,
    audit_id: str,
    uid: str,
    before: Manifest,
    after: Manifest,
) -> int | None:
    """Record a change without masked values, and return its number, or None if it is not recorded.
    Errors are logged, because the change itself has succeeded.
    """
    if kind.private:
        return None
    key = Key(recorded.namespace, recorded.name)
    about = ObjectReference(recorded.cluster, recorded.gvr, key, uid)
    done = (recorded.verb, recorded.subresource)
    try:
        # In a thread, because some objects have a million characters.
        states = await in_thread(lambda: [editable(kind, one) for one in (before, after)])
        return await sync_to_async(store_change)(about, recorded.actor, audit_id, done, *states)
    except (DatabaseError, RecursionError) as error:
        log.error("Cannot store change %s: %s", audit_id, error)
        return None


async def describe_change(
    entry: AuditEntry,
    kind: ResourceKind,
    uid: str,
    before: Manifest | None,
    after: Manifest | None,
) -> None:
    """Add the states before and after a change to its audit record, without masked values."""

    def describe() -> None:
        states = [editable(kind, one) if one else None for one in (before, after)]
        entry.set_change(uid, *states)

    entry.uid = uid
    with suppress(RecursionError):
        await in_thread(describe)


async def state_before(
    client: ObjectClient, kind: ResourceKind, key: Key, verb: str, cached: Manifest | None
) -> Manifest | None:
    """Return the state before an action for its audit record: the cached one, or for a deletion of
    an object of an uncached kind, the current one, if the user may read it.
    """
    if cached is not None or verb != "delete" or not kind.uncached:
        return cached
    try:
        return await client.get(kind.gvr, namespace=key.namespace, name=key.name)
    except ApiError:
        return None


async def state_after(context: ActionContext, before: Manifest | None) -> Manifest | None:
    """Return the state after an action that keeps the object, or None if it can't be read.
    `before` is None if the state before the action is unknown.
    """
    gvr, key, answers = context.kind.gvr, context.key, context.patched_objects
    if answers or before is None:
        return answers[-1] if answers else None
    try:
        return await context.client.get(gvr, namespace=key.namespace, name=key.name)
    except ApiError as error:
        # The object is deleted, or the user may not read it.
        log.info("Change %s not stored, cannot read the object: %s", context.audit_id, error)
        return None


def undo_title(kind: ResourceKind, key: Key) -> str:
    """Return the title of the review of a reverse change."""
    words = {"kind": kind.singular, "name": escape_invisible(key.name)}
    return _("Undo change to %(kind)s %(name)s") % words


def is_change_number(number: str) -> bool:
    return number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS


async def find_change(
    access: Access, kind: ResourceKind, key: Key, uid: str, number: str
) -> RecordedChange | None:
    """Return the change with the given number. `number` is unvalidated input."""
    if not is_change_number(number):
        return None
    about = ObjectReference(access.cluster.name, kind.gvr, key, uid)
    return await sync_to_async(change_of)(about, int(number))


async def changes_html(place: DetailRoute, access: Access, entry: Entry[Any]) -> str:
    """Render the Changes tab."""
    kind, key = place.kind, place.key
    about = ObjectReference(place.cluster.name, kind.gvr, key, entry.projection.uid)
    found = await sync_to_async(changes_of)(about)
    edit = kind.actions_by_name["edit"]
    undo_url = edit.url(place.cluster.name, kind.segment, key)
    context = {
        "changes": await in_thread(lambda: list(_shown(kind, found))),
        "undo_url": undo_url if edit.is_allowed(access, kind.gvr, key) else "",
    }
    return render_to_string("ui/detail/_changes.html", context)


def _shown(kind: ResourceKind, found: Sequence[RecordedChange]) -> Iterator[ChangeRow]:
    words = {action.audit_action: action.label for action in kind.actions_by_name.values()}
    size, lines = 0, 0
    for change in found:
        size += change.size if size <= MAX_BYTES else 0
        differs = None
        with suppress(RecursionError):
            if size <= MAX_BYTES:
                whole = manifest_difference(kind, change.before, change.after)
                shown = whole.lines[: MAX_LINES - lines]
                cut = len(whole.lines) - len(shown)
                differs = Difference(shown, whole.left_out + cut)
        lines += len(differs.lines) if differs is not None else 0
        what = words.get((change.verb, change.subresource)) or _("Changed")
        yield ChangeRow(change, what, escape_invisible(change.actor), differs)
