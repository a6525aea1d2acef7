"""Hash chain of the audit trail: seals new records, and verifies sealed ones (ADR 28).

Requests write records without waiting for the chain. A background thread of each process appends
links for new records. A lock on the head lets one process at a time append, and all others skip.
A record gets a link with its result, and before that a link without it if the action takes longer
than `SETTLED`. The head is signed, so the chain can't be rebuilt without `SECRET_KEY`.
"""

import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from console.audit.changes import change_digest
from console.audit.models import AuditAnchor, AuditChange, AuditLink, AuditRecord, Stage

HEAD, START = "head", "start"
#: Hash before the first link.
GENESIS = "0" * 64
#: Records per transaction of the sealer, and links per query of the verification.
BATCH = 500
#: Age from which a running action gets a link without its result.
SETTLED = timedelta(seconds=2)
#: Age from which a record without link is reported: the sealer runs every few seconds.
OVERDUE = timedelta(minutes=2)

_STARTED = (
    "time", "audit_id", "actor", "as_user", "cluster", "workspace", "verb", "group", "version",
    "resource", "namespace", "name", "subresource", "source", "user_agent", "path", "origin",
)  # fmt: skip
_FINISHED = (
    *_STARTED, "finished", "code", "reason", "message", "uid", "change_digest",
)  # fmt: skip
#: Fields that a link covers, by stage.
COVERED = {Stage.STARTED: _STARTED, Stage.FINISHED: _FINISHED}


def link_hash(previous: str, seq: int, stage: int, row: AuditRecord) -> str:
    """Return the hash of the link of a record: SHA-256 of a JSON array of all values."""
    values = [getattr(row, name) for name in COVERED[Stage(stage)]]
    plain = [one.isoformat() if isinstance(one, datetime) else one for one in values]
    content = json.dumps([previous, seq, stage, row.pk, *plain], ensure_ascii=True)
    return sha256(content.encode()).hexdigest()


def anchor(name: str) -> AuditAnchor:
    """Return an anchor, without locking it. It has seq 0 if the chain has no links yet."""
    found = AuditAnchor.objects.filter(pk=name).first()
    return found or AuditAnchor(name=name, seq=0, hash=GENESIS, time=timezone.now())


def lock_head() -> AuditAnchor | None:
    """Lock and return the head in a transaction, or return None if another process has locked it."""
    if not AuditAnchor.objects.filter(pk=HEAD).exists():
        first = AuditAnchor(name=HEAD, seq=0, hash=GENESIS, time=timezone.now())
        first.signature = signature_of(first)
        AuditAnchor.objects.bulk_create([first], ignore_conflicts=True)
    skips = transaction.get_connection().features.has_select_for_update_skip_locked
    return AuditAnchor.objects.select_for_update(skip_locked=skips).filter(pk=HEAD).first()


def move_anchor(found: AuditAnchor, seq: int, link: str) -> None:
    """Write an anchor that the caller has locked."""
    found.seq, found.hash, found.time = seq, link, timezone.now()
    found.signature = signature_of(found)
    found.save()


def signature_of(found: AuditAnchor) -> str:
    content = f"{found.name}:{found.seq}:{found.hash}:{found.time.isoformat()}"
    return hmac.new(_key(str(settings.SECRET_KEY)), content.encode(), "sha256").hexdigest()


@lru_cache(maxsize=4)
def _key(secret: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"quarterdeck: audit chain").derive(secret.encode())


def seal() -> int:
    """Append links for at most `BATCH` records, and return their number."""
    with transaction.atomic():
        head = lock_head()
        rows = list(_unsealed()[:BATCH]) if head is not None else []
        if head is None or not rows:
            return 0
        links, seq, last = [], head.seq, head.hash
        sealed: dict[Stage, list[int]] = {Stage.STARTED: [], Stage.FINISHED: []}
        for row in rows:
            stage = Stage.STARTED if row.code is None else Stage.FINISHED
            seq, before = seq + 1, last
            last = link_hash(before, seq, stage, row)
            links.append(AuditLink(seq=seq, record=row.pk, stage=stage, previous=before, hash=last))
            sealed[stage].append(row.pk)
        AuditLink.objects.bulk_create(links)
        for stage, keys in sealed.items():
            models.QuerySet(AuditRecord).filter(pk__in=keys).update(stage=stage)
        move_anchor(head, seq, last)
    return len(rows)


def _unsealed() -> QuerySet[AuditRecord]:
    settled = timezone.now() - SETTLED
    running = Q(stage=Stage.NEW, time__lt=settled, code=None)
    ready = Q(stage__lt=Stage.FINISHED) & (Q(code__isnull=False) | running)
    return AuditRecord.objects.filter(ready).order_by("pk")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of the chain. `seq` is the link, or 0."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a verification: number of links, the head as `SEQ:HASH`, and the problems."""

    links: int
    head: str
    findings: Sequence[Finding]


def verify(known: str = "", most: int = 100) -> Verification:
    """Verify the chain, all records and their manifests. `known` is a head of an earlier
    verification or export, which must be part of the chain. At most `most` problems are returned.

    Requests, the sealer and the pruning continue meanwhile. A pruning repeats the verification.
    """
    while True:
        start, head = anchor(START), anchor(HEAD)
        counted = _Counted()
        found = list(islice(_findings(start, head, counted, known), most))
        if anchor(START).seq == start.seq:
            return Verification(counted.links, f"{head.seq}:{head.hash}", found)


@dataclass(slots=True)
class _Counted:
    links: int = 0


def _findings(
    start: AuditAnchor, head: AuditAnchor, counted: _Counted, known: str
) -> Iterator[Finding]:
    for one in (start, head):
        if one.signature and not hmac.compare_digest(one.signature, signature_of(one)):
            yield Finding(
                one.seq,
                f"the signature of the {one.name} is wrong: the row was changed, or SECRET_KEY is "
                "not the key that signed it",
            )
    seq, last, seen = start.seq, start.hash, known in ("", f"{start.seq}:{start.hash}")
    for link, row, change in _links(head.seq):
        counted.links += 1
        if link.seq != seq + 1:
            yield Finding(link.seq, f"links {seq + 1} to {link.seq - 1} are missing")
        elif link.previous != last:
            yield Finding(link.seq, "the link does not continue the previous link")
        if row is None:
            yield Finding(link.seq, f"record {link.record} was removed")
        else:
            yield from _wrong(link, row, change)
        seq, last = link.seq, link.hash
        seen = seen or known == f"{seq}:{last}"
    if (seq, last) != (head.seq, head.hash):
        yield Finding(head.seq, f"the chain is truncated: it ends at link {seq}, not {head.seq}")
    if not seen:
        yield _unknown_head(known, start.seq)
    linked = AuditLink.objects.filter(record=OuterRef("pk"))
    added = AuditRecord.objects.filter(~Exists(linked)).order_by("pk")
    for row in added.filter(stage__gt=Stage.NEW)[:BATCH]:
        yield Finding(0, f"record {row.pk} is not part of the chain")
    overdue = added.filter(stage=Stage.NEW, time__lt=timezone.now() - OVERDUE).count()
    if overdue:
        yield Finding(0, f"{overdue} records are not sealed, because no web process is running")


def _unknown_head(known: str, start: int) -> Finding:
    number = known.partition(":")[0]
    seq = int(number) if number.isascii() and number.isdigit() else 0
    if 0 < seq < start:
        return Finding(seq, f"the given head {known} is older than the retention")
    return Finding(seq, f"the given head {known} is not part of the chain")


def _wrong(link: AuditLink, row: AuditRecord, change: AuditChange | None) -> Iterator[Finding]:
    if not hmac.compare_digest(link.hash, link_hash(link.previous, link.seq, link.stage, row)):
        yield Finding(link.seq, f"record {row.pk} ({row.audit_id}) was changed")
    elif link.stage == Stage.FINISHED:
        digest = change_digest(bytes(change.before), bytes(change.after)) if change else ""
        if digest != row.change_digest:
            yield Finding(link.seq, f"the manifests of record {row.pk} were changed or removed")


def _links(end: int) -> Iterator[tuple[AuditLink, AuditRecord | None, AuditChange | None]]:
    """Yield all links to `end` in order, with their record and its manifests."""
    seq, rows_to_end = -1, AuditLink.objects.filter(seq__lte=end).order_by("seq")
    while links := list(rows_to_end.filter(seq__gt=seq)[:BATCH]):
        keys = {one.record for one in links}
        rows = AuditRecord.objects.in_bulk(keys)
        changes = {one.record_id: one for one in AuditChange.objects.filter(record__in=keys)}
        for one in links:
            yield one, rows.get(one.record), changes.get(one.record)
        seq = links[-1].seq


def deleted(model: type[models.Model], **which: Any) -> int:
    """Delete rows of an append-only model at the end of their retention."""
    return models.QuerySet(model).filter(**which).delete()[0]
