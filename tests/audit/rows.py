"""Audit records for tests, at given times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from console.audit.models import AuditRecord
from console.audit.trail import AuditAction, AuditEntry, complete, insert
from console.kube.gvr import DEPLOYMENTS, GVR

#: Time of the first record.
BEGIN = datetime(2026, 11, 21, 10, tzinfo=UTC)


def recorded(
    name: str,
    *,
    actor: str = "alice",
    verb: str = "delete",
    gvr: GVR = DEPLOYMENTS,
    namespace: str = "shop",
    code: int | None = 200,
    minutes: float = 0,
    change: tuple[Any, Any] | None = None,
    time: datetime | None = None,
    **more: Any,
) -> AuditRecord:
    """Write a record of the time `time`, by default `minutes` after `BEGIN`."""
    moment = time or BEGIN + timedelta(minutes=minutes)
    action = AuditAction(
        actor, more.pop("as_user", actor), verb, gvr, namespace=namespace, name=name, **more
    )
    row = insert(action, f"id-{name}-{AuditRecord.objects.count()}", moment)
    if code is not None:
        entry = AuditEntry(row.audit_id, code, "Forbidden" if code == 403 else "")
        if change is not None:
            entry.set_change("uid-1", *change)
        complete(row, entry, moment + timedelta(milliseconds=41))
    return row
