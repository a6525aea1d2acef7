"""Keeping changes and finding them again. Synchronous: call it off the loop."""

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

#: Changes of one object, bytes of a manifest, and days.
MOST, LARGEST, DAYS = 50, 256 * 1024, 90

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """`number` finds it again; `verb` and `subresource` are those of the audit trail. What it is about is
    kept packed: what is small there may be millions of characters long."""

    number: int
    time: datetime
    actor: str
    verb: str
    subresource: str
    packed: tuple[bytes, bytes]

    @property
    def size(self) -> int:
        """Bytes of both states as JSON."""
        return sum(len(zlib.decompress(one)) for one in self.packed)

    @property
    def before(self) -> Manifest:
        return _unpacked(self.packed[0])

    @property
    def after(self) -> Manifest:
        return _unpacked(self.packed[1])


def keep(
    about: ObjectReference,
    actor: str,
    audit_id: str,
    done: tuple[str, str],
    before: Manifest,
    after: Manifest,
) -> None:
    """Keeps one change; what is too large is not kept. Forgets what is too old, and the oldest of too
    many. `done`: verb and subresource of the audit trail."""
    packed = _pack(before), _pack(after)
    if any(len(one) > LARGEST for one in packed) or packed[0] == packed[1]:
        return
    with transaction.atomic():
        ObjectChange.objects.create(
            audit_id=audit_id,
            actor=actor,
            **about.columns(),
            verb=done[0],
            subresource=done[1],
            before=packed[0],
            after=packed[1],
        )
        mine = ObjectChange.objects.filter(cluster=about.cluster, uid=about.uid)
        mine.filter(pk__in=mine.values_list("pk", flat=True)[MOST:]).delete()
        ObjectChange.objects.filter(time__lt=timezone.now() - timedelta(days=DAYS)).delete()


def changes_of(about: ObjectReference) -> list[Change]:
    """The newest first."""
    return [_change(row) for row in _rows(about)]


def change_of(about: ObjectReference, number: int) -> Change | None:
    """One of them; None for a number of another object."""
    row = _rows(about).filter(pk=number).first()
    return _change(row) if row is not None else None


def _rows(about: ObjectReference) -> Any:
    return ObjectChange.objects.filter(**about.columns())


def _change(row: ObjectChange) -> Change:
    packed = bytes(row.before), bytes(row.after)
    return Change(row.pk, row.time, row.actor, row.verb, row.subresource, packed)


def _pack(manifest: Manifest) -> bytes:
    return zlib.compress(msgspec.json.encode(manifest))


def _unpacked(packed: bytes) -> Manifest:
    found: Manifest = msgspec.json.decode(zlib.decompress(packed))
    return found
