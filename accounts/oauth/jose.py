"""Signing, and the one place where a signature is checked."""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError

from accounts.oauth import keys

#: The `typ` of each kind of token (RFC 9068 for access tokens).
TYPES = {keys.ACCESS: "at+jwt", keys.IDENTITY: "JWT"}
MAX_LENGTH = 4096
#: How far in the future a token may have been issued: clocks of replicas differ.
SKEW = timedelta(seconds=10)

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_KID = re.compile(r"[A-Za-z0-9_-]{43}")


class NotValid(Exception):
    """Not a token that was issued here, or not one of this kind, or not any more."""


def sign(purpose: str, claims: Mapping[str, Any], key: keys.Key) -> str:
    header = {"alg": keys.ALGORITHMS[purpose], "typ": TYPES[purpose], "kid": key.kid}
    return jwt.encode(header, dict(claims), key, algorithms=[keys.ALGORITHMS[purpose]])


def verify_access(token: str, issuer: str, now: datetime) -> dict[str, Any]:
    """The claims of an access token: the right signature, kind, issuer, audience and time.

    Says nothing of revocation. The header chooses nothing but one of our own keys: it must have the
    three members that we write, with the values that we write. Raises `NotValid`.
    """
    claims = _verified(token, now)
    if claims.get("iss") != issuer or claims.get("aud") != [issuer]:
        raise NotValid
    if claims.get("token_type") != "access_token" or not isinstance(claims.get("jti"), str):
        raise NotValid
    issued, expires = claims.get("iat"), claims.get("exp")
    if type(issued) is not int or type(expires) is not int:
        raise NotValid
    if expires <= now.timestamp() or issued > (now + SKEW).timestamp():
        raise NotValid
    return claims


def _verified(token: str, now: datetime) -> dict[str, Any]:
    algorithm = keys.ALGORITHMS[keys.ACCESS]
    if len(token) > MAX_LENGTH or not _COMPACT.fullmatch(token):
        raise NotValid
    try:
        found = jws.extract_compact(token.encode())
        header = found.headers()
        kid = str(header.get("kid"))
        if header != {"alg": algorithm, "typ": TYPES[keys.ACCESS], "kid": kid}:
            raise NotValid
        key = keys.verifying_key(kid, keys.ACCESS, now) if _KID.fullmatch(kid) else None
        if key is None or not jws.validate_compact(found, key, [algorithm]):
            raise NotValid
        claims = json.loads(found.payload)
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise NotValid from error
    if not isinstance(claims, dict):
        raise NotValid
    return claims
