"""Encryption of secrets in the database, with a key derived from `SECRET_KEY` for each purpose.

Read access to the database alone does not reveal the secrets. Secrets encrypted with another
`SECRET_KEY` can't be decrypted.
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
    """Raises the limit on the length of a ciphertext: the library's limit of 64 KB is for untrusted
    input.
    """

    max_ciphertext_length = 2**30


_REGISTRY = _Registry(algorithms=_ALLOWED)


class DecryptionError(ValueError):
    """The text was encrypted with another `SECRET_KEY` or for another purpose, or is not encrypted."""


def encrypt(content: bytes, purpose: str) -> str:
    key = _key(purpose, str(settings.SECRET_KEY))
    return jwe.encrypt_compact(_HEADER, content, key, registry=_REGISTRY)


def decrypt(sealed: str, purpose: str, secret: str = "") -> bytes:
    """Decrypt a text. `secret` is the key it was encrypted with, `SECRET_KEY` by default. Raise
    `DecryptionError` on failure.
    """
    key = _key(purpose, secret or str(settings.SECRET_KEY))
    try:
        return jwe.decrypt_compact(sealed, key, registry=_REGISTRY).plaintext or b""
    except (JoseError, ValueError) as error:
        raise DecryptionError from error


@lru_cache(maxsize=16)
def _key(purpose: str, secret: str) -> OctKey:
    info = f"quarterdeck: {purpose} at rest".encode()
    return OctKey.import_key(HKDF(SHA256(), 32, salt=None, info=info).derive(secret.encode()))
