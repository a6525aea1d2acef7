"""What `/oauth/authorize` is asked for, and how its answer is sent back.

First the client and its redirect URI, compared as a whole: as long as they are in doubt, nobody is sent
anywhere. After that every refusal goes to the client, with its state (RFC 6749, section 4.1.2.1) and with
our name (RFC 9207).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from accounts.oauth import clients
from accounts.oauth.clients import CODE, DENY, Client
from accounts.oauth.errors import OAuthError, invalid_request
from accounts.oauth.options import options
from accounts.oauth.register import Terms

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_STATE = re.compile(r"[ -~]{1,512}")
_NONCE = re.compile(r"[!-~]{1,256}")
PROMPTS = frozenset({"none", "login", "consent", "select_account"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose client and redirect URI are right. `state` is "" if there is none."""

    client: Client
    redirect_uri: str
    state: str


@dataclass(frozen=True, slots=True)
class CodeRequest:
    terms: Terms
    #: `prompt` of OpenID Connect Core, section 3.1.2.1.
    silent: bool
    asks_consent: bool
    max_age: int | None


def read_asked(fields: Mapping[str, str]) -> Asked:
    """Raises `OAuthError`, which must not go to the redirect URI."""
    client = options().clients.get(fields.get("client_id", ""))
    if client is None:
        raise invalid_request("There is no such client.")
    redirect_uri = fields.get("redirect_uri", "")
    if redirect_uri not in client.redirect_uris:
        raise invalid_request("The redirect URI is not one of the client's.")
    state = fields.get("state", "")
    if state and not _STATE.fullmatch(state):
        raise invalid_request("The state cannot be sent back.")
    return Asked(client, redirect_uri, state)


def read_wanted(asked: Asked, fields: Mapping[str, str]) -> CodeRequest:
    """Raises `OAuthError`, which goes to the redirect URI."""
    if {"request", "request_uri"} & fields.keys():
        raise OAuthError("request_not_supported", "Requests as objects are not supported.")
    if fields.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "There is the response type code alone.")
    if fields.get("response_mode", "query") != "query":
        raise invalid_request("There is the response mode query alone.")
    if CODE not in asked.client.grants:
        raise OAuthError("unauthorized_client", "The client may not ask for codes.")
    if asked.client.consent == DENY:
        raise OAuthError("access_denied", "The client gets no tokens of people.")
    prompts = set(fields.get("prompt", "").split())
    if not prompts <= PROMPTS or ("none" in prompts and len(prompts) > 1):
        raise invalid_request("The prompt cannot be understood.")
    if "login" in prompts:
        raise OAuthError("login_required", "Nobody is asked for the password a second time here.")
    terms = Terms(
        redirect_uri=asked.redirect_uri,
        scope=clients.granted(fields.get("scope", ""), asked.client),
        challenge=_challenge(asked.client, fields),
        nonce=_nonce(fields),
    )
    return CodeRequest(terms, "none" in prompts, "consent" in prompts, _max_age(fields))


def location(asked: Asked, **parameters: str) -> str:
    """The redirect URI with these parameters, and what belongs to every answer."""
    every = {"state": asked.state} if asked.state else {}
    query = urlencode({**parameters, **every, "iss": options().issuer})
    return f"{asked.redirect_uri}{'&' if '?' in asked.redirect_uri else '?'}{query}"


def _challenge(client: Client, fields: Mapping[str, str]) -> str:
    """Raises `OAuthError`. `plain`, which is also what no method means, would protect nothing."""
    challenge = fields.get("code_challenge", "")
    if not challenge:
        if client.is_public or "code_challenge_method" in fields:
            raise invalid_request("code_challenge is missing.")
        return ""
    if fields.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
        raise invalid_request("The code challenge must be of the method S256.")
    return challenge


def _nonce(fields: Mapping[str, str]) -> str:
    nonce = fields.get("nonce", "")
    if nonce and not _NONCE.fullmatch(nonce):
        raise invalid_request("The nonce cannot be sent back.")
    return nonce


def _max_age(fields: Mapping[str, str]) -> int | None:
    text = fields.get("max_age")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise invalid_request("max_age is a number of seconds.")
    return int(text)
