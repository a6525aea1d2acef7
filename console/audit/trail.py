"""Writes the audit trail.

    async with record_request(request, "delete", PODS, namespace="shop", name="web-1") as entry:
        await client.delete(PODS, namespace="shop", name="web-1", audit_id=entry.audit_id)

Guarantees: the record is committed before the block runs. If it can't be written, the block
doesn't run and `AuditUnavailable` is raised. Every block has exactly one record. An `ApiError`
is recorded with its code, reason and message, any other exception with code 0, and both are
raised again. If the outcome can't be written, the error is logged and the record has no outcome.

Records contain only the fields of `AuditAction`: no body, no headers except the user agent, no query
string. With `AUDIT_STDOUT=1`, each record is also written to standard output as a line of JSON.
"""

import json
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, models
from django.http import HttpRequest
from django.utils import timezone

from console.audit.client_address import client_address
from console.audit.models import AuditOutcome, AuditRecord
from console.kube.errors import ApiError
from console.kube.gvr import GVR

log = logging.getLogger(__name__)

#: Pseudo resource for sign-ins and sign-outs.
SESSION_RESOURCE = GVR("", "", "sessions")


class AuditUnavailable(Exception):
    """The audit trail can't be written, so the action was not performed."""

    #: HTTP status of the error page.
    page_code: ClassVar[int] = 503


@dataclass(frozen=True, slots=True)
class AuditAction:
    """Action to record.

    - `actor`: user of the session.
    - `as_user`: user that kube-apiserver sees.
    - `cluster`: name of the cluster.
    """

    actor: str
    as_user: str
    verb: str
    gvr: GVR
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    source: str = ""
    user_agent: str = ""
    path: str = ""
    cluster: str = "host"


@dataclass(slots=True)
class AuditEntry:
    """Record of a running action. Call `set_outcome` to set its outcome; the default is 200."""

    audit_id: str
    code: int = 200
    reason: str = ""
    message: str = ""

    def set_outcome(self, code: int, reason: str = "", message: str = "") -> None:
        self.code, self.reason, self.message = code, reason, message


def request_action(
    request: HttpRequest,
    verb: str,
    gvr: GVR,
    *,
    namespace: str = "",
    name: str = "",
    subresource: str = "",
    actor: str | None = None,
) -> AuditAction:
    """Return the action of a request. Set `actor` for a user who is not signed in yet."""
    access, cluster = getattr(request, "access", None), getattr(request, "cluster", None)
    who = getattr(request, "account", None) or "" if actor is None else actor
    return AuditAction(
        actor=who,
        as_user=access.identity.name if access is not None and actor is None else who,
        verb=verb,
        gvr=gvr,
        namespace=namespace,
        name=name,
        subresource=subresource,
        source=client_address(
            request.META.get("REMOTE_ADDR") or "",
            request.headers.get("X-Forwarded-For", ""),
            settings.TRUSTED_PROXIES,
        ),
        user_agent=request.headers.get("User-Agent", ""),
        path=request.path,
        **({"cluster": cluster.name} if cluster is not None else {}),
    )


def socket_action(
    scope: Mapping[str, Any],
    verb: str,
    gvr: GVR,
    *,
    as_user: str,
    cluster: str,
    namespace: str = "",
    name: str = "",
    subresource: str = "",
) -> AuditAction:
    """Return the action of a websocket."""
    headers = {key.lower(): value.decode("latin-1") for key, value in scope.get("headers", ())}
    client = scope.get("client")
    return AuditAction(
        actor=scope.get("account") or "",
        as_user=as_user,
        verb=verb,
        gvr=gvr,
        namespace=namespace,
        name=name,
        subresource=subresource,
        source=client_address(
            str(client[0]) if client else "",
            headers.get(b"x-forwarded-for", ""),
            settings.TRUSTED_PROXIES,
        ),
        user_agent=headers.get(b"user-agent", ""),
        path=str(scope.get("path", "")),
        cluster=cluster,
    )


@asynccontextmanager
async def record(action: AuditAction) -> AsyncIterator[AuditEntry]:
    """Record `action`, run the block, and record its outcome."""
    recording = AuditEntry(audit_id=str(uuid.uuid4()))
    try:
        row = await sync_to_async(_insert)(action, recording.audit_id)
    except DatabaseError as error:
        log.error("Cannot write to the audit trail: %s", error)
        raise AuditUnavailable from error
    try:
        yield recording
    except ApiError as error:
        recording.set_outcome(error.code, error.reason, error.message)
        raise
    except BaseException as error:
        recording.set_outcome(0, type(error).__name__, "Aborted before a response arrived")
        raise
    finally:
        await sync_to_async(_finish)(row, recording)


def record_request(
    request: HttpRequest, verb: str, gvr: GVR, **where: Any
) -> AbstractAsyncContextManager[AuditEntry]:
    """Record the action of a request, as `record` does. `where` is passed to `request_action`."""
    return record(request_action(request, verb, gvr, **where))


def record_session(
    request: HttpRequest, verb: str, subresource: str = "", **where: Any
) -> AbstractAsyncContextManager[AuditEntry]:
    """Record an action on sessions or tokens, like `record_request`."""
    return record_request(request, verb, SESSION_RESOURCE, subresource=subresource, **where)


def _insert(action: AuditAction, audit_id: str) -> AuditRecord:
    values: dict[str, Any] = {**asdict(action), **asdict(action.gvr)}
    del values["gvr"]
    clean = {field: _fit(AuditRecord, field, value) for field, value in values.items()}
    row = AuditRecord(audit_id=audit_id, **clean)
    row.save()
    return row


def _finish(row: AuditRecord, recording: AuditEntry) -> None:
    outcome = AuditOutcome(
        record=row,
        code=recording.code,
        reason=_fit(AuditOutcome, "reason", recording.reason),
        message=_fit(AuditOutcome, "message", recording.message),
    )
    try:
        outcome.save()
    except DatabaseError as error:
        log.error(
            "Cannot write the outcome of audit record %s (%s): %s", row.audit_id, outcome, error
        )
    if settings.AUDIT_STDOUT:
        _emit(row, outcome)


def _fit(model: type[models.Model], field: str, value: str) -> str:
    """Escape control characters in `value` and truncate it to the column's length."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
    return text[: getattr(model._meta.get_field(field), "max_length", None)]


_LINE: tuple[str, ...] = (
    "time", "audit_id", "actor", "as_user", "cluster", "verb", "group", "version", "resource",
    "namespace", "name", "subresource", "source", "user_agent", "path",
)  # fmt: skip


def _emit(row: AuditRecord, outcome: AuditOutcome) -> None:
    """Write the record to standard output as one line of ASCII, without control characters."""
    line = {name: getattr(row, name) for name in _LINE}
    line |= {
        "time": timezone.localtime(row.time).isoformat(),
        "code": outcome.code,
        "reason": outcome.reason,
        "message": outcome.message,
    }
    try:
        sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
        sys.stdout.flush()
    except OSError as error:
        # The record is already in the database and the action is done, so a full disk or closed
        # pipe must not fail the request.
        log.error("Cannot write an audit record to standard output: %s", error)
