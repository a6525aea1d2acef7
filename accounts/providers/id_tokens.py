"""Tokens that an OpenID provider signs: who signed in, and who is to be signed out.

https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError

from accounts.providers import base
from accounts.providers.base import Ended, Refused
from accounts.providers.discovery import ALGORITHMS, Discovery

MAX_TOKEN = 16 * 1024
#: How far the provider's clock may be ahead of ours, and behind.
SKEW = timedelta(seconds=60)
#: A logout token is for now.
LOGOUT_AGE = timedelta(minutes=2)
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_TYPE = "logout+jwt"
MAX_SUBJECT = 255

_EVERY = frozenset[str]().union(*ALGORITHMS.values())
#: Anything else in a header asks for something that nobody here does.
_HEADER = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})

Claims = dict[str, Any]


async def read_id_token(
    token: str, discovery: Discovery, issuer: str, client: str, nonce: str
) -> Claims:
    """The claims of an id token that answers `nonce`. Raises `ProviderError`."""
    header, claims = await _verified(token, discovery)
    if str(header.get("typ", "JWT")).lower() == LOGOUT_TYPE:
        raise Refused("WrongType", "the token is not an id token")
    _check(claims, issuer, client)
    if not nonce or claims.get("nonce") != nonce:
        raise Refused("WrongNonce", "the id token answers another question")
    if not _subject(claims):
        raise Refused("NoSubject", "the id token names nobody")
    return claims


async def read_logout_token(token: str, discovery: Discovery, issuer: str, client: str) -> Ended:
    """Raises `ProviderError`."""
    header, claims = await _verified(token, discovery)
    if str(header.get("typ", "")).lower() != LOGOUT_TYPE:
        raise Refused("WrongType", "the token is not a logout token")
    _check(claims, issuer, client)
    if _now() - claims["iat"] > (LOGOUT_AGE + SKEW).total_seconds():
        raise Refused("TooOld", "the logout token is too old")
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise Refused("WrongEvent", "the token is not about a logout")
    if "nonce" in claims:
        raise Refused("WrongType", "a logout token has no nonce")
    sid, number = claims.get("sid", ""), claims.get("jti")
    if not isinstance(number, str) or not 0 < len(number) <= MAX_SUBJECT:
        raise Refused("NoNumber", "the logout token has no number")
    if not isinstance(sid, str) or len(sid) > MAX_SUBJECT or not (sid or _subject(claims)):
        raise Refused("NoSubject", "the logout token names nobody")
    return Ended(_subject(claims), sid, number)


async def _verified(token: str, discovery: Discovery) -> tuple[Mapping[str, Any], Claims]:
    """Header and claims. The header chooses one of the provider's keys, and nothing else."""
    if len(token) > MAX_TOKEN or not token.isascii():
        raise Refused("NotAToken", "the token is too long or no token")
    try:
        found = jws.extract_compact(token.encode())
        header = found.headers()
        algorithm, kid = str(header.get("alg")), str(header.get("kid", ""))
        if algorithm not in _EVERY or not _HEADER.issuperset(header):
            raise Refused("WrongAlgorithm", "the token is signed in a way that is not accepted")
        key = await discovery.key(kid, algorithm)
        if key is None or not jws.validate_compact(found, key, [algorithm]):
            raise Refused("WrongSignature", "the token is not signed by the provider")
        claims = json.loads(found.payload)
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Refused("NotAToken", "the token cannot be read") from error
    if not isinstance(claims, dict):
        raise Refused("NotAToken", "the token has no claims")
    return header, claims


def _check(claims: Claims, issuer: str, client: str) -> None:
    """Who says so, to whom, and when. Raises `Refused`."""
    right = jwt.JWTClaimsRegistry(
        now=_now(),
        leeway=int(SKEW.total_seconds()),
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client},
        iat={"essential": True},
        exp={"essential": True},
    )
    try:
        right.validate(claims)
    except JoseError as error:
        raise Refused("WrongClaims", str(error)) from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", client) != client or (several and "azp" not in claims):
        raise Refused("WrongAudience", "the token was given to another application")


def _now() -> int:
    """Not a float: a claim can be a number that is too large for one."""
    return int(base.clock.now().timestamp())


def _subject(claims: Claims) -> str:
    found = claims.get("sub", "")
    return found if isinstance(found, str) and len(found) <= MAX_SUBJECT else ""
