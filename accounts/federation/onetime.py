"""Single-use values shared by all replicas, and cookies that bind a sign-in to a browser.

Synchronous: call the database functions from a worker thread, not from the event loop. Each one
uses a single SQL statement, so only one of several concurrent calls succeeds.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from accounts.models import OneTime
from accounts.oauth.grants import digest, random_token

LIFETIME = timedelta(minutes=10)
START, PENDING = "login", "pending"
_SALT = "accounts.federation"


def use(kind: str, value: str, now: datetime, until: datetime) -> bool:
    """Mark a value as used. Return True the first time.

    The mark is deleted after `until`, when the value is no longer accepted anyway.
    """
    OneTime.objects.filter(expires__lte=now).delete()
    try:
        with transaction.atomic():
            OneTime.objects.create(digest=_digest(kind, value), expires=until)
    except IntegrityError:
        return False
    return True


def release(kind: str, value: str) -> None:
    """Undo `use`."""
    OneTime.objects.filter(digest=_digest(kind, value)).delete()


def store(kind: str, content: dict[str, Any], now: datetime, until: datetime) -> str:
    """Store `content` and return the key to retrieve it."""
    OneTime.objects.filter(expires__lte=now).delete()
    key = random_token()
    OneTime.objects.create(digest=_digest(kind, key), expires=until, content=content)
    return key


def load(kind: str, key: str, now: datetime) -> dict[str, Any] | None:
    rows = OneTime.objects.filter(digest=_digest(kind, key), expires__gt=now)
    found: dict[str, Any] | None = rows.values_list("content", flat=True).first()
    return found


def _digest(kind: str, value: str) -> str:
    return digest(f"{kind}:{value}")


# Cookies of a sign-in in progress. They bind it to one browser.


def set_cookie(response: HttpResponse, kind: str, content: dict[str, Any]) -> None:
    """Set the cookie. `content` is signed but not encrypted."""
    response.set_cookie(
        cookie_name(kind),
        signing.dumps(content, salt=f"{_SALT}.{kind}"),
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # Sent with the top-level redirect from the provider, but not with requests embedded in
        # other sites.
        samesite="Lax",
    )


def read_cookie(request: HttpRequest, kind: str) -> dict[str, Any] | None:
    """Return the content that `set_cookie` stored, or None if the signature is invalid or expired."""
    try:
        found: dict[str, Any] = signing.loads(
            request.COOKIES.get(cookie_name(kind), ""), salt=f"{_SALT}.{kind}", max_age=LIFETIME
        )
    except signing.BadSignature:
        return None
    return found


def delete_cookie(response: HttpResponse, kind: str) -> None:
    response.delete_cookie(cookie_name(kind), path="/", samesite="Lax")
    response.cookies[cookie_name(kind)]["secure"] = settings.SESSION_COOKIE_SECURE or ""


def cookie_name(kind: str) -> str:
    """Return the cookie name, with the prefix of the session cookie."""
    return f"{settings.SESSION_COOKIE_NAME}-{kind}"
