"""Logging in with a name and a password that a provider checks. The door is the login form."""

import logging

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.authenticate import MAX_NAME, MAX_PASSWORD
from accounts.federation.entering import welcome
from accounts.federation.guarding import guarded
from accounts.federation.refusing import refuse
from accounts.login_page import LoginForm, login_page
from accounts.providers.base import PasswordProvider, Refused, Unreachable
from accounts.providers.options import Entry, catalogue

log = logging.getLogger(__name__)


async def password_provider(name: str) -> Entry | None:
    entry = (await catalogue()).entries.get(name)
    return entry if entry is not None and isinstance(entry.provider, PasswordProvider) else None


@guarded
async def sign_in_through(
    request: HttpRequest, name: str, username: str, password: str, next_url: str
) -> HttpResponse:
    """`next_url` is safe. A provider that there is not is one that knows nobody."""
    entry = await password_provider(name)
    shown = username if username.isprintable() and len(username) <= MAX_NAME else ""
    if entry is None or not isinstance(entry.provider, PasswordProvider):
        return login_page(request, LoginForm(shown, _("Wrong name or password."), next_url), 401)
    try:
        person = await entry.provider.check(username, password[: MAX_PASSWORD + 1])
    except Unreachable as error:
        log.error("Identity provider %s: %s", entry.name, error)
        return await refuse(request, entry, 503, error.reason, next_url=next_url, username=shown)
    except Refused as error:
        return await refuse(request, entry, 401, error.reason, next_url=next_url, username=shown)
    return await welcome(request, entry, person, next_url)
