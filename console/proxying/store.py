"""Database storage for open ports. All functions are synchronous: call them outside the event loop.

A ticket is valid once, for `TICKET`. Only hashes of tickets and cookies are stored, and they
don't grant access.
"""

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from console.kube.gvr import Key
from console.proxying.models import Opening
from console.proxying.target import TYPES, ProxyTarget
from console.ui.core.permissions import Refused

TICKET = timedelta(seconds=30)
#: An open port expires after this idle time. The last use is written at most once per
#: `USE_WRITE_INTERVAL`.
IDLE_TIMEOUT, USE_WRITE_INTERVAL = timedelta(minutes=30), timedelta(minutes=1)
#: Maximum open ports per user.
MAX_OPEN_PORTS = 20


class TooManyPorts(Refused):
    page_code: ClassVar[int] = 429


@dataclass(frozen=True, slots=True)
class PortOwner:
    account: str
    as_user: str
    session: str
    cluster: str


@dataclass(frozen=True, slots=True)
class OpenPortRecord:
    """A row of `console.proxying.models.Opening`."""

    label: str
    owner: PortOwner
    target: ProxyTarget
    audit_id: str
    used: datetime


def open_port(owner: PortOwner, target: ProxyTarget, audit_id: str) -> tuple[str, str]:
    """Store an open port, and return its label and a new ticket.

    If the session has already opened this port, its label is reused, so data that the program
    stored in the browser for this origin stays available. Raise `TooManyPorts`.
    """
    ticket, now = secrets.token_urlsafe(32), timezone.now()
    news = {
        "ticket": _hash(ticket),
        "ticket_until": now + TICKET,
        "audit_id": audit_id,
        "used": now,
    }
    about = {
        "account": owner.account,
        "as_user": owner.as_user,
        "session": owner.session,
        "cluster": owner.cluster,
        "resource": target.gvr.resource,
        "namespace": target.key.namespace,
        "name": target.key.name,
        "port": target.port,
        "scheme": target.scheme,
    }
    with transaction.atomic():
        row = Opening.objects.filter(**about).first()
        if row is not None:
            Opening.objects.filter(pk=row.pk).update(**news)
            return row.label, ticket
        if Opening.objects.filter(account=owner.account).count() >= MAX_OPEN_PORTS:
            text = _(
                "You have reached the maximum of %(most)s open ports. Close some ports in My account."
            )
            raise TooManyPorts(text % {"most": MAX_OPEN_PORTS})
        label = secrets.token_hex(16)
        Opening.objects.create(label=label, **about, **news)
    return label, ticket


def redeem_ticket(label: str, ticket: str) -> str:
    """Exchange a ticket for a new cookie value. Return "" if the ticket is invalid."""
    cookie, now = secrets.token_urlsafe(32), timezone.now()
    rows = Opening.objects.filter(label=label, ticket=_hash(ticket), ticket_until__gt=now)
    return cookie if rows.update(ticket="", cookie=_hash(cookie), used=now) else ""


def find_open_port(label: str, cookies: Collection[str]) -> OpenPortRecord | None:
    """Return the open port if one of the cookies is valid.

    There can be several cookies, because scripts of other ports can set cookies for the shared
    domain.
    """
    row = Opening.objects.filter(label=label).exclude(cookie="").first()
    if row is None or row.resource not in TYPES:
        return None
    if not any(constant_time_compare(_hash(one), row.cookie) for one in cookies):
        return None
    return _open(row)


def record_use(found: OpenPortRecord) -> None:
    now = timezone.now()
    if now - found.used >= USE_WRITE_INTERVAL:
        Opening.objects.filter(label=found.label).update(used=now)


def open_ports() -> Sequence[OpenPortRecord]:
    return [_open(row) for row in _known()]


def open_ports_of(account: str) -> Sequence[OpenPortRecord]:
    """Return the open ports of all sessions of `account`, newest first."""
    return [_open(row) for row in _known().filter(account=account).order_by("-began")]


def is_expired(found: OpenPortRecord) -> bool:
    """Return True if the port is idle or was never entered."""
    now = timezone.now()
    over = Q(used__lt=now - IDLE_TIMEOUT) | Q(cookie="", ticket_until__lt=now)
    return Opening.objects.filter(over, label=found.label).exists()


def delete_open_port(label: str) -> bool:
    """Delete the row. Return False if another process already deleted it."""
    deleted, _rows = Opening.objects.filter(label=label).delete()
    return bool(deleted)


def _known() -> QuerySet[Opening]:
    return Opening.objects.filter(resource__in=TYPES)


def _open(row: Opening) -> OpenPortRecord:
    owner = PortOwner(row.account, row.as_user, row.session, row.cluster)
    key = Key(row.namespace, row.name)
    target = ProxyTarget(TYPES[row.resource], key, row.port, row.scheme)
    return OpenPortRecord(row.label, owner, target, row.audit_id, row.used)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
