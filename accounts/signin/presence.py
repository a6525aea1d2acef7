"""Whether somebody still is who began what goes on: for sockets, and for what a request began."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import DatabaseError
from django.http import parse_cookie

from accounts.oauth.bearer import examine_token
from accounts.signin.sessions import FoundSession, State, examine
from accounts.users.directory import UsersUnknown
from console.kube.clock import SystemClock
from console.kube.current import get_runtime
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.presence import Presence
from rbac.liveaccess import LiveAccess

_clock = SystemClock()


async def find_session(key: str | None) -> FoundSession:
    """Whose session has this key at this moment."""
    if key is None:
        return FoundSession(State.NONE)
    session: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return await examine(session, _clock.now(), had_cookie=True)


async def is_signed_in(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Whether whoever sends these has a session or a token, as far as that can be known now."""
    cookies = parse_cookie("; ".join(_texts(headers, b"Cookie")))
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    if key is not None:
        return (await find_session(key)).state is State.ALIVE
    for text in _texts(headers, b"Authorization"):
        scheme, _space, token = text.partition(" ")
        if scheme.lower() == "bearer":
            try:
                return await examine_token(token.strip()) is not None
            except (UsersUnknown, DatabaseError):
                return False
    return False


def _texts(headers: Mapping[bytes, Sequence[bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for value in headers.get(name, ())]


def live_access(name: str, cluster: Cluster) -> Access:
    return LiveAccess(name, cluster, get_runtime())


def session_presence(key: str | None, found: FoundSession) -> Presence | None:
    """None for nobody. One who began it as themselves may view the console as others meanwhile."""
    mine, theirs = found.identity, found.acting
    if mine is None or theirs is None:
        return None

    return kept_presence(key, mine.name, theirs.name)


def kept_presence(key: str | None, mine: str, theirs: str) -> Presence:
    """Of a session that was `mine`, as `theirs`."""

    async def lasts() -> bool:
        now = await find_session(key)
        if now.identity is None or now.identity.name != mine:
            return False
        return theirs == mine or (now.acting is not None and now.acting.name == theirs)

    return Presence(lasts, partial(live_access, theirs), key or "")


def token_presence(token: str, name: str) -> Presence:
    """Of the user whose token it is."""

    async def lasts() -> bool:
        try:
            bearer = await examine_token(token)
        except (UsersUnknown, DatabaseError):
            return False
        return bearer is not None and bearer.acts and bearer.holder.user.name == name

    return Presence(lasts, partial(live_access, name))
