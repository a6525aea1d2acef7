"""Sessions: which user a browser is, since when, and whether that still holds.

A session is a row in SQL, found by the random key in the cookie. It names the user and the user's uid,
so it ends when the user does, and a new user of the same name does not inherit it.
"""

import enum
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.db import DatabaseError

from accounts.directory import UsersUnknown, users
from accounts.session_settings import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from console.kube.gvr import Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import User
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

ACCOUNT, UID, SINCE, SEEN = "account", "uid", "since", "seen"
#: Use is written down at most this often (seconds), not with every request.
SEEN_EVERY = 60.0


class State(enum.Enum):
    NONE = enum.auto()
    ALIVE = enum.auto()
    ENDED = enum.auto()
    #: Nobody can say: the database does not answer, or the users have not arrived.
    UNKNOWN = enum.auto()


@dataclass(frozen=True, slots=True)
class Found:
    """`identity` is set for a session that is alive, and only then."""

    state: State
    identity: Identity | None = None


async def begin(session: SessionBase, user: User, now: datetime) -> None:
    """Signs `user` in: whatever the session was, its key and its content are gone."""
    await session.aflush()
    seconds = now.timestamp()
    await session.aupdate({ACCOUNT: user.name, UID: user.uid, SINCE: seconds, SEEN: seconds})
    await session.aset_expiry(now + ABSOLUTE_LIFETIME)


async def examine(session: SessionBase, now: datetime, *, had_cookie: bool) -> Found:
    """Who the session is. `had_cookie`: the browser sent a key, whether or not there is such a row."""
    try:
        content = dict(await session.aitems())
    except DatabaseError as error:
        log.error("Sessions cannot be read: %s", error)
        return Found(State.UNKNOWN)
    if ACCOUNT not in content:
        return Found(State.ENDED if had_cookie else State.NONE)
    if not _in_time(content, now):
        return Found(State.ENDED)
    try:
        entry = users().store.get(Key("", str(content[ACCOUNT])))
    except UsersUnknown:
        return Found(State.UNKNOWN)
    if entry is None or entry.projection.uid != content.get(UID):
        return Found(State.ENDED)
    if not is_usable(entry.projection):
        return Found(State.ENDED)
    try:
        return Found(State.ALIVE, Identity(entry.projection.name))
    except InvalidIdentity:
        return Found(State.ENDED)


async def touch(session: SessionBase, now: datetime) -> None:
    """Notes that the session is in use."""
    seconds = now.timestamp()
    if seconds - float(await session.aget(SEEN, 0)) >= SEEN_EVERY:
        await session.aset(SEEN, seconds)


def _in_time(content: dict[str, Any], now: datetime) -> bool:
    try:
        since = datetime.fromtimestamp(float(content[SINCE]), UTC)
        seen = datetime.fromtimestamp(float(content[SEEN]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    return now - since < ABSOLUTE_LIFETIME and now - seen < IDLE_LIFETIME
