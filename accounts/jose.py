"""JOSE helpers shared by the token service and the identity provider clients: signed claims and
PKCE.
"""

import base64
import hashlib
import json
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

#: Errors raised for a malformed token, or for a token that doesn't match the key.
UNREADABLE = (JoseError, ValueError, TypeError, AttributeError, RecursionError)


def claims_of(
    found: jws.CompactSignature, key: Key | None, algorithm: str
) -> dict[str, Any] | None:
    """Return the token's claims, or None if the signature doesn't match this key and algorithm.

    Raise one of `UNREADABLE`.
    """
    if key is None or not jws.validate_compact(found, key, [algorithm]):
        return None
    claims = json.loads(found.payload)
    if not isinstance(claims, dict):
        raise ValueError("the token's payload is not a JSON object")
    return claims


def challenge_of(verifier: str) -> str:
    """Return the S256 code challenge for a PKCE verifier (RFC 7636, section 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
