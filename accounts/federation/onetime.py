"""Things that are good for one use, on all replicas together. Synchronous: call it off the loop.

Each function is decided by one statement, so of two that come at once one alone succeeds.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from accounts.models import OneTime
from accounts.oauth.register import digest, random_token

LIFETIME = timedelta(minutes=10)
START, PENDING = "login", "pending"
_SALT = "accounts.federation"


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


# The cookies of a sign-in that is under way: they bind it to one browser.


def put(response: HttpResponse, kind: str, content: dict[str, Any]) -> None:
    """`content` is signed; the browser can read it."""
    response.set_cookie(
        name(kind),
        signing.dumps(content, salt=f"{_SALT}.{kind}"),
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # Sent when the provider sends the browser back, and with nothing that another site embeds.
        samesite="Lax",
    )


def read(request: HttpRequest, kind: str) -> dict[str, Any] | None:
    """What `put` was given, if it is ours and not too old."""
    try:
        found: dict[str, Any] = signing.loads(
            request.COOKIES.get(name(kind), ""), salt=f"{_SALT}.{kind}", max_age=LIFETIME
        )
    except signing.BadSignature:
        return None
    return found


def drop(response: HttpResponse, kind: str) -> None:
    response.delete_cookie(name(kind), path="/", samesite="Lax")
    response.cookies[name(kind)]["secure"] = settings.SESSION_COOKIE_SECURE or ""


def name(kind: str) -> str:
    """With the prefix that the session's has."""
    return f"{settings.SESSION_COOKIE_NAME}-{kind}"
