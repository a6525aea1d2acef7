"""Browser sessions: creation, validation and pending sign-in steps.

A session is a database row found by the random key in the cookie. It stores the user's name and
uid, so it becomes invalid when the user is deleted, and a new user with the same name doesn't
inherit it. It also stores the password's credential, so it becomes invalid when the password
changes. A lock after failed attempts doesn't end sessions.

Until all sign-in steps are complete, a session has no identity: `FoundSession.pending` contains
the username and `FoundSession.step` the next step. Only `examine` decides this, at every use,
so no entry point can skip it.
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
from accounts.mfa.factors import has_factor
from accounts.models import ProviderSession, SignIn
from accounts.oauth.holders import has_first_password, holder_of
from accounts.oauth.options import options
from accounts.protection.records import NOWHERE, Origin
from accounts.signin.next_url import START
from accounts.signin.session_settings import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from accounts.time import now
from accounts.users.directory import UsersNotCached, users
from console.kube.gvr import Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity
from console.kube.projections import User
from rbac.memberships import usable_identity

log = logging.getLogger(__name__)

ACCOUNT, UID, SINCE, SEEN, CREDENTIAL = "account", "uid", "since", "seen", "credential"
#: Second-factor status: a code is required, a code was accepted, or the identity provider
#: authenticated the user and is responsible for further factors. Any other value means no second
#: factor.
FACTOR, OWED, SHOWN, ELSEWHERE = "factor", "owed", "shown", "elsewhere"
#: Maximum time between a correct password and its code.
OWED_LIFETIME = timedelta(minutes=10)
#: The last-used time is updated at most this often, in seconds.
SEEN_EVERY = 60.0


class State(enum.Enum):
    NONE = enum.auto()
    ALIVE = enum.auto()
    ENDED = enum.auto()
    #: The database doesn't respond, or the users are not cached.
    UNKNOWN = enum.auto()


class Step(enum.Enum):
    """Step required before a session is authenticated."""

    PASSWORD = enum.auto()
    FACTOR = enum.auto()


@dataclass(frozen=True, slots=True)
class FoundSession:
    """Result of examining a session.

    `identity` is set if the session is valid and sign-in is complete. `pending` is the name of a
    user who must complete `step` first. `viewing` is set while the user views the console as
    another user.
    """

    state: State
    identity: Identity | None = None
    pending: str | None = None
    step: Step | None = None
    viewing: Viewing | None = None

    @property
    def acting(self) -> Identity | None:
        """Identity whose permissions apply."""
        return self.viewing.identity if self.viewing is not None else self.identity


async def start_session(
    session: SessionBase,
    user: User,
    now: datetime,
    *,
    credential: str = "",
    origin: Origin = NOWHERE,
    factor: str = "",
) -> None:
    """Sign `user` in. The session's previous key and content are discarded. Save the session
    afterwards.

    `credential` identifies the password that was checked; it defaults to the current password.
    `factor` is `SHOWN` or `ELSEWHERE`. Unless it is `SHOWN`, a user with a second factor must
    enter a code.
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
    # Create the key here instead of in save(), so that the SignIn row can reference it.
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


async def complete_sign_in(session: SessionBase, now: datetime) -> None:
    """Complete the second factor: replace the session key and restart the session's lifetime."""
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
    """Validate a session. `had_cookie` is True if the browser sent a key, even if no row exists for
    it.
    """
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
    except UsersNotCached:
        return FoundSession(State.UNKNOWN)
    if entry is None or entry.projection.uid != content.get(UID):
        return FoundSession(State.ENDED)
    if holder_of(entry).credential != content.get(CREDENTIAL):
        return FoundSession(State.ENDED)
    identity = usable_identity(get_runtime(), entry.projection)
    if identity is None:
        return FoundSession(State.ENDED)
    step = _next_step(content.get(FACTOR), has_first_password(entry.projection))
    if step is not None:
        return FoundSession(State.ALIVE, pending=identity.name, step=step)
    return FoundSession(State.ALIVE, identity, viewing=viewing_of(content, identity, now))


def _next_step(factor: object, first_password: bool) -> Step | None:
    """Return the next step. The code precedes a password change: an old password alone can't set a
    new one.
    """
    if factor == OWED:
        return Step.FACTOR
    if first_password:
        return Step.PASSWORD
    if options().requires_factor and factor not in (SHOWN, ELSEWHERE):
        return Step.FACTOR
    return None


def in_time(content: dict[str, Any], now: datetime) -> bool:
    """Return False if the session was started, or last used, too long ago."""
    try:
        since = datetime.fromtimestamp(float(content[SINCE]), UTC)
        seen = datetime.fromtimestamp(float(content[SEEN]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    longest = OWED_LIFETIME if content.get(FACTOR) == OWED else ABSOLUTE_LIFETIME
    return now - since < longest and now - seen < IDLE_LIFETIME


async def touch(session: SessionBase, now: datetime) -> None:
    """Update the last-used time. It is saved with other changes, or else if the database allows."""
    seconds = now.timestamp()
    if seconds - float(await session.aget(SEEN, 0)) >= SEEN_EVERY:
        changed = session.modified
        await session.aset(SEEN, seconds)
        session.modified, session.used = changed, True  # type: ignore[attr-defined]


# Pages of the pending sign-in steps, the only pages an incomplete session can open.

#: View name and error message for API clients, by step.
STEPS: Mapping[Step, tuple[str, str | Promise]] = {
    Step.PASSWORD: ("accounts:choose_password", gettext_lazy("Choose a new password first.")),
    Step.FACTOR: ("accounts:second_factor", gettext_lazy("Enter your second factor first.")),
}


def step_url(step: Step, next_url: str) -> str:
    """Return the URL of the step's page, which continues to `next_url`."""
    page = reverse(STEPS[step][0])
    return page if next_url == START else f"{page}?{urlencode({'next': next_url})}"


async def next_page_url(session: SessionBase, next_url: str) -> str:
    """Return the URL to open after a sign-in step was completed."""
    found = await examine(session, now(), had_cookie=True)
    return next_url if found.step is None else step_url(found.step, next_url)
