"""Things that are good for one use, on all replicas together. Synchronous: call it off the loop.

Each function is decided by one statement, so of two that come at once one alone succeeds.
"""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from accounts.federation.models import OneTime
from accounts.oauth.issuing import digest, random_token


def use(kind: str, value: str, now: datetime, until: datetime) -> bool:
    """True the first time. `until`: from then on nobody would take the value anyway."""
    OneTime.objects.filter(expires__lte=now).delete()
    try:
        with transaction.atomic():
            OneTime.objects.create(digest=_digest(kind, value), expires=until)
    except IntegrityError:
        return False
    return True


def release(kind: str, value: str) -> None:
    """As if it had not been used."""
    OneTime.objects.filter(digest=_digest(kind, value)).delete()


def keep(kind: str, content: dict[str, Any], now: datetime, until: datetime) -> str:
    """The key to get `content` by."""
    OneTime.objects.filter(expires__lte=now).delete()
    key = random_token()
    OneTime.objects.create(digest=_digest(kind, key), expires=until, content=content)
    return key


def look(kind: str, key: str, now: datetime) -> dict[str, Any] | None:
    rows = OneTime.objects.filter(digest=_digest(kind, key), expires__gt=now)
    found: dict[str, Any] | None = rows.values_list("content", flat=True).first()
    return found


def _digest(kind: str, value: str) -> str:
    return digest(f"{kind}:{value}")
