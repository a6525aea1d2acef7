"""The keys that tokens are signed with, kept in the database that all replicas share.

One pair for access tokens and one for id tokens, each with its one algorithm, so that neither can pass
for the other. The private halves are encrypted with a key made of `SECRET_KEY`: whoever reads only the
database signs nothing, and after a change of `SECRET_KEY` the next token makes a new pair, while what the
old ones signed stays valid.

A pair signs for `ROTATE_AFTER`, or until `rotate`. It stays published until the last token that it
signed has expired.
"""

import logging
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Q
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from accounts.oauth.models import SigningKey
from accounts.oauth.options import options
from console.sealing import seal, unseal

log = logging.getLogger(__name__)

ACCESS, IDENTITY = "access", "id"
ALGORITHMS = {ACCESS: "ES256", IDENTITY: "RS256"}
ROTATE_AFTER = timedelta(days=90)
#: For replicas that were signing with it at that moment, and whose clocks differ.
SLACK = timedelta(minutes=1)
SHORTEST_OVERLAP = timedelta(hours=2)

_SEALED = "signing keys"

Key = ECKey | RSAKey


def signing_key(purpose: str, now: datetime) -> Key:
    """The private key to sign with now, made if there is none that can be used."""
    for row in _active(purpose).order_by("-created"):
        try:
            key = _unsealed(row.private, purpose, str(settings.SECRET_KEY))
        except (JoseError, ValueError):
            log.warning("Key %s was made with another SECRET_KEY", row.kid)
            continue
        return key if now - row.created < ROTATE_AFTER else rotate(purpose, now)
    return _make(purpose, now)


def rotate(purpose: str, now: datetime) -> Key:
    """Signs with a new key from now on."""
    key = _make(purpose, now)
    until = now + max(options().longest_token, SHORTEST_OVERLAP) + SLACK
    _active(purpose).exclude(kid=key.thumbprint()).update(retired=now, expires=until)
    return key


def remove(kid: str) -> bool:
    """Forgets a key at once, with every access token that it signed; False if there is none."""
    return SigningKey.objects.filter(kid=kid).delete()[0] > 0


def discard_expired(now: datetime) -> None:
    SigningKey.objects.filter(expires__lte=now).delete()


def _make(purpose: str, now: datetime) -> Key:
    key = _generate(purpose)
    public = key.as_dict(private=False)
    SigningKey.objects.create(
        kid=key.thumbprint(), purpose=purpose, public=public, private=_sealed(key), created=now
    )
    return key


def verifying_key(kid: str, purpose: str, now: datetime) -> Key | None:
    """The public key of that name, or None if there is none, or not for this purpose, or not any more."""
    row = _known(now).filter(kid=kid, purpose=purpose).first()
    return None if row is None else _imported(row.public, purpose)


def published(now: datetime) -> list[dict[str, Any]]:
    """Public keys as a JWK Set lists them, the newest first."""
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


def _imported(value: dict[str, Any], purpose: str) -> Key:
    return ECKey.import_key(value) if purpose == ACCESS else RSAKey.import_key(value)


def _sealed(key: Key) -> str:
    return seal(key.as_pem(private=True), _SEALED)


@lru_cache(maxsize=16)
def _unsealed(sealed: str, purpose: str, secret: str) -> Key:
    """Raises JoseError or ValueError if it was sealed with another secret."""
    pem = unseal(sealed, _SEALED, secret)
    about: Any = {"use": "sig", "alg": ALGORITHMS[purpose]}
    found = (ECKey if purpose == ACCESS else RSAKey).import_key(pem, about)
    found.ensure_kid()
    return found
