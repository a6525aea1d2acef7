"""`POST /oauth/backchannel/{provider}`: a provider says that somebody logged out there.

https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest
"""

import logging

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse

from accounts.federation.signout import end_sessions
from accounts.oauth import endpoint
from accounts.oauth.errors import answer, invalid_request, unavailable
from accounts.oauth.fields import form_of, required
from accounts.providers import base
from accounts.providers.base import LogoutProvider, ProviderError, Unreachable
from accounts.providers.options import catalogue
from console.audit.trail import SESSIONS, record, request_action

log = logging.getLogger(__name__)


@endpoint.endpoint("POST")
async def backchannel(request: HttpRequest, name: str) -> HttpResponse:
    entry = (await catalogue()).entries.get(name)
    token = required(form_of(request), "logout_token")
    if entry is None or not isinstance(entry.provider, LogoutProvider):
        raise invalid_request("There is no such provider.")
    try:
        ended = await entry.provider.ended(token)
    except Unreachable as error:
        log.error("Identity provider %s: %s", entry.name, error)
        raise unavailable("The provider's keys cannot be read.") from error
    except ProviderError as error:
        log.warning("%s: a logout token was refused: %s", entry.name, error)
        raise invalid_request("The logout token is not valid.") from error
    action = request_action(request, "logout", SESSIONS, subresource=entry.name, actor="")
    async with record(action) as recording:
        users = await sync_to_async(end_sessions)(entry.name, ended, base.clock.now())
        if users is None:
            recording.answered(400, "TokenReused")
            raise invalid_request("The logout token was used before.")
        recording.answered(200, "ProviderLogout", ", ".join(users))
    return answer({})
