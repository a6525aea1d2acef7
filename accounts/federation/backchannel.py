"""Logout notifications from identity providers.

OpenID Connect: `POST /oauth/backchannel/{provider}` with a signed token,
https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest

CAS: a form posted to the callback URL, see `accounts.providers.kinds.cas`.
"""

import logging

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse

from accounts.federation.signout import end_sessions, has_sessions
from accounts.oauth import endpoint
from accounts.oauth.endpoint import FORM, body_of, form_of, parse, required
from accounts.oauth.errors import invalid_request, json_response, unavailable
from accounts.protection.revocation import notify_replicas
from accounts.providers.base import (
    CallbackLogoutProvider,
    EndedSessions,
    LogoutProvider,
    ProviderError,
    Unreachable,
)
from accounts.providers.options import read_current_providers
from accounts.time import now
from console.audit.trail import record_session
from console.kube.host_runtime import get_runtime

log = logging.getLogger(__name__)


@endpoint.endpoint("POST")
async def backchannel(request: HttpRequest, name: str) -> HttpResponse:
    entry = (await read_current_providers()).entries.get(name)
    token = required(form_of(request), "logout_token")
    if entry is None or not isinstance(entry.provider, LogoutProvider):
        raise invalid_request("Unknown identity provider.")
    try:
        ended = await entry.provider.ended(token)
    except Unreachable as error:
        log.error("Identity provider %s: %s", entry.name, error)
        raise unavailable("The provider's keys could not be fetched.") from error
    except ProviderError as error:
        log.warning("%s: logout token rejected: %s", entry.name, error)
        raise invalid_request("The logout token is not valid.") from error
    return await _end(request, entry.name, ended)


@endpoint.endpoint("POST")
async def callback_logout(request: HttpRequest, name: str) -> HttpResponse:
    """Process a logout form at the callback URL.

    Anyone can send this request, so the response doesn't reveal whether a session ended, and a
    request that ends no session is not audited.
    """
    entry = (await read_current_providers()).entries.get(name)
    if request.content_type != FORM:
        raise invalid_request(f"The body must be {FORM}.")
    form = parse(body_of(request))
    if entry is None or not isinstance(entry.provider, CallbackLogoutProvider):
        raise invalid_request("Unknown identity provider.")
    try:
        ended = entry.provider.ended_by(form)
    except ProviderError as error:
        raise invalid_request("The form is not a LogoutRequest.") from error
    if not await sync_to_async(has_sessions)(name, ended, now()):
        return json_response({})
    return await _end(request, entry.name, ended)


async def _end(request: HttpRequest, name: str, ended: EndedSessions) -> HttpResponse:
    async with record_session(request, "logout", name, actor="") as recording:
        users = await sync_to_async(end_sessions)(name, ended, now())
        if users is None:
            recording.set_outcome(400, "TokenReused")
            raise invalid_request("The logout token was already used.")
        recording.set_outcome(200, "ProviderLogout", ", ".join(users))
    for user in users:
        await notify_replicas(get_runtime().console, user, now())
    return json_response({})
