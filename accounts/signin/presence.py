"""Checks whether the session or token that started a websocket or background task is still valid."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import DatabaseError
from django.http import parse_cookie

from accounts.oauth.bearer import examine_token
from accounts.signin.sessions import FoundSession, State, examine
from accounts.time import now
from accounts.users.directory import UsersNotCached
from console.kube.host_runtime import get_runtime
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.requests import UserSession
from rbac.live_access import LiveAccess


async def find_session(key: str | None) -> FoundSession:
    """Return the current state of the session with this key."""
    if key is None:
        return FoundSession(State.NONE)
    session: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return await examine(session, now(), had_cookie=True)


async def is_signed_in(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Return True if these headers contain a valid session or token. False also if it can't be
    verified.
    """
    cookies = parse_cookie("; ".join(_texts(headers, b"Cookie")))
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    if key is not None:
        return (await find_session(key)).state is State.ALIVE
    for text in _texts(headers, b"Authorization"):
        scheme, _space, token = text.partition(" ")
        if scheme.lower() == "bearer":
            try:
                return await examine_token(token.strip()) is not None
            except (UsersNotCached, DatabaseError):
                return False
    return False


def _texts(headers: Mapping[bytes, Sequence[bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for value in headers.get(name, ())]


def live_access(name: str, cluster: Cluster) -> Access:
    return LiveAccess(name, cluster, get_runtime())


def session_presence(key: str | None, found: FoundSession) -> UserSession | None:
    """Return the presence of a session, or None for anonymous users.

    A task started with the user's own identity stays valid while the user views the console as
    another user.
    """
    mine, theirs = found.identity, found.acting
    if mine is None or theirs is None:
        return None

    return presence_of_session(key, mine.name, theirs.name)


def presence_of_session(key: str | None, mine: str, theirs: str) -> UserSession:
    """Return the presence of the session of user `mine`, acting as user `theirs`."""

    async def lasts() -> bool:
        found = await find_session(key)
        if found.identity is None or found.identity.name != mine:
            return False
        return theirs == mine or (found.acting is not None and found.acting.name == theirs)

    return UserSession(lasts, partial(live_access, theirs), key or "")


def token_presence(token: str, name: str) -> UserSession:
    """Return the presence of the user `name` who authenticated with this token."""

    async def lasts() -> bool:
        try:
            bearer = await examine_token(token)
        except (UsersNotCached, DatabaseError):
            return False
        return bearer is not None and bearer.grants_access and bearer.holder.user.name == name

    return UserSession(lasts, partial(live_access, name))
