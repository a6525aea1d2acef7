"""`POST /oauth/token`: exchange a password, code or refresh token for tokens."""

import re

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse

from accounts.jose import challenge_of
from accounts.oauth import clients, endpoint, grants
from accounts.oauth.clients import CODE, PASSWORD, REFRESH, Client
from accounts.oauth.endpoint import Fields, client_of, form_of, required
from accounts.oauth.errors import (
    OAuthError,
    invalid_grant,
    invalid_request,
    json_response,
    too_many,
)
from accounts.oauth.grants import Issued, RejectedGrant
from accounts.oauth.holders import holder_of
from accounts.signin.authenticate import MAX_NAME, NO_CODE, NOT_SET_UP, WRONG_CODE, authenticate
from accounts.time import now
from accounts.users.directory import find_user, trusted_users
from console.audit.trail import record_session

#: Grant types by request parameter. `code` is KubeSphere's name for the authorization code grant.
GRANTS = {PASSWORD: PASSWORD, REFRESH: REFRESH, CODE: CODE, "code": CODE}

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_WRONG_PASSWORD = "Wrong username or password."  # noqa: S105
#: Errors after a correct password, by the reason that `authenticate` returns. The error code
#: `mfa_required` is Auth0's.
_FACTORS = {
    NO_CODE: (
        "mfa_required",
        "The code of the user's second factor is missing (parameter totp).",
    ),
    NOT_SET_UP: (
        "mfa_required",
        "A second factor is required. The user must set it up in the console.",
    ),
    WRONG_CODE: ("invalid_grant", "The code of the second factor is wrong or was already used."),
}
_WRONG_TOKEN = "The token or code is unknown, already used, expired or revoked."  # noqa: S105


@endpoint.endpoint("POST")
async def token(request: HttpRequest) -> HttpResponse:
    fields = form_of(request)
    client = await _client(request, fields)
    grant = GRANTS.get(required(fields, "grant_type"))
    if grant is None:
        raise OAuthError("unsupported_grant_type", "Unsupported grant type.")
    if grant not in client.grants:
        raise OAuthError("unauthorized_client", "The client may not use this grant type.")
    issued = await {PASSWORD: _password, REFRESH: _refresh, CODE: _code}[grant](
        request, client, fields
    )
    return json_response(issued.body())


async def _client(request: HttpRequest, fields: Fields) -> Client:
    """Authenticate the client. A wrong secret is recorded in the audit trail, like a failed
    sign-in.
    """
    try:
        return client_of(request, fields)
    except OAuthError as error:
        if error.error == "invalid_client":
            async with record_session(request, "login", "token", actor="") as entry:
                entry.set_outcome(401, "InvalidClient")
        raise


async def _password(request: HttpRequest, client: Client, fields: Fields) -> Issued:
    username, password = required(fields, "username"), required(fields, "password")
    scope = clients.granted_scopes(fields.get("scope", ""), client)
    # Read the user before checking the password. If the password changes in between, the issued
    # tokens are invalid.
    entry = find_user(trusted_users(), username) if len(username) <= MAX_NAME else None
    before = holder_of(entry) if entry is not None else None
    attempt = await authenticate(request, username, password, code=fields.get("totp", ""))
    async with record_session(
        request, "login", "token", name=client.name, actor=attempt.name
    ) as recording:
        if attempt.user is None or before is None or before.user.uid != attempt.user.uid:
            code = 400 if attempt.wait is None else 429
            recording.set_outcome(code, attempt.reason or "UserEnded")
            issued = None
        else:
            issued = await sync_to_async(grants.sign_in)(before, client, scope, now())
    if attempt.wait is not None:
        raise too_many(attempt.wait)
    if issued is None:
        raise OAuthError(*_FACTORS.get(attempt.reason, ("invalid_grant", _WRONG_PASSWORD)))
    return issued


async def _refresh(request: HttpRequest, client: Client, fields: Fields) -> Issued:
    given = required(fields, "refresh_token")
    grant = await sync_to_async(grants.grant_of_refresh)(given, client)
    if grant is None:
        raise invalid_grant(_WRONG_TOKEN)
    scope = clients.narrowed_scopes(fields.get("scope", ""), grant.scope)
    async with record_session(
        request, "refresh", "token", name=client.name, actor=grant.user
    ) as entry:
        found = await sync_to_async(grants.use_refresh)(given, client, scope, now())
        if isinstance(found, RejectedGrant):
            entry.set_outcome(400, found.reason)
    return _issued(found)


async def _code(request: HttpRequest, client: Client, fields: Fields) -> Issued:
    code, redirect_uri = required(fields, "code"), required(fields, "redirect_uri")
    challenge = _challenge(fields.get("code_verifier", ""))
    if client.is_public and not challenge:
        raise invalid_request("code_verifier is missing.")
    user = await sync_to_async(grants.user_of_code)(code, client)
    async with record_session(request, "login", "token", name=client.name, actor=user) as entry:
        found = await sync_to_async(grants.use_code)(code, client, redirect_uri, challenge, now())
        if isinstance(found, RejectedGrant):
            entry.set_outcome(400, found.reason)
    return _issued(found)


def _challenge(verifier: str) -> str:
    """Return the S256 challenge of a verifier, or "" without one. Raise `OAuthError`."""
    if not verifier:
        return ""
    if not _VERIFIER.fullmatch(verifier):
        raise invalid_grant("The code verifier is malformed.")
    return challenge_of(verifier)


def _issued(found: Issued | RejectedGrant) -> Issued:
    if isinstance(found, RejectedGrant):
        raise invalid_grant(_WRONG_TOKEN)
    return found
