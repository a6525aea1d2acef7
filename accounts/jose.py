"""What the token service and the clients of identity providers both do: read what is signed, and PKCE."""

import base64
import hashlib
import json
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

#: What reading a token raises that is none, or not one for this key.
UNREADABLE = (JoseError, ValueError, TypeError, AttributeError, RecursionError)


def claims_of(
    found: jws.CompactSignature, key: Key | None, algorithm: str
) -> dict[str, Any] | None:
    """None if the signature is not one of this key and algorithm. Raises some of `UNREADABLE`."""
    if key is None or not jws.validate_compact(found, key, [algorithm]):
        return None
    claims = json.loads(found.payload)
    if not isinstance(claims, dict):
        raise ValueError("the token has no claims")
    return claims


def challenge_of(verifier: str) -> str:
    """S256 (RFC 7636, section 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
