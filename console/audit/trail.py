"""Writing the audit trail.

    action = request_action(request, "delete", PODS, namespace="shop", name="web-1")
    async with record(action) as entry:
        await client.delete(PODS, namespace="shop", name="web-1", audit_id=entry.audit_id)

Promises: the record is in the database before the block begins, and if it cannot be, the block does not
begin (`AuditUnavailable`). Exactly one record per block, whatever happens in it: an `ApiError` is
recorded with its code, reason and message, any other end with code 0, and both go on. If the outcome
cannot be written, what was done stays done: that is logged, and the record has no outcome.

Records hold the fields of `Action` and nothing else: no body, no header but the user agent, no query
string. With `AUDIT_STDOUT=1` each record is also one line of JSON on standard output.
"""

import json
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, models
from django.http import HttpRequest
from django.utils import timezone

from console.audit.models import AuditOutcome, AuditRecord
from console.audit.source import source_address
from console.kube.errors import ApiError
from console.kube.gvr import GVR

log = logging.getLogger(__name__)

#: Sign-ins and sign-outs, as if a session were a resource of the console's own.
SESSIONS = GVR("", "", "sessions")


class AuditUnavailable(Exception):
    """The trail cannot be written, so what needs a record is not done."""

    #: The HTTP status of a page that tells of it.
    page_code: ClassVar[int] = 503


@dataclass(frozen=True, slots=True)
class Action:
    """What is about to be done. `actor`: whose session; `as_user`: whom kube-apiserver sees;
    `cluster`: that one's name."""

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
class Recording:
    """One open record. `answered` sets its outcome; without it, a block that ends well means 200."""

    audit_id: str
    code: int = 200
    reason: str = ""
    message: str = ""

    def answered(self, code: int, reason: str = "", message: str = "") -> None:
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
) -> Action:
    """An action that the viewer of `request` takes; `actor` names one who is not signed in yet."""
    access, cluster = getattr(request, "access", None), getattr(request, "cluster", None)
    who = getattr(request, "account", None) or "" if actor is None else actor
    return Action(
        actor=who,
        as_user=access.identity.name if access is not None and actor is None else who,
        verb=verb,
        gvr=gvr,
        namespace=namespace,
        name=name,
        subresource=subresource,
        source=source_address(
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
) -> Action:
    """An action that the viewer of a socket takes."""
    headers = {key.lower(): value.decode("latin-1") for key, value in scope.get("headers", ())}
    client = scope.get("client")
    return Action(
        actor=scope.get("account") or "",
        as_user=as_user,
        verb=verb,
        gvr=gvr,
        namespace=namespace,
        name=name,
        subresource=subresource,
        source=source_address(
            str(client[0]) if client else "",
            headers.get(b"x-forwarded-for", ""),
            settings.TRUSTED_PROXIES,
        ),
        user_agent=headers.get(b"user-agent", ""),
        path=str(scope.get("path", "")),
        cluster=cluster,
    )


@asynccontextmanager
async def record(action: Action) -> AsyncIterator[Recording]:
    """Records `action`, runs the block, records how it ended."""
    recording = Recording(audit_id=str(uuid.uuid4()))
    try:
        row = await sync_to_async(_insert)(action, recording.audit_id)
    except DatabaseError as error:
        log.error("The audit trail cannot be written: %s", error)
        raise AuditUnavailable from error
    try:
        yield recording
    except ApiError as error:
        recording.answered(error.code, error.reason, error.message)
        raise
    except BaseException as error:
        recording.answered(0, type(error).__name__, "Ended before an answer came")
        raise
    finally:
        await sync_to_async(_finish)(row, recording)


def _insert(action: Action, audit_id: str) -> AuditRecord:
    values: dict[str, Any] = {**asdict(action), **asdict(action.gvr)}
    del values["gvr"]
    clean = {field: _fit(AuditRecord, field, value) for field, value in values.items()}
    row = AuditRecord(audit_id=audit_id, **clean)
    row.save()
    return row


def _finish(row: AuditRecord, recording: Recording) -> None:
    outcome = AuditOutcome(
        record=row,
        code=recording.code,
        reason=_fit(AuditOutcome, "reason", recording.reason),
        message=_fit(AuditOutcome, "message", recording.message),
    )
    try:
        outcome.save()
    except DatabaseError as error:
        log.error("The outcome of %s (%s) is not in the trail: %s", row.audit_id, outcome, error)
    if settings.AUDIT_STDOUT:
        _emit(row, outcome)


def _fit(model: type[models.Model], field: str, value: str) -> str:
    """`value` with control characters made visible, as long as the column allows."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
    return text[: getattr(model._meta.get_field(field), "max_length", None)]


_LINE: tuple[str, ...] = (
    "time", "audit_id", "actor", "as_user", "cluster", "verb", "group", "version", "resource",
    "namespace", "name", "subresource", "source", "user_agent", "path",
)  # fmt: skip


def _emit(row: AuditRecord, outcome: AuditOutcome) -> None:
    """One line, ASCII alone: nothing in it can end the line or steer a terminal."""
    line = {name: _plain(getattr(row, name)) for name in _LINE}
    line |= {"code": outcome.code, "reason": outcome.reason, "message": outcome.message}
    try:
        sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
        sys.stdout.flush()
    except OSError as error:
        # It is in the database, and it is done: a full disk or a closed pipe changes neither.
        log.error("A record of the trail is not on standard output: %s", error)


def _plain(value: object) -> object:
    return timezone.localtime(value).isoformat() if isinstance(value, datetime) else value
