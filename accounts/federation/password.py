"""Logging in with a name and a password that a provider checks. The door is the login form."""

import logging

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.authenticate import MAX_NAME, MAX_PASSWORD
from accounts.federation.entering import welcome
from accounts.federation.guarding import guarded
from accounts.federation.refusing import refuse
from accounts.login_page import LoginForm, locked_page, login_page
from accounts.oauth.options import options
from accounts.protection import attempts
from accounts.protection.origins import origin_of
from accounts.providers.base import PasswordProvider, Refused, Unreachable
from accounts.providers.options import Entry, catalogue
from accounts.time import now

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
    ticket = await sync_to_async(attempts.begin)(
        f"{entry.name}/{username}", origin_of(request).network, options().limits, now()
    )
    if ticket.wait is not None:
        return locked_page(request, LoginForm(shown, next=next_url, provider=name), ticket.wait)
    try:
        person = await entry.provider.check(username, password[: MAX_PASSWORD + 1])
    except Unreachable as error:
        await sync_to_async(attempts.cancelled)(ticket)
        log.error("Identity provider %s: %s", entry.name, error)
        return await refuse(request, entry, 503, error.reason, next_url=next_url, username=shown)
    except Refused as error:
        return await refuse(request, entry, 401, error.reason, next_url=next_url, username=shown)
    await sync_to_async(attempts.succeeded)(ticket)
    return await welcome(request, entry, person, next_url)
