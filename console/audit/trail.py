"""Writes the audit trail.

    async with record_request(request, "delete", PODS, namespace="shop", name="web-1") as entry:
        await client.delete(PODS, namespace="shop", name="web-1", audit_id=entry.audit_id)

Guarantees: the record is committed before the block runs. If it can't be written, the block
doesn't run and `AuditUnavailable` is raised. Every block has exactly one record. An `ApiError`
is recorded with its code, reason and message, any other exception with code 0, and both are
raised again. If the outcome can't be written, the error is logged and the record has no outcome.

Records contain only the fields of `AuditAction`, and the manifests that the block passes to
`AuditEntry.set_change`: no headers except the user agent, no query string. With `AUDIT_STDOUT=1`,
each record is also written to standard output as a line of JSON.
"""

import json
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, models, transaction
from django.http import HttpRequest
from django.utils import timezone

from console.audit.background import notify
from console.audit.changes import PackedChange, pack
from console.audit.client_address import client_address
from console.audit.models import AuditChange, AuditRecord
from console.kube.errors import ApiError
from console.kube.gvr import GVR, NAMESPACES, WORKSPACE_TEMPLATES, WORKSPACES

log = logging.getLogger(__name__)

#: Pseudo resource for sign-ins and sign-outs.
SESSION_RESOURCE = GVR("", "", "sessions")

#: How requests reach kube-apiserver: a page, an API token, the Kubernetes API through the console, a
#: controller of the console, or without the console.
PAGE, TOKEN, GATEWAY, CONTROLLER, DIRECT = "page", "token", "gateway", "controller", "direct"

#: Returns the workspace of a namespace from a cluster's name and the namespace's name, or "".
WorkspaceFinder = Callable[[str, str], str]
_find_workspace: WorkspaceFinder = lambda _cluster, _namespace: ""  # noqa: E731


def set_workspace_finder(finder: WorkspaceFinder) -> None:
    """Set the function that finds the workspace of each record. Only for the composition root."""
    global _find_workspace
    _find_workspace = finder


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
    - `workspace`: name of the workspace. By default, that of the namespace.
    - `origin`: one of `PAGE`, `TOKEN`, `GATEWAY`, `CONTROLLER` and `DIRECT`.
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
    workspace: str = ""
    origin: str = PAGE


@dataclass(slots=True)
class AuditEntry:
    """Record of a running action. Call `set_outcome` to set its outcome; the default is 200."""

    audit_id: str
    code: int = 200
    reason: str = ""
    message: str = ""
    uid: str = ""
    change: PackedChange | None = None

    def set_outcome(self, code: int, reason: str = "", message: str = "") -> None:
        self.code, self.reason, self.message = code, reason, message

    def set_change(
        self, uid: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
    ) -> None:
        """Set the manifests before and after the change, without masked values. None if the object
        did not exist or its manifest is unknown. Too large manifests are left out.
        """
        self.uid, self.change = uid, pack(before, after)


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
    match = request.resolver_match
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
        workspace=str(match.kwargs.get("workspace", "")) if match is not None else "",
        origin=getattr(request, "audit_origin", None)
        or (TOKEN if getattr(request, "bearer", None) is not None else PAGE),
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
        row = await sync_to_async(insert)(action, recording.audit_id)
    except DatabaseError as error:
        log.error("Cannot write to the audit trail: %s", error)
        raise AuditUnavailable from error
    try:
        yield recording
    except ApiError as error:
        recording.set_outcome(error.code, error.reason, error.message)
        raise
    except BaseException:
        recording.set_outcome(0, "Aborted", "Aborted before a response arrived")
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


def insert(action: AuditAction, audit_id: str, time: datetime | None = None) -> AuditRecord:
    """Write the record of an action before its result is known. `time` is its start, by default now.
    Raise `DatabaseError`.
    """
    if not action.workspace:
        action = replace(action, workspace=_workspace_of(action))
    values: dict[str, Any] = {**asdict(action), **asdict(action.gvr)}
    del values["gvr"]
    clean = {field: _fit(field, value) for field, value in values.items()}
    row = AuditRecord(audit_id=audit_id, time=time or timezone.now(), **clean)
    row.save()
    notify()
    return row


def complete(row: AuditRecord, entry: AuditEntry, time: datetime | None = None) -> bool:
    """Write the result of a record. `time` is the end of the action, by default now. Return False if
    the record already has a result. Raise `DatabaseError`.
    """
    row.finished, row.code, row.uid = time or timezone.now(), entry.code, _fit("uid", entry.uid)
    row.reason, row.message = _fit("reason", entry.reason), _fit("message", entry.message)
    row.change_digest = entry.change.digest if entry.change is not None else ""
    result = ("finished", "code", "reason", "message", "uid", "change_digest")
    with transaction.atomic():
        # The only change of a record: rows with a result don't match.
        running: models.QuerySet[AuditRecord] = models.QuerySet(AuditRecord).filter(
            pk=row.pk, code=None
        )
        if not running.update(**{field: getattr(row, field) for field in result}):
            return False
        if entry.change is not None:
            AuditChange(record=row, before=entry.change.before, after=entry.change.after).save()
    notify()
    return True


def _workspace_of(action: AuditAction) -> str:
    if action.gvr in (WORKSPACES, WORKSPACE_TEMPLATES):
        return action.name
    namespace = action.name if action.gvr == NAMESPACES else action.namespace
    return _find_workspace(action.cluster, namespace) if namespace else ""


def _finish(row: AuditRecord, recording: AuditEntry) -> None:
    try:
        complete(row, recording)
    except DatabaseError as error:
        log.error(
            "Cannot write the outcome of audit record %s (%s %s): %s",
            row.audit_id,
            recording.code,
            recording.reason,
            error,
        )
    if settings.AUDIT_STDOUT:
        _emit(row)


def _fit(field: str, value: str) -> str:
    """Escape control characters in `value` and truncate it to the column's length."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
    return text[: getattr(AuditRecord._meta.get_field(field), "max_length", None)]


#: Fields of a record in exports, in order.
EXPORTED = (
    "time", "audit_id", "actor", "as_user", "cluster", "workspace", "verb", "group", "version",
    "resource", "namespace", "name", "subresource", "uid", "source", "user_agent", "path", "origin",
    "code", "reason", "message", "finished",
)  # fmt: skip


def exported(row: AuditRecord) -> dict[str, Any]:
    """Return a record as JSON values, without manifests."""
    line = {name: getattr(row, name) for name in EXPORTED}
    times = {name: line[name].isoformat() for name in ("time", "finished") if line[name]}
    return {**line, **times}


def _emit(row: AuditRecord) -> None:
    """Write the record to standard output as one line of ASCII, without control characters."""
    try:
        sys.stdout.write(json.dumps(exported(row), ensure_ascii=True) + "\n")
        sys.stdout.flush()
    except OSError as error:
        # The record is already in the database and the action is done, so a full disk or closed
        # pipe must not fail the request.
        log.error("Cannot write an audit record to standard output: %s", error)
