"""The browsers that a user is signed in with. Synchronous: call it off the loop.

What counts is Django's row of the session: without it a session is over, on every replica, with the next
request.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import SignIn
from accounts.signin.sessions import ACCOUNT, FACTOR, OWED, SEEN, in_time


@dataclass(frozen=True, slots=True)
class Shown:
    """`id` names it in forms; it is not the session's key. `seen`: to the minute."""

    id: str
    address: str
    user_agent: str
    began: datetime
    seen: datetime
    current: bool


def signed_in(user: str, now: datetime, *, current: str | None = None) -> list[Shown]:
    """Those that are alive, the last used first. `current`: the key of the one that asks."""
    found = list(_alive(user, now, current))
    return sorted(found, key=lambda one: (one.current, one.seen), reverse=True)


def end_one(user: str, id: str) -> bool:
    """Ends one of this user's; False if there is none of this id."""
    return _end(SignIn.objects.filter(user=user, id=id)) > 0


def end_all(user: str, *, but: str | None = None) -> int:
    """Ends all of this user's, but the one with the key `but`; returns how many there were."""
    rows = SignIn.objects.filter(user=user)
    return _end(rows.exclude(session=but) if but else rows)


@transaction.atomic
def discard_expired(now: datetime) -> None:
    Session.objects.filter(expire_date__lte=now).delete()
    SignIn.objects.filter(expires__lte=now).delete()


@transaction.atomic
def _end(rows: QuerySet[SignIn]) -> int:
    keys = list(rows.values_list("session", flat=True))
    ended, _ = Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session__in=keys).delete()
    return ended


def _alive(user: str, now: datetime, current: str | None) -> Iterator[Shown]:
    rows = {row.session: row for row in SignIn.objects.filter(user=user, expires__gt=now)}
    for session in Session.objects.filter(session_key__in=list(rows)):
        content, row = session.get_decoded(), rows[session.session_key]
        if content.get(FACTOR) == OWED:
            # A password, and nobody yet.
            continue
        if content.get(ACCOUNT) == user and in_time(content, now):
            yield Shown(
                id=str(row.id),
                address=row.address,
                user_agent=row.user_agent,
                began=row.began,
                seen=datetime.fromtimestamp(content[SEEN], UTC),
                current=row.session == current,
            )
