"""Parameters of `/oauth/authorize`, and the redirect back to the client.

The client and its redirect URI are validated first, with an exact match; the browser is not
redirected until both are valid. All later errors are sent to the client, with its state (RFC
6749, section 4.1.2.1) and the issuer (RFC 9207).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from accounts.oauth import clients
from accounts.oauth.clients import CODE, DENY, Client
from accounts.oauth.errors import OAuthError, invalid_request
from accounts.oauth.grants import CodeParameters
from accounts.oauth.options import options

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_STATE = re.compile(r"[ -~]{1,512}")
_NONCE = re.compile(r"[!-~]{1,256}")
PROMPTS = frozenset({"none", "login", "consent", "select_account"})


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """Authorization request with a valid client and redirect URI. `state` is "" if missing."""

    client: Client
    redirect_uri: str
    state: str


@dataclass(frozen=True, slots=True)
class CodeRequest:
    terms: CodeParameters
    #: From the parameter `prompt` (OpenID Connect Core, section 3.1.2.1).
    silent: bool
    asks_consent: bool
    max_age: int | None


def read_authorization_request(fields: Mapping[str, str]) -> AuthorizationRequest:
    """Validate client and redirect URI. Raise `OAuthError`, which must not be sent to the redirect
    URI.
    """
    client = options().clients.get(fields.get("client_id", ""))
    if client is None:
        raise invalid_request("Unknown client.")
    redirect_uri = fields.get("redirect_uri", "")
    if redirect_uri not in client.redirect_uris:
        raise invalid_request("The redirect URI is not registered for this client.")
    state = fields.get("state", "")
    if state and not _STATE.fullmatch(state):
        raise invalid_request("The state is too long or contains invalid characters.")
    return AuthorizationRequest(client, redirect_uri, state)


def read_code_request(asked: AuthorizationRequest, fields: Mapping[str, str]) -> CodeRequest:
    """Validate the other parameters. Raise `OAuthError`, which is sent to the redirect URI."""
    if {"request", "request_uri"} & fields.keys():
        raise OAuthError("request_not_supported", "Request objects are not supported.")
    if fields.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "Only the response type code is supported.")
    if fields.get("response_mode", "query") != "query":
        raise invalid_request("Only the response mode query is supported.")
    if CODE not in asked.client.grants:
        raise OAuthError(
            "unauthorized_client", "The client may not use the authorization code grant."
        )
    if asked.client.consent == DENY:
        raise OAuthError("access_denied", "The client may not get tokens of users.")
    prompts = set(fields.get("prompt", "").split())
    if not prompts <= PROMPTS or ("none" in prompts and len(prompts) > 1):
        raise invalid_request("The prompt is invalid.")
    if "login" in prompts:
        raise OAuthError("login_required", "Reauthentication (prompt=login) is not supported.")
    terms = CodeParameters(
        redirect_uri=asked.redirect_uri,
        scope=clients.granted_scopes(fields.get("scope", ""), asked.client),
        challenge=_challenge(asked.client, fields),
        nonce=_nonce(fields),
    )
    return CodeRequest(terms, "none" in prompts, "consent" in prompts, _max_age(fields))


def redirect_location(asked: AuthorizationRequest, **parameters: str) -> str:
    """Return the redirect URI with these parameters, state and issuer."""
    every = {"state": asked.state} if asked.state else {}
    query = {**parameters, **every, "iss": options().issuer}
    return clients.with_query(asked.redirect_uri, query)


def _challenge(client: Client, fields: Mapping[str, str]) -> str:
    """Return the S256 code challenge, or "". Raise `OAuthError`.

    The method `plain`, which is the default if no method is given, is rejected because it
    provides no protection.
    """
    challenge = fields.get("code_challenge", "")
    if not challenge:
        if client.is_public or "code_challenge_method" in fields:
            raise invalid_request("code_challenge is missing.")
        return ""
    if fields.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
        raise invalid_request("The code challenge method must be S256.")
    return challenge


def _nonce(fields: Mapping[str, str]) -> str:
    nonce = fields.get("nonce", "")
    if nonce and not _NONCE.fullmatch(nonce):
        raise invalid_request("The nonce is too long or contains invalid characters.")
    return nonce


def _max_age(fields: Mapping[str, str]) -> int | None:
    text = fields.get("max_age")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise invalid_request("max_age must be a number of seconds.")
    return int(text)
