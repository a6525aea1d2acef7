"""TOTP codes as authenticator apps generate them: SHA-1, six digits, 30 seconds (RFC 6238)."""

import base64
import hmac
import secrets
from datetime import datetime

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

DIGITS, SECONDS = 6, 30
#: Length of the hash, as recommended by RFC 4226, section 4.
SECRET_BYTES = 20
#: Accepted clock difference in time steps (RFC 6238, section 5.2).
_DRIFT = (0, -1, 1)


def new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def matching_step(secret: bytes, code: str, now: datetime) -> int | None:
    """Return the time step of `code`, or None if it doesn't match a current step. Runs in constant
    time.
    """
    present, totp = int(now.timestamp()) // SECONDS, _totp(secret)
    found = None
    for drift in _DRIFT:
        if hmac.compare_digest(totp.generate((present + drift) * SECONDS), code.encode()):
            found = present + drift
    return found


def manual_entry_text(secret: bytes) -> str:
    """Return the secret for manual entry: base32 in groups of four characters."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def qr_code(secret: bytes, user: str, issuer: str) -> str:
    """Return the QR code as a `data:` URL of an SVG. Always dark on white, because cameras require
    it.
    """
    address = _totp(secret).get_provisioning_uri(user, issuer)
    return segno.make(address, micro=False, error="m").svg_data_uri(scale=4, light="#fff")


def _totp(secret: bytes) -> TOTP:
    # Authenticator apps support only SHA-1. HMAC doesn't depend on SHA-1's collision resistance.
    return TOTP(secret, DIGITS, SHA1(), SECONDS)  # noqa: S303
