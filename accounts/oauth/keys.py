"""Token signing keys, stored in the database shared by all replicas.

Access tokens and ID tokens use separate key pairs, each with one algorithm, so one kind can't be
used as the other. Private keys are encrypted with a key derived from `SECRET_KEY`, so read
access to the database is not sufficient to sign tokens. After a change of `SECRET_KEY`, a new
pair is created for the next token, and existing tokens remain valid.

A pair is used for `ROTATE_AFTER` or until `rotate` is called. It stays published until the last
token signed with it has expired.
"""

import logging
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Q
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from accounts.jose import UNREADABLE, claims_of
from accounts.models import SigningKey
from accounts.oauth.options import options
from console.encryption import decrypt, encrypt

log = logging.getLogger(__name__)

ACCESS, IDENTITY = "access", "id"
ALGORITHMS = {ACCESS: "ES256", IDENTITY: "RS256"}
ROTATE_AFTER = timedelta(days=90)
#: Allowance for replicas that sign with the key concurrently and for clock differences.
SLACK = timedelta(minutes=1)
SHORTEST_OVERLAP = timedelta(hours=2)

_SEALED = "signing keys"

Key = ECKey | RSAKey
#: JWT header `typ` by kind of token (RFC 9068 for access tokens).
TYPES = {ACCESS: "at+jwt", IDENTITY: "JWT"}
MAX_LENGTH = 4096
#: Maximum time by which a token's issue time may be in the future, because replica clocks differ.
SKEW = timedelta(seconds=10)

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_KID = re.compile(r"[A-Za-z0-9_-]{43}")


def signing_key(purpose: str, now: datetime) -> Key:
    """Return the current private key. Create one if there is no usable key."""
    for row in _active(purpose).order_by("-created"):
        try:
            key = _unsealed(row.private, purpose, str(settings.SECRET_KEY))
        except (JoseError, ValueError):
            log.warning("Key %s was encrypted with a different SECRET_KEY", row.kid)
            continue
        return key if now - row.created < ROTATE_AFTER else rotate(purpose, now)
    return _make(purpose, now)


def rotate(purpose: str, now: datetime) -> Key:
    """Create a new key and retire the current one."""
    key = _make(purpose, now)
    until = now + max(options().longest_token, SHORTEST_OVERLAP) + SLACK
    _active(purpose).exclude(kid=key.thumbprint()).update(retired=now, expires=until)
    return key


def remove(kid: str) -> bool:
    """Delete a key, which invalidates its access tokens. Return False if the key doesn't exist."""
    return SigningKey.objects.filter(kid=kid).delete()[0] > 0


def discard_expired(now: datetime) -> None:
    SigningKey.objects.filter(expires__lte=now).delete()


def _make(purpose: str, now: datetime) -> Key:
    key = _generate(purpose)
    public = key.as_dict(private=False)
    sealed = encrypt(key.as_pem(private=True), _SEALED)
    SigningKey.objects.create(
        kid=key.thumbprint(), purpose=purpose, public=public, private=sealed, created=now
    )
    return key


def verifying_key(kid: str, purpose: str, now: datetime) -> Key | None:
    """Return the public key with this ID and purpose, or None if it doesn't exist or has expired."""
    row = _known(now).filter(kid=kid, purpose=purpose).first()
    return None if row is None else _key_type(purpose).import_key(row.public)


def published(now: datetime) -> list[dict[str, Any]]:
    """Return the public keys for the JWK Set, newest first."""
    return [row.public for row in _known(now).order_by("-created")]


def _active(purpose: str) -> Any:
    return SigningKey.objects.filter(purpose=purpose, retired=None)


def _known(now: datetime) -> Any:
    return SigningKey.objects.filter(Q(expires=None) | Q(expires__gt=now))


def _generate(purpose: str) -> Key:
    about: Any = {"use": "sig", "alg": ALGORITHMS[purpose]}
    if purpose == ACCESS:
        return ECKey.generate_key("P-256", about, auto_kid=True)
    return RSAKey.generate_key(2048, about, auto_kid=True)


def _key_type(purpose: str) -> type[Key]:
    return ECKey if purpose == ACCESS else RSAKey


@lru_cache(maxsize=16)
def _unsealed(sealed: str, purpose: str, secret: str) -> Key:
    """Decrypt a private key. Raise JoseError or ValueError if it was encrypted with another secret."""
    pem = decrypt(sealed, _SEALED, secret)
    about: Any = {"use": "sig", "alg": ALGORITHMS[purpose]}
    found = _key_type(purpose).import_key(pem, about)
    found.ensure_kid()
    return found


# Signing, and verification of signatures.


class InvalidToken(Exception):
    """The token was not issued here, is of another kind, or has expired."""


def sign(purpose: str, claims: Mapping[str, Any], key: Key) -> str:
    header = {"alg": ALGORITHMS[purpose], "typ": TYPES[purpose], "kid": key.kid}
    return jwt.encode(header, dict(claims), key, algorithms=[ALGORITHMS[purpose]])


def verify_access(token: str, issuer: str, now: datetime) -> dict[str, Any]:
    """Verify signature, type, issuer, audience and lifetime of an access token and return its
    claims.

    Revocation is not checked. The header must contain exactly the three members that `sign`
    writes, so it can only select one of the service's own keys. Raise `InvalidToken`.
    """
    claims = _verified(token, now)
    if claims.get("iss") != issuer or claims.get("aud") != [issuer]:
        raise InvalidToken
    if claims.get("token_type") != "access_token" or not isinstance(claims.get("jti"), str):
        raise InvalidToken
    issued, expires = claims.get("iat"), claims.get("exp")
    if type(issued) is not int or type(expires) is not int:
        raise InvalidToken
    if expires <= now.timestamp() or issued > (now + SKEW).timestamp():
        raise InvalidToken
    return claims


def _verified(token: str, now: datetime) -> dict[str, Any]:
    algorithm = ALGORITHMS[ACCESS]
    if len(token) > MAX_LENGTH or not _COMPACT.fullmatch(token):
        raise InvalidToken
    try:
        found = jws.extract_compact(token.encode())
        header = found.headers()
        kid = str(header.get("kid"))
        if header != {"alg": algorithm, "typ": TYPES[ACCESS], "kid": kid}:
            raise InvalidToken
        key = verifying_key(kid, ACCESS, now) if _KID.fullmatch(kid) else None
        claims = claims_of(found, key, algorithm)
    except UNREADABLE as error:
        raise InvalidToken from error
    if claims is None:
        raise InvalidToken
    return claims
