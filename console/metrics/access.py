"""Access control for the metrics: requests with the token, or from this machine.

A proxy on this machine can send its own `Host` header and no header that names the client, so its
requests look like local requests. The web process therefore accepts local requests only if
the console is used on this machine only (`serves_only_this_machine`).
"""

import secrets
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from console.audit.client_address import client_address, parse_address


def may_read(request: HttpRequest, *, local: bool) -> bool:
    """Return True for the bearer token `METRICS_TOKEN` or, with `local`, for a request from this
    machine without an Authorization header.
    """
    given = request.headers.get("Authorization")
    if given is not None:
        return _is_token(given)
    return local and _is_local(request)


def serves_only_this_machine() -> bool:
    """Return True if browsers use a loopback address for the console."""
    return _is_loopback(urlsplit(settings.BASE_URL).hostname or "")


def _is_token(authorization: str) -> bool:
    scheme, _space, token = authorization.partition(" ")
    wanted = settings.METRICS_TOKEN
    same = secrets.compare_digest(token.strip().encode(), wanted.encode())
    return bool(wanted) and scheme.lower() == "bearer" and same


def _is_local(request: HttpRequest) -> bool:
    """Return True if both the client address and the `Host` header are loopback.

    The host prevents DNS rebinding: a page in a local browser can use a name that resolves to this
    machine.
    """
    source = client_address(
        request.META.get("REMOTE_ADDR") or "",
        request.META.get("HTTP_X_FORWARDED_FOR") or "",
        settings.TRUSTED_PROXIES,
    )
    return _is_loopback(source) and _is_loopback(_host(request.META.get("HTTP_HOST") or ""))


def _host(header: str) -> str:
    """Return the host name without the port."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(text: str) -> bool:
    if text == "localhost":
        return True
    address = parse_address(text)
    return address is not None and address.is_loopback
