"""Counting attempts, before anybody looks at the password. Synchronous: call it off the loop.

Promises:
- Of any number of attempts at once, on any number of replicas, no more than the limit get as far as the
  password: each is counted by one conditional UPDATE before it is compared, and taken back if it was
  right.
- A name is counted whether or not there is such a user, so a lock says nothing about that.
- Nothing is dropped to make place: rows go when they mean nothing any more.
- While the database is away nobody gets in; `DatabaseError` goes on.
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

from accounts.models import FailedAttempts
from accounts.oauth.options import options
from accounts.protection.limits import Limits
from accounts.time import now
from accounts.users.states import LOCKED, lock_left
from console.kube.projections import User
from console.kube.store import Entry

#: What is guessed: a password, or a code of the second factor.
PASSWORD, CODE = "user", "code"


@dataclass(frozen=True, slots=True)
class Ticket:
    """One attempt that has been counted. `wait`: seconds until there may be another one, if this was
    one too many; then it must go no further, unless it is only `elsewhere` that the name was tried too
    often, and its user has signed in from here before."""

    user: str
    here: str
    source: str
    wait: float | None = None
    elsewhere: bool = False


def begin(
    name: str, network: str, limits: Limits, now: datetime, *, kind: str = PASSWORD
) -> Ticket:
    """Counts an attempt to be `name` from `network` ("" if nobody knows). `kind`: what is guessed. Codes
    are counted apart, or whoever knows the password could forget wrong codes by showing it again."""
    user, source = _user_key(name[:253], kind), _digest("source", network)
    here = _user_key(f"{name[:253]}\0{network}", kind) if network else ""
    wait = _take(source, limits.address_tries, limits.duration, now) if network else None
    if wait is not None:
        return Ticket(user, here, source, wait)
    # At once: whoever comes in between would find the user's tries used up and those from here not yet.
    with transaction.atomic():
        wait = _take(user, limits.tries, limits.duration, now)
        too_often = not here or _take(here, limits.tries, limits.duration, now) is not None
    return Ticket(user, here, source, wait, elsewhere=wait is not None and not too_often)


def succeeded(ticket: Ticket) -> None:
    """The password was right: the user starts anew. The source does not, or one right password would
    buy as many guesses as one likes; nor does who has locked the name from elsewhere."""
    if not ticket.elsewhere:
        _forget(ticket.user)
    _forget(ticket.here)
    _give_back(ticket.source)


def cancelled(ticket: Ticket) -> None:
    """Nobody looked at the password."""
    if not ticket.elsewhere:
        _give_back(ticket.user)
    _give_back(ticket.here)
    _give_back(ticket.source)


def locked_for(name: str, limits: Limits, now: datetime) -> float | None:
    """Seconds until `name` may try again; None if it may now."""
    keys = (_user_key(name[:253], kind) for kind in (PASSWORD, CODE))
    waits = [_locked_for(key, limits.tries, limits.duration, now) for key in keys]
    return max((wait for wait in waits if wait is not None), default=None)


def forget(name: str) -> None:
    """Unlocks a name."""
    for kind in (PASSWORD, CODE):
        _forget(_user_key(name[:253], kind))


def discard_old(limits: Limits, now: datetime) -> None:
    FailedAttempts.objects.filter(last__lte=now - limits.duration).delete()


def folded(name: str) -> str:
    """Names that look alike count as one."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _user_key(name: str, kind: str) -> str:
    return _digest(kind, folded(name))


def _digest(kind: str, text: str) -> str:
    words = f"{kind}\0{text}".encode("utf-8", "replace")
    return hmac.new(str(settings.SECRET_KEY).encode(), words, hashlib.sha256).hexdigest()


def _take(key: str, limit: int, duration: timedelta, now: datetime) -> float | None:
    """Counts one, or says how long that is not possible."""
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
        # Somebody else changed it in between: look again.


def _locked_for(key: str, limit: int, duration: timedelta, now: datetime) -> float | None:
    rows = FailedAttempts.objects.filter(key=key, count__gte=limit)
    last = rows.values_list("last", flat=True).first()
    left = (last + duration - now).total_seconds() if last is not None else 0.0
    return left if left > 0 else None


def _forget(key: str) -> None:
    FailedAttempts.objects.filter(key=key).update(count=0)


def _give_back(key: str) -> None:
    FailedAttempts.objects.filter(key=key, count__gt=0).update(count=F("count") - 1)


# For how long nobody may sign in as a user.


async def user_locked_for(entry: Entry[User]) -> float | None:
    """Seconds until the user may try again; None if they may now. Raises DatabaseError."""
    limits, moment = options().limits, now()
    counted = await sync_to_async(locked_for)(entry.key.name, limits, moment)
    return max(counted or 0.0, locked_by_state(entry, moment) or 0.0) or None


def locked_by_state(entry: Entry[User], moment: datetime) -> float | None:
    """The same by the state alone, which another installation may have set."""
    if entry.projection.state != LOCKED:
        return None
    left = lock_left(entry.original().get("status") or {}, options().limits.duration, moment)
    return left if left > 0 else None
