"""Rate limiting of sign-in attempts, applied before the password is checked.

Synchronous: call these functions from a worker thread, not from the event loop.

Guarantees:

- The limit holds for concurrent attempts on any number of replicas. One conditional UPDATE
  counts each attempt before the password is compared, and a successful attempt is subtracted
  again.
- Names are counted whether or not the user exists, so a lock doesn't reveal that a user exists.
- Rows are deleted only after they expire, never to make room.
- If the database is unavailable, `DatabaseError` propagates and sign-in is impossible.
"""

import hashlib
import hmac
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest

from accounts.models import FailedAttempts
from accounts.oauth.options import Limits, options
from accounts.protection.records import origin_of
from accounts.time import now
from accounts.users.states import LOCKED, lock_remaining
from console.kube.projections import User
from console.kube.store import Entry

#: Kinds of secrets: a password, or a code of the second factor.
PASSWORD, CODE = "user", "code"
#: Attempts per address, as a multiple of the attempts per user, because users can share an address.
ADDRESS_SHARE = 10


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """Counted attempt.

    `wait` is the number of seconds until the next attempt is allowed if the limit is exceeded,
    else None. If `wait` is set, the attempt must be rejected, unless `elsewhere` is True (only
    attempts from other networks exceeded the limit) and the user has signed in from this network
    before.
    """

    user: str
    here: str
    source: str
    wait: float | None = None
    elsewhere: bool = False


def count_attempt(
    name: str, network: str, limits: Limits, now: datetime, *, kind: str = PASSWORD
) -> CountedAttempt:
    """Count an attempt to sign in as `name` from `network` ("" if unknown). `kind` is the kind of
    secret.

    Codes are counted separately. Otherwise, an attacker who knows the password could reset the
    count of wrong codes by entering the password again.
    """
    user, source = _user_key(name[:253], kind), _digest("source", network)
    here = _user_key(f"{name[:253]}\0{network}", kind) if network else ""
    wait = _count(source, limits.tries * ADDRESS_SHARE, limits.duration, now) if network else None
    if wait is not None:
        return CountedAttempt(user, here, source, wait)
    # In one transaction. Otherwise, a concurrent attempt could see the user's limit exceeded but
    # not yet the limit for this network.
    with transaction.atomic():
        wait = _count(user, limits.tries, limits.duration, now)
        too_often = not here or _count(here, limits.tries, limits.duration, now) is not None
    return CountedAttempt(user, here, source, wait, elsewhere=wait is not None and not too_often)


async def begin_attempt(request: HttpRequest, name: str, *, kind: str = PASSWORD) -> CountedAttempt:
    """Count an attempt of this request as `count_attempt` does. Call from the event loop."""
    network = origin_of(request).network
    return await sync_to_async(count_attempt)(name, network, options().limits, now(), kind=kind)


def record_success(ticket: CountedAttempt) -> None:
    """Record a successful attempt and reset the user's counter.

    The network's counter is only decremented; otherwise one known password would allow unlimited
    guesses at others. The user's counter is not reset if the user is locked because of attempts
    from other networks.
    """
    if not ticket.elsewhere:
        _forget(ticket.user)
    _forget(ticket.here)
    _give_back(ticket.source)


def cancel_attempt(ticket: CountedAttempt) -> None:
    """Undo the count of an attempt whose password was not checked."""
    if not ticket.elsewhere:
        _give_back(ticket.user)
    _give_back(ticket.here)
    _give_back(ticket.source)


def locked_for(name: str, limits: Limits, now: datetime) -> float | None:
    """Return the seconds until `name` may try again, or None if it is not locked."""
    keys = (_user_key(name[:253], kind) for kind in (PASSWORD, CODE))
    waits = [_locked_for(key, limits.tries, limits.duration, now) for key in keys]
    return max((wait for wait in waits if wait is not None), default=None)


def unlock(name: str) -> None:
    """Unlock a name."""
    for kind in (PASSWORD, CODE):
        _forget(_user_key(name[:253], kind))


def discard_old(limits: Limits, now: datetime) -> None:
    FailedAttempts.objects.filter(last__lte=now - limits.duration).delete()


def normalize_name(name: str) -> str:
    """Normalize a name so that names that look alike share a counter."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _user_key(name: str, kind: str) -> str:
    return _digest(kind, normalize_name(name))


def _digest(kind: str, text: str) -> str:
    words = f"{kind}\0{text}".encode("utf-8", "replace")
    return hmac.new(str(settings.SECRET_KEY).encode(), words, hashlib.sha256).hexdigest()


def _count(key: str, limit: int, duration: timedelta, now: datetime) -> float | None:
    """Count an attempt, or return the seconds until the next attempt is allowed."""
    start = now - duration
    rows = FailedAttempts.objects.filter(key=key)
    open_ones = rows.filter(count__lt=limit, since__gt=start)
    over = rows.filter(Q(count__lt=limit, since__lte=start) | Q(count__gte=limit, last__lte=start))
    while True:
        if open_ones.update(count=F("count") + 1, last=now):
            return None
        if over.update(count=1, since=now, last=now):
            return None
        first = {"count": 1, "since": now, "last": now}
        if FailedAttempts.objects.get_or_create(key=key, defaults=first)[1]:
            return None
        wait = _locked_for(key, limit, duration, now)
        if wait is not None:
            return wait
        # A concurrent attempt changed the row: retry.


def _locked_for(key: str, limit: int, duration: timedelta, now: datetime) -> float | None:
    rows = FailedAttempts.objects.filter(key=key, count__gte=limit)
    last = rows.values_list("last", flat=True).first()
    left = (last + duration - now).total_seconds() if last is not None else 0.0
    return left if left > 0 else None


def _forget(key: str) -> None:
    FailedAttempts.objects.filter(key=key).update(count=0)


def _give_back(key: str) -> None:
    FailedAttempts.objects.filter(key=key, count__gt=0).update(count=F("count") - 1)


# Remaining lock time of a user.


async def user_locked_for(entry: Entry[User]) -> float | None:
    """Return the seconds until the user may try again, or None if not locked. Raise DatabaseError."""
    limits, moment = options().limits, now()
    counted = await sync_to_async(locked_for)(entry.key.name, limits, moment)
    return max(counted or 0.0, locked_by_state(entry, moment) or 0.0) or None


def locked_by_state(entry: Entry[User], moment: datetime) -> float | None:
    """Like `user_locked_for`, but uses only the User's state, which another installation may have
    set.
    """
    if entry.projection.state != LOCKED:
        return None
    left = lock_remaining(entry.original().get("status") or {}, options().limits.duration, moment)
    return left if left > 0 else None
