"""Keeping what is open, and finding it again by what a browser shows. Synchronous: call it off the loop.

Promises: a ticket counts once and for `TICKET` only; what is kept of tickets and cookies lets nobody in.
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
from console.proxying.target import TYPES, Target
from console.ui.decisions import Refused

TICKET = timedelta(seconds=30)
#: Whoever shows nothing for so long has to open it anew; it is written down this often.
IDLE, USED_EVERY = timedelta(minutes=30), timedelta(minutes=1)
#: Open ports of one user.
MOST = 20


class TooManyPorts(Refused):
    page_code: ClassVar[int] = 429


@dataclass(frozen=True, slots=True)
class Owner:
    account: str
    as_user: str
    session: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Open:
    """As `console.proxying.models.Opening` has it."""

    label: str
    owner: Owner
    target: Target
    audit_id: str
    used: datetime


def open_port(owner: Owner, target: Target, audit_id: str) -> tuple[str, str]:
    """The label and a ticket. What the session has open already gets a new ticket, and keeps its host: so
    does what the program has put into the browser. Raises `TooManyPorts`."""
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
        if Opening.objects.filter(account=owner.account).count() >= MOST:
            text = _("You have %(most)s ports open, which is the most. Close some in My account.")
            raise TooManyPorts(text % {"most": MOST})
        label = secrets.token_hex(16)
        Opening.objects.create(label=label, **about, **news)
    return label, ticket


def enter(label: str, ticket: str) -> str:
    """What the cookie has to hold from now on, "" for a ticket that does not count."""
    cookie, now = secrets.token_urlsafe(32), timezone.now()
    rows = Opening.objects.filter(label=label, ticket=_hash(ticket), ticket_until__gt=now)
    return cookie if rows.update(ticket="", cookie=_hash(cookie), used=now) else ""


def find(label: str, cookies: Collection[str]) -> Open | None:
    """What is open for whoever shows one of these; a neighbour's script may have added others."""
    row = Opening.objects.filter(label=label).exclude(cookie="").first()
    if row is None or row.resource not in TYPES:
        return None
    if not any(constant_time_compare(_hash(one), row.cookie) for one in cookies):
        return None
    return _open(row)


def touch(found: Open) -> None:
    now = timezone.now()
    if now - found.used >= USED_EVERY:
        Opening.objects.filter(label=found.label).update(used=now)


def all_open() -> Sequence[Open]:
    return [_open(row) for row in _known()]


def opened_by(account: str) -> Sequence[Open]:
    """In all its sessions, the newest first."""
    return [_open(row) for row in _known().filter(account=account).order_by("-began")]


def is_over(found: Open) -> bool:
    """True for what nobody has used for long, or has never entered."""
    now = timezone.now()
    over = Q(used__lt=now - IDLE) | Q(cookie="", ticket_until__lt=now)
    return Opening.objects.filter(over, label=found.label).exists()


def end(label: str) -> bool:
    """False if somebody else has ended it."""
    deleted, _rows = Opening.objects.filter(label=label).delete()
    return bool(deleted)


def _known() -> QuerySet[Opening]:
    return Opening.objects.filter(resource__in=TYPES)


def _open(row: Opening) -> Open:
    owner = Owner(row.account, row.as_user, row.session, row.cluster)
    key = Key(row.namespace, row.name)
    target = Target(TYPES[row.resource], key, row.port, row.scheme)
    return Open(row.label, owner, target, row.audit_id, row.used)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
