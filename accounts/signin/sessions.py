"""Sessions: which user a browser is, since when, and whether that still holds.

A session is a row in SQL, found by the random key in the cookie. It names the user and the user's uid,
so it ends when the user does, and a new user of the same name does not inherit it. It belongs to the
password that the user had, too, so it ends when that changes. A lock for failed attempts ends nothing.

Until everything that a sign-in needs has been shown or done, its session is nobody's: `Found.pending` has
the user's name, and `Found.step` what comes next. That is decided here, anew at every use, and nowhere
else, so that no way in can forget it.
"""

import enum
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.base import SessionBase
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.impersonation.state import Viewing, viewing_of
from accounts.mfa.register import has_factor
from accounts.models import ProviderSession, SignIn
from accounts.oauth.holders import has_first_password, holder_of
from accounts.oauth.options import options
from accounts.protection.records import NOWHERE, Origin
from accounts.signin.next_url import START
from accounts.signin.session_settings import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from accounts.time import now
from accounts.users.directory import UsersUnknown, users
from console.kube.gvr import Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import User
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

ACCOUNT, UID, SINCE, SEEN, CREDENTIAL = "account", "uid", "since", "seen", "credential"
#: What is known of a second factor: that a code has to follow, that one was shown, or that the identity
#: provider has signed the person in, and is the one to ask for more. Anything else: nothing.
FACTOR, OWED, SHOWN, ELSEWHERE = "factor", "owed", "shown", "elsewhere"
#: A password without its code is forgotten after this.
OWED_LIFETIME = timedelta(minutes=10)
#: Use is written down at most this often (seconds), not with every request.
SEEN_EVERY = 60.0


class State(enum.Enum):
    NONE = enum.auto()
    ALIVE = enum.auto()
    ENDED = enum.auto()
    #: Nobody can say: the database does not answer, or the users have not arrived.
    UNKNOWN = enum.auto()


class Step(enum.Enum):
    """What a session needs before it is somebody's."""

    PASSWORD = enum.auto()
    FACTOR = enum.auto()


@dataclass(frozen=True, slots=True)
class FoundSession:
    """`identity` is set for a session that is alive and may be used. `pending`: the name of a user who
    has to take a `step` before that, and is nobody until then. `viewing`: as whom else it is used."""

    state: State
    identity: Identity | None = None
    pending: str | None = None
    step: Step | None = None
    viewing: Viewing | None = None

    @property
    def acting(self) -> Identity | None:
        """Whose rights count."""
        return self.viewing.identity if self.viewing is not None else self.identity


async def begin(
    session: SessionBase,
    user: User,
    now: datetime,
    *,
    credential: str = "",
    origin: Origin = NOWHERE,
    factor: str = "",
) -> None:
    """Signs `user` in: whatever the session was, its key and its content are gone. Save it after this.

    `credential`: of the password that was shown; without one, of the password that there is now.
    `factor`: `SHOWN` or `ELSEWHERE`. But for `SHOWN`, a user who has a second factor owes a code.
    """
    await session.aflush()
    seconds = now.timestamp()
    if factor != SHOWN and await has_factor(user):
        factor = OWED
    entry = users().store.get(Key("", user.name))
    if not credential and entry is not None:
        credential = holder_of(entry).credential
    content = {ACCOUNT: user.name, UID: user.uid, CREDENTIAL: credential, FACTOR: factor}
    await session.aupdate({**content, SINCE: seconds, SEEN: seconds})
    await session.aset_expiry(now + ABSOLUTE_LIFETIME)
    # Chosen here and not when it is saved, so that the sign-in can be found by its user.
    key: str = await session._aget_new_session_key()  # type: ignore[attr-defined]
    session._session_key = key
    await SignIn.objects.acreate(
        session=key,
        user=user.name,
        address=origin.address,
        user_agent=origin.user_agent,
        began=now,
        expires=now + ABSOLUTE_LIFETIME,
    )


async def complete(session: SessionBase, now: datetime) -> None:
    """After the second factor was shown: the session goes on under a new key, and lasts from now."""
    before = session.session_key
    seconds = now.timestamp()
    await session.aupdate({FACTOR: SHOWN, SINCE: seconds, SEEN: seconds})
    await session.aset_expiry(now + ABSOLUTE_LIFETIME)
    await session.acycle_key()
    await sync_to_async(_follow)(before, session.session_key, now)


@transaction.atomic
def _follow(before: str | None, after: str | None, now: datetime) -> None:
    expires = now + ABSOLUTE_LIFETIME
    SignIn.objects.filter(session=before).update(session=after, began=now, expires=expires)
    rows = ProviderSession.objects.filter(session_key=before)
    rows.update(session_key=after, expires=expires)


async def examine(session: SessionBase, now: datetime, *, had_cookie: bool) -> FoundSession:
    """Who the session is. `had_cookie`: the browser sent a key, whether or not there is such a row."""
    try:
        content = dict(await session.aitems())
    except DatabaseError as error:
        log.error("Sessions cannot be read: %s", error)
        return FoundSession(State.UNKNOWN)
    if ACCOUNT not in content:
        return FoundSession(State.ENDED if had_cookie else State.NONE)
    if not in_time(content, now):
        return FoundSession(State.ENDED)
    try:
        entry = users().store.get(Key("", str(content[ACCOUNT])))
    except UsersUnknown:
        return FoundSession(State.UNKNOWN)
    if entry is None or entry.projection.uid != content.get(UID):
        return FoundSession(State.ENDED)
    if not is_usable(entry.projection):
        return FoundSession(State.ENDED)
    holder = holder_of(entry)
    if holder.credential != content.get(CREDENTIAL):
        return FoundSession(State.ENDED)
    try:
        identity = holder.identity
    except InvalidIdentity:
        return FoundSession(State.ENDED)
    step = _next_step(content.get(FACTOR), has_first_password(entry.projection))
    if step is not None:
        return FoundSession(State.ALIVE, pending=identity.name, step=step)
    return FoundSession(State.ALIVE, identity, viewing=viewing_of(content, identity, now))


def _next_step(factor: object, first_password: bool) -> Step | None:
    """A code comes before a new password: who knows only the old one changes nothing."""
    if factor == OWED:
        return Step.FACTOR
    if first_password:
        return Step.PASSWORD
    if options().requires_factor and factor not in (SHOWN, ELSEWHERE):
        return Step.FACTOR
    return None


def in_time(content: dict[str, Any], now: datetime) -> bool:
    """False for a session that was begun, or used last, too long ago."""
    try:
        since = datetime.fromtimestamp(float(content[SINCE]), UTC)
        seen = datetime.fromtimestamp(float(content[SEEN]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    longest = OWED_LIFETIME if content.get(FACTOR) == OWED else ABSOLUTE_LIFETIME
    return now - since < longest and now - seen < IDLE_LIFETIME


async def touch(session: SessionBase, now: datetime) -> None:
    """Notes that the session is in use: kept with what else changes, or else if that can be done."""
    seconds = now.timestamp()
    if seconds - float(await session.aget(SEEN, 0)) >= SEEN_EVERY:
        changed = session.modified
        await session.aset(SEEN, seconds)
        session.modified, session.used = changed, True  # type: ignore[attr-defined]


# What a sign-in still owes, as a page: the only one that it can open until then.

#: Names of the pages, and what programs are told.
STEPS: Mapping[Step, tuple[str, str | Promise]] = {
    Step.PASSWORD: ("accounts:choose_password", gettext_lazy("Choose a password first.")),
    Step.FACTOR: ("accounts:second_factor", gettext_lazy("Show your second factor first.")),
}


def step_url(step: Step, next_url: str) -> str:
    """The page of the step, from which one goes on to `next_url`."""
    page = reverse(STEPS[step][0])
    return page if next_url == START else f"{page}?{urlencode({'next': next_url})}"


async def onward(session: SessionBase, next_url: str) -> str:
    """Where a browser goes whose sign-in has just come one step further."""
    found = await examine(session, now(), had_cookie=True)
    return next_url if found.step is None else step_url(found.step, next_url)
