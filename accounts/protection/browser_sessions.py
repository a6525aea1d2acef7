"""Browser sessions of a user. Synchronous: call from a worker thread, not from the event loop.

A session is valid only while its row in Django's session table exists. Deleting the row ends it
on every replica with the next request.
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
class BrowserSession:
    """Session as displayed to the user.

    `id` identifies the session in forms and is not the session key. `seen` has a resolution of
    one minute.
    """

    id: str
    address: str
    user_agent: str
    began: datetime
    seen: datetime
    current: bool


def list_sessions(user: str, now: datetime, *, current: str | None = None) -> list[BrowserSession]:
    """Return active sessions: the current one first, then by last use. `current` is the caller's
    session key.
    """
    found = list(_alive(user, now, current))
    return sorted(found, key=lambda one: (one.current, one.seen), reverse=True)


def end_session(user: str, id: str) -> bool:
    """End one session of the user. Return False if the user has no session with this ID."""
    return _end(SignIn.objects.filter(user=user, id=id)) > 0


def end_all_sessions(user: str, *, but: str | None = None) -> int:
    """End all sessions of the user except the one with key `but`. Return the number of ended
    sessions.
    """
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


def _alive(user: str, now: datetime, current: str | None) -> Iterator[BrowserSession]:
    rows = {row.session: row for row in SignIn.objects.filter(user=user, expires__gt=now)}
    for session in Session.objects.filter(session_key__in=list(rows)):
        content, row = session.get_decoded(), rows[session.session_key]
        if content.get(FACTOR) == OWED:
            # The password was correct but the code is missing, so nobody is signed in.
            continue
        if content.get(ACCOUNT) == user and in_time(content, now):
            yield BrowserSession(
                id=str(row.id),
                address=row.address,
                user_agent=row.user_agent,
                began=row.began,
                seen=datetime.fromtimestamp(content[SEEN], UTC),
                current=row.session == current,
            )
