"""Records kube-apiserver's own audit events, so that changes without the console are in the trail.

An event of a request that the console sent has the audit ID of its record, and adds nothing, except
the result of a record whose process died. Clients can choose the audit ID of their own requests, so
an event is joined only if the record describes the same request; otherwise it gets its own record.

https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

import msgspec
from django.db import transaction
from django.utils import timezone

from console.audit.changes import Manifest, unpack
from console.audit.console_writes import is_recorded
from console.audit.models import AuditRecord
from console.audit.trail import DIRECT, AuditAction, AuditEntry, complete, insert
from console.kube.gvr import GVR
from console.kube.kubeconfig import NAMESPACE

#: Stages at which a request has ended.
_ENDED = frozenset({"ResponseComplete", "Panic"})
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
#: Subresources that run programs or open connections with every verb.
_CONNECTIONS = frozenset({"exec", "attach", "portforward", "proxy"})
#: Subresources that only controllers and kubelets write.
_BY_SYSTEM = frozenset({"status", "approval/status"})
#: Users whose requests are the cluster's own work, as prefixes.
_SYSTEM_USERS = (
    "system:apiserver",
    "system:node:",
    "system:kube-",
    "system:serviceaccount:kube-system:",
)
#: The console's own service accounts.
_CONSOLE = f"system:serviceaccount:{NAMESPACE}:"
#: Age from which a record without a result gets that of its event.
_DEAD = timedelta(minutes=1)

#: Returns a manifest of a type without masked values, or None if the type is unknown.
Masking = Callable[[GVR, Manifest], Manifest | None]


class _User(msgspec.Struct):
    username: str = ""


class _Object(msgspec.Struct, rename="camel"):
    resource: str = ""
    api_group: str = ""
    api_version: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    subresource: str = ""


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


class Event(msgspec.Struct, rename="camel"):
    """The fields of an `Event` that the trail uses."""

    audit_id: str = msgspec.field(name="auditID", default="")
    stage: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    verb: str = ""
    user: _User = msgspec.field(default_factory=_User)
    impersonated_user: _User | None = None
    source_ips: list[str] | None = msgspec.field(name="sourceIPs", default=None)
    user_agent: str = ""
    object_ref: _Object | None = None
    response_status: _Status | None = None
    response_object: Any = None
    request_received_timestamp: datetime | None = None
    stage_timestamp: datetime | None = None


class EventList(msgspec.Struct):
    items: list[Event]


def parse_events(body: bytes) -> Sequence[Event]:
    """Parse an `EventList`. Raise `msgspec.DecodeError` or `RecursionError`."""
    return msgspec.json.decode(body, type=EventList).items


def record_events(cluster: str, events: Sequence[Event], mask: Masking) -> int:
    """Record the events of a cluster, and return the number of new records. Events that are sent
    again add nothing. Raise `DatabaseError` if nothing was recorded.
    """
    with transaction.atomic():
        return sum(_record(cluster, one, mask) for one in events if is_wanted(one))


def is_wanted(event: Event) -> bool:
    """Return True for a finished change by a user or program that isn't part of the cluster."""
    about = event.object_ref
    if event.stage not in _ENDED or about is None or not event.audit_id:
        return False
    if event.verb not in _WRITES and about.subresource not in _CONNECTIONS:
        return False
    query = parse_qs(event.request_uri.partition("?")[2])
    return (
        "dryRun" not in query
        and about.subresource not in _BY_SYSTEM
        and is_recorded(about.api_group, about.resource)
        and not _effective(event).startswith(_SYSTEM_USERS)
    )


def _effective(event: Event) -> str:
    return event.impersonated_user.username if event.impersonated_user else event.user.username


def _record(cluster: str, event: Event, mask: Masking) -> bool:
    known = AuditRecord.objects.filter(audit_id=event.audit_id, cluster=cluster).first()
    if known is not None and _is_same(known, event):
        if known.code is None and known.time < timezone.now() - _DEAD:
            complete(known, _entry(event), event.stage_timestamp)
        return False
    audit_id = event.audit_id[:36]
    if known is not None or AuditRecord.objects.filter(audit_id=audit_id).exists():
        audit_id = f"{audit_id}~{_digest(cluster, event)}"
        if AuditRecord.objects.filter(audit_id=audit_id).exists():
            return False
    action = _action(cluster, event)
    row = insert(action, audit_id, event.request_received_timestamp)
    entry = _entry(event)
    _add_change(row, entry, event, action.gvr, mask)
    complete(row, entry, event.stage_timestamp)
    return True


def _is_same(known: AuditRecord, event: Event) -> bool:
    """Return True if the record describes the event's request, or an action that sent the request."""
    if known.origin == DIRECT:
        same = known.time == event.request_received_timestamp
        return same and known.path == event.request_uri.partition("?")[0][:512]
    if event.user.username.startswith(_CONSOLE):
        return True
    about = event.object_ref or _Object()
    named = (known.resource, known.namespace) == (about.resource, about.namespace)
    return named and _effective(event) in (known.as_user, known.actor)


def _digest(cluster: str, event: Event) -> str:
    received = event.request_received_timestamp
    content = repr((cluster, event.audit_id, event.user.username, event.request_uri, received))
    return sha256(content.encode()).hexdigest()[:16]


def _action(cluster: str, event: Event) -> AuditAction:
    about = event.object_ref or _Object()
    return AuditAction(
        actor=event.user.username,
        as_user=_effective(event),
        verb=event.verb,
        gvr=GVR(about.api_group, about.api_version, about.resource),
        namespace=about.namespace,
        name=about.name or _name_of(event),
        subresource=about.subresource,
        # The last address is that of kube-apiserver's peer. Clients can choose the others.
        source=event.source_ips[-1] if event.source_ips else "",
        user_agent=event.user_agent,
        path=event.request_uri.partition("?")[0],
        cluster=cluster,
        origin=DIRECT,
    )


def _entry(event: Event) -> AuditEntry:
    status = event.response_status or _Status()
    code = status.code if 0 <= status.code < 1000 else 0
    return AuditEntry(event.audit_id, code, status.reason, status.message)


def _metadata(event: Event) -> Mapping[str, Any]:
    found = event.response_object
    metadata = found.get("metadata") if isinstance(found, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _name_of(event: Event) -> str:
    """Return the name that kube-apiserver generated."""
    return str(_metadata(event).get("name") or "") if event.verb == "create" else ""


def _uid_of(event: Event) -> str:
    found = event.response_object if isinstance(event.response_object, dict) else {}
    details = found.get("details") if found.get("kind") == "Status" else None
    uids = [details.get("uid")] if isinstance(details, dict) else []
    uids += [
        event.object_ref.uid if event.object_ref is not None else "",
        _metadata(event).get("uid"),
    ]
    return next((str(one) for one in uids if one), "")


def _add_change(row: AuditRecord, entry: AuditEntry, event: Event, gvr: GVR, mask: Masking) -> None:
    """Add the manifests of a successful change: the one in the response, which kube-apiserver sends
    at the level RequestResponse, and the last known one before.
    """
    entry.uid = _uid_of(event)
    if entry.code >= 300 or row.subresource or event.verb == "deletecollection":
        return
    before = _last_known(row, entry.uid)
    found = event.response_object
    answered = found if isinstance(found, dict) and found.get("kind") != "Status" else None
    state = mask(gvr, answered) if answered is not None else None
    if event.verb == "delete":
        entry.set_change(entry.uid, state or before, None)
    elif state is not None:
        entry.set_change(entry.uid, before if event.verb != "create" else None, state)


def _last_known(row: AuditRecord, uid: str) -> Manifest | None:
    """Return the manifest after the latest recorded change of the object."""
    rows = AuditRecord.objects.filter(
        cluster=row.cluster,
        group=row.group,
        resource=row.resource,
        namespace=row.namespace,
        name=row.name,
        change__isnull=False,
        **({"uid": uid} if uid else {}),
    )
    latest = rows.select_related("change").first()
    return unpack(bytes(latest.change.after)) if latest is not None else None
