"""The cookies of a sign-in that is under way: they bind it to one browser."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

LIFETIME = timedelta(minutes=10)
START, PENDING = "login", "pending"
_SALT = "accounts.federation"


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
