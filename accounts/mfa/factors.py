"""Second factors of users and the use of their codes.

Synchronous: call the database functions from a worker thread, not from the event loop. A
conditional SQL statement ensures that a code is used only once, even if two replicas check it
concurrently.
"""

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import HttpRequest

from accounts.mfa import totp
from accounts.models import RecoveryCode, SecondFactor
from accounts.oauth.grants import digest
from accounts.protection import attempts
from accounts.time import now
from console.encryption import DecryptionError, decrypt, encrypt
from console.kube.projections import User

#: Number of recovery codes and of random bytes per code. A plain hash is sufficient for secrets
#: with at least 112 bits (ASVS 5, 6.5.2).
RECOVERY_CODES, RECOVERY_BYTES = 10, 15
PURPOSE = "second factors"
#: Maximum input length, which allows for spaces and hyphens.
MAX_CODE = 64


@transaction.atomic
def enable(user: str, uid: str, secret: bytes, code: str, now: datetime) -> list[str] | None:
    """Enable the factor and return the recovery codes, or None if `code` doesn't match the secret."""
    step = totp.matching_step(secret, code, now)
    if step is None:
        return None
    SecondFactor.objects.filter(user=user).delete()
    factor = SecondFactor.objects.create(
        user=user, uid=uid, secret=encrypt(secret, PURPOSE), created=now, last_step=step
    )
    return _codes(factor)


@transaction.atomic
def renew_codes(user: str, uid: str) -> list[str]:
    """Replace the recovery codes and return the new ones, or an empty list if the factor is off."""
    factor = SecondFactor.objects.filter(user=user, uid=uid).first()
    if factor is None:
        return []
    RecoveryCode.objects.filter(factor=factor).delete()
    return _codes(factor)


def use_code(user: str, uid: str, code: str, now: datetime) -> bool:
    """Return True if the TOTP or recovery code is correct and was not used before."""
    given = "".join(code.split()).replace("-", "").lower()
    factor = SecondFactor.objects.filter(user=user, uid=uid).first()
    if factor is None:
        return False
    if len(given) == totp.DIGITS and given.isascii() and given.isdigit():
        return _use_code(factor, given, now)
    rows = RecoveryCode.objects.filter(factor=factor, digest=digest(given))
    return rows.delete()[0] > 0


def disable(user: str) -> bool:
    """Disable the second factor. Return False if there was none. The user may have been deleted."""
    return SecondFactor.objects.filter(user=user).delete()[0] > 0


def _use_code(factor: SecondFactor, code: str, now: datetime) -> bool:
    try:
        step = totp.matching_step(decrypt(factor.secret, PURPOSE), code, now)
    except DecryptionError:
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


# Check of a second-factor code. Each attempt is counted before the comparison, as for passwords.


@dataclass(frozen=True, slots=True)
class CodeCheck:
    """Result of a check. `wait` is the seconds until the next attempt if the limit was exceeded,
    else None.
    """

    is_right: bool
    wait: float | None = None


async def has_factor(user: User) -> bool:
    """Return True if the user has a second factor. Raise DatabaseError."""
    return await SecondFactor.objects.filter(user=user.name, uid=user.uid).aexists()


async def check_code(request: HttpRequest, user: User, code: str) -> CodeCheck:
    """Count the attempt and check the code, which is used up if it is correct. Raise DatabaseError."""
    ticket = await attempts.begin_attempt(request, user.name, kind=attempts.CODE)
    if ticket.wait is not None:
        return CodeCheck(False, ticket.wait)
    if not await sync_to_async(use_code)(user.name, user.uid, code[:MAX_CODE], now()):
        return CodeCheck(False)
    await sync_to_async(attempts.record_success)(ticket)
    return CodeCheck(True)
