"""Secrets at rest: encrypted with a key made of `SECRET_KEY`, another one for each purpose.

Whoever reads only the database learns nothing. What was sealed with another `SECRET_KEY` stays closed.
"""

from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwe import JWERegistry
from joserfc.jwk import OctKey

_HEADER = {"alg": "dir", "enc": "A256GCM"}
_ALLOWED = ["dir", "A256GCM"]


class _Registry(JWERegistry):
    """What was sealed is opened, however long it is: the library takes 64 KB, as from anybody."""

    max_ciphertext_length = 2**30


_REGISTRY = _Registry(algorithms=_ALLOWED)


class NotOurs(ValueError):
    """Sealed with another `SECRET_KEY`, for another purpose, or not at all."""


def seal(content: bytes, purpose: str) -> str:
    key = _key(purpose, str(settings.SECRET_KEY))
    return jwe.encrypt_compact(_HEADER, content, key, registry=_REGISTRY)


def unseal(sealed: str, purpose: str, secret: str = "") -> bytes:
    """`secret`: what it was sealed with, `SECRET_KEY` by default. Raises `NotOurs`."""
    key = _key(purpose, secret or str(settings.SECRET_KEY))
    try:
        return jwe.decrypt_compact(sealed, key, registry=_REGISTRY).plaintext or b""
    except (JoseError, ValueError) as error:
        raise NotOurs from error


@lru_cache(maxsize=16)
def _key(purpose: str, secret: str) -> OctKey:
    info = f"quarterdeck: {purpose} at rest".encode()
    return OctKey.import_key(HKDF(SHA256(), 32, salt=None, info=info).derive(secret.encode()))
