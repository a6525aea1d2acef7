"""Storage of object changes. Synchronous: don't call these functions on the event loop."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone

from console.history.models import ObjectChange
from console.kube.gvr import ObjectReference

#: Maximum number of changes per object, maximum compressed size of a manifest in bytes, and
#: retention in days.
MAX_CHANGES, MAX_BYTES, RETENTION_DAYS = 50, 256 * 1024, 90

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """Change of an object.

    `number` is the primary key; `verb` and `subresource` are those of the audit record. The
    states stay compressed, because small compressed data may expand to millions of characters.
    """

    number: int
    time: datetime
    actor: str
    verb: str
    subresource: str
    packed: tuple[bytes, bytes]

    @property
    def size(self) -> int:
        """Size of both states as JSON in bytes."""
        return sum(len(zlib.decompress(one)) for one in self.packed)

    @property
    def before(self) -> Manifest:
        return _unpacked(self.packed[0])

    @property
    def after(self) -> Manifest:
        return _unpacked(self.packed[1])


def store_change(
    about: ObjectReference,
    actor: str,
    audit_id: str,
    done: tuple[str, str],
    before: Manifest,
    after: Manifest,
) -> int | None:
    """Store a change, delete expired and surplus changes, and return the change's number. Changes
    with too large manifests are not stored.

    `done` is the verb and subresource of the audit record.
    """
    packed = _pack(before), _pack(after)
    if any(len(one) > MAX_BYTES for one in packed) or packed[0] == packed[1]:
        return None
    with transaction.atomic():
        made = ObjectChange.objects.create(
            audit_id=audit_id,
            actor=actor,
            **about.columns(),
            verb=done[0],
            subresource=done[1],
            before=packed[0],
            after=packed[1],
        )
        mine = ObjectChange.objects.filter(cluster=about.cluster, uid=about.uid)
        mine.filter(pk__in=mine.values_list("pk", flat=True)[MAX_CHANGES:]).delete()
        ObjectChange.objects.filter(
            time__lt=timezone.now() - timedelta(days=RETENTION_DAYS)
        ).delete()
    return made.pk


def changes_of(about: ObjectReference, **lookup: Any) -> list[RecordedChange]:
    """Return the changes of an object, newest first. `lookup` selects some of them."""
    found = []
    for row in ObjectChange.objects.filter(**about.columns(), **lookup):
        packed = bytes(row.before), bytes(row.after)
        done = row.actor, row.verb, row.subresource
        found.append(RecordedChange(row.pk, row.time, *done, packed))
    return found


def change_of(about: ObjectReference, number: int) -> RecordedChange | None:
    """Return a change of the object, or None if the number doesn't belong to the object."""
    return next(iter(changes_of(about, pk=number)), None)


def _pack(manifest: Manifest) -> bytes:
    return zlib.compress(msgspec.json.encode(manifest))


def _unpacked(packed: bytes) -> Manifest:
    found: Manifest = msgspec.json.decode(zlib.decompress(packed))
    return found
