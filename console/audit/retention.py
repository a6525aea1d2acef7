"""Deletes old records. The deleted part is always a beginning of the chain, and the anchor `start`
keeps its last hash, so the rest remains verifiable.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from console.audit.chain import BATCH, START, anchor, deleted, lock_head, move_anchor
from console.audit.models import AuditChange, AuditLink, AuditRecord

log = logging.getLogger(__name__)


def prune(days: int | None = None) -> int:
    """Delete the records that are older than the retention, and return their number.

    `days` is the retention, by default `AUDIT_RETENTION_DAYS`; 0 keeps all records. Stop before a
    link whose record is missing: `audit verify` must report it.
    """
    days = settings.AUDIT_RETENTION_DAYS if days is None else days
    total = 0
    while days and (pruned := _prune(timezone.now() - timedelta(days=days))):
        total += pruned
    return total


def _prune(before: datetime) -> int:
    """Delete at most `BATCH` links and their records."""
    with transaction.atomic():
        if lock_head() is None:
            return 0
        links = _expired(before)
        if not links:
            return 0
        last = links[-1]
        keys = {one.record for one in links}
        # A long action has a second link, with which its record is deleted later.
        keys -= set(
            AuditLink.objects.filter(record__in=keys, seq__gt=last.seq).values_list(
                "record", flat=True
            )
        )
        deleted(AuditLink, seq__lte=last.seq)
        deleted(AuditChange, record__in=keys)
        deleted(AuditRecord, pk__in=keys)
        move_anchor(anchor(START), last.seq, last.hash)
    return len(links)


def _expired(before: datetime) -> Sequence[AuditLink]:
    links = list(AuditLink.objects.order_by("seq")[:BATCH])
    times = dict(
        models.QuerySet(AuditRecord)
        .filter(pk__in={one.record for one in links})
        .values_list("pk", "time")
    )
    for number, one in enumerate(links):
        time = times.get(one.record)
        if time is None:
            log.error("Audit record %s is missing. Run `quarterdeck audit verify`", one.record)
        if time is None or time >= before:
            return links[:number]
    return links
