"""Who has a second factor, and what was used of it. Synchronous: call it off the loop.

Nothing is used twice, also when two replicas are asked at once: what decides is one conditional
statement.
"""

import base64
import secrets
from datetime import datetime

from django.db import transaction

from accounts.factors import totp
from accounts.factors.models import RecoveryCode, SecondFactor
from accounts.oauth.issuing import digest
from console.sealing import NotOurs, seal, unseal

#: How many recovery codes there are, and of how many random bytes each: from 112 bits on, a plain hash
#: keeps a secret (ASVS 5, 6.5.2).
RECOVERY_CODES, RECOVERY_BYTES = 10, 15
PURPOSE = "second factors"


def is_on(user: str, uid: str) -> bool:
    return SecondFactor.objects.filter(user=user, uid=uid).exists()


def codes_left(user: str, uid: str) -> int:
    return RecoveryCode.objects.filter(factor__user=user, factor__uid=uid).count()


@transaction.atomic
def turn_on(user: str, uid: str, secret: bytes, code: str, now: datetime) -> list[str] | None:
    """The recovery codes, to be shown once; None if `code` is not one of this secret's."""
    step = totp.step_of(secret, code, now)
    if step is None:
        return None
    SecondFactor.objects.filter(user=user).delete()
    factor = SecondFactor.objects.create(
        user=user, uid=uid, secret=seal(secret, PURPOSE), created=now, last_step=step
    )
    return _codes(factor)


@transaction.atomic
def renew_codes(user: str, uid: str) -> list[str]:
    """New recovery codes in the place of the old ones; none if the factor is off."""
    factor = SecondFactor.objects.filter(user=user, uid=uid).first()
    if factor is None:
        return []
    RecoveryCode.objects.filter(factor=factor).delete()
    return _codes(factor)


def use(user: str, uid: str, code: str, now: datetime) -> bool:
    """True if `code`, of the app or a recovery code, was right and had not been used."""
    given = "".join(code.split()).replace("-", "").lower()
    factor = SecondFactor.objects.filter(user=user, uid=uid).first()
    if factor is None:
        return False
    if len(given) == totp.DIGITS and given.isascii() and given.isdigit():
        return _use_code(factor, given, now)
    rows = RecoveryCode.objects.filter(factor=factor, digest=digest(given))
    return rows.delete()[0] > 0


def turn_off(user: str) -> bool:
    """False if there was none. Also of a user who is not there any more."""
    return SecondFactor.objects.filter(user=user).delete()[0] > 0


def _use_code(factor: SecondFactor, code: str, now: datetime) -> bool:
    try:
        step = totp.step_of(unseal(factor.secret, PURPOSE), code, now)
    except NotOurs:
        return False
    if step is None:
        return False
    rows = SecondFactor.objects.filter(pk=factor.pk, uid=factor.uid, last_step__lt=step)
    return rows.update(last_step=step) > 0


def _codes(factor: SecondFactor) -> list[str]:
    found = [
        base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower()
        for _ in range(RECOVERY_CODES)
    ]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(digest=digest(code), factor=factor) for code in found
    )
    return ["-".join(code[start : start + 4] for start in range(0, 24, 4)) for code in found]
