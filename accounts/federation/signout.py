"""End of sessions that started at an identity provider, initiated by the console or by the
provider.

https://openid.net/specs/openid-connect-rpinitiated-1_0.html

https://openid.net/specs/openid-connect-backchannel-1_0.html

https://apereo.github.io/cas/6.6.x/installation/Logout-Single-Signout.html
"""

import logging
from datetime import datetime
from importlib import import_module

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from accounts.federation import onetime
from accounts.federation.signin import ID_TOKEN, PROVIDER
from accounts.models import ProviderSession
from accounts.oauth import grants
from accounts.providers.base import (
    CallbackLogoutProvider,
    EndedSessions,
    LogoutProvider,
    Unreachable,
)
from accounts.providers.openid import LOGOUT_AGE, SKEW
from accounts.providers.options import read_current_providers

log = logging.getLogger(__name__)

#: Kind of `onetime` value: logout tokens.
LOGOUT = "logout"


async def provider_logout(session: SessionBase) -> str:
    """Return the URL that ends the provider's session, or "" if there is no session or no such URL."""
    name, token = await session.aget(PROVIDER, ""), await session.aget(ID_TOKEN, "")
    entry = (await read_current_providers()).entries.get(name) if name else None
    if entry is None or not isinstance(entry.provider, LogoutProvider | CallbackLogoutProvider):
        return ""
    if isinstance(entry.provider, LogoutProvider) and not token:
        return ""
    try:
        back = settings.BASE_URL + reverse("accounts:login")
        return await entry.provider.logout_url(token, back)
    except Unreachable as error:
        log.warning("Identity provider %s: %s", entry.name, error)
        return ""


@transaction.atomic
def end_sessions(provider: str, ended: EndedSessions, now: datetime) -> list[str] | None:
    """End the sessions named by a logout token and return their users.

    All OAuth tokens of these users are revoked, but not their API tokens. Return None if the
    logout token was used before. Synchronous: call from a worker thread, not from the event
    loop.
    """
    until = now + LOGOUT_AGE + 2 * SKEW
    if not onetime.use(LOGOUT, f"{provider}/{ended.token}", now, until):
        return None
    rows = _rows(provider, ended, now)
    engine = import_module(settings.SESSION_ENGINE)
    users = set()
    for row in rows:
        engine.SessionStore(row.session_key).delete()
        users.add(row.user)
    rows.delete()
    for user in users:
        grants.end_user(user, "ProviderLogout", now)
    return sorted(users)


def has_sessions(provider: str, ended: EndedSessions, now: datetime) -> bool:
    """Return True if the logout token names a session. Synchronous: call from a worker thread."""
    return _rows(provider, ended, now).exists()


def _rows(provider: str, ended: EndedSessions, now: datetime) -> QuerySet[ProviderSession]:
    rows = ProviderSession.objects.filter(provider=provider, expires__gt=now)
    if ended.sid:
        rows = rows.filter(sid=ended.sid)
    if ended.subject:
        rows = rows.filter(subject=ended.subject)
    return rows
