"""Time-based codes as every authenticator app makes them: SHA-1, six digits, 30 seconds (RFC 6238)."""

import base64
import hmac
import secrets
from datetime import datetime

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

DIGITS, SECONDS = 6, 30
#: As long as the hash, RFC 4226, section 4.
SECRET_BYTES = 20
#: Clocks may differ by one step in either direction, RFC 6238, section 5.2.
_DRIFT = (0, -1, 1)


def new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def step_of(secret: bytes, code: str, now: datetime) -> int | None:
    """The step that `code` is of, or None if it is of none about now. Takes the same time for each."""
    present, totp = int(now.timestamp()) // SECONDS, _totp(secret)
    found = None
    for drift in _DRIFT:
        if hmac.compare_digest(totp.generate((present + drift) * SECONDS), code.encode()):
            found = present + drift
    return found


def written(secret: bytes) -> str:
    """For whoever types it: base32 in groups of four."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def qr_code(secret: bytes, user: str, issuer: str) -> str:
    """What apps scan, as a `data:` address of an SVG. Dark on white in every theme: cameras need it."""
    address = _totp(secret).get_provisioning_uri(user, issuer)
    return segno.make(address, micro=False, error="m").svg_data_uri(scale=4, light="#fff")


def _totp(secret: bytes) -> TOTP:
    # The algorithm that apps have; HMAC does not need what SHA-1 has lost.
    return TOTP(secret, DIGITS, SHA1(), SECONDS)  # noqa: S303
