"""Allowlists for request and response headers. All other headers are dropped.

The console's cookies, tokens, and headers about the client's network path are never sent to the
program behind the port. Its responses are untrusted: they may describe their content, but
isolation headers are set by the console.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from console.proxying.address import ProxyBase
from console.proxying.target import ProxyTarget

Headers = Sequence[tuple[str, str]]
RawHeaders = Iterable[tuple[bytes, bytes]]

#: `Authorization` is dropped because kube-apiserver would read it. `Origin`, `Referer` and
#: `Sec-Fetch-*` are dropped because they name a host that the program doesn't know, and the gate
#: has already checked them. Compression is not requested, so that URLs in pages can be rewritten.
_TO_PROGRAM = frozenset(
    {
        "accept",
        "accept-language",
        "cache-control",
        "content-encoding",
        "content-language",
        "content-type",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "if-unmodified-since",
        "last-event-id",
        "pragma",
        "prefer",
        "range",
        "user-agent",
        "x-csrf-token",
        "x-csrftoken",
        "x-requested-with",
        "x-xsrf-token",
    }
)
_FROM_PROGRAM = frozenset(
    {
        "accept-ranges",
        "allow",
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-range",
        "content-security-policy",
        "content-security-policy-report-only",
        "content-type",
        "cross-origin-embedder-policy",
        "etag",
        "last-modified",
        "permissions-policy",
        "retry-after",
        "x-content-type-options",
    }
)
#: Headers that the program can't override. `Cache-Control` is derived from the program's value.
_FIXED = (
    ("Content-Security-Policy", "frame-ancestors 'self'"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Origin-Agent-Cluster", "?1"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "SAMEORIGIN"),
)
HSTS = ("Strict-Transport-Security", f"max-age={365 * 24 * 3600}")
#: Names of the console's cookies, on any host.
_CONSOLE_COOKIE = re.compile(r"(__host-|__secure-)?quarterdeck", re.IGNORECASE)
_COOKIE = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\" ,]*")
_KEPT = frozenset({"expires", "max-age", "secure", "httponly", "samesite", "partitioned"})
#: Maximum cookies in a response, and maximum characters of a cookie.
_MOST_COOKIES, _LONGEST_COOKIE = 50, 4096


def cookie_name(base: ProxyBase) -> str:
    """Return the cookie's name. Browsers reject the `__Host-` prefix over plain HTTP, as for the
    session cookie.
    """
    return "__Host-quarterdeck-port" if base.secure else "quarterdeck-port"


def session_cookie(base: ProxyBase, value: str) -> tuple[str, str]:
    """Return a `Set-Cookie` header for a session cookie of this host. Its validity is checked on
    each request.
    """
    secure = "; Secure" if base.secure else ""
    text = f"{cookie_name(base)}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"
    return "Set-Cookie", text


def cookies_of(headers: RawHeaders) -> list[tuple[str, str]]:
    """Return all cookies in order, including repeated names."""
    found = []
    for line in (value for name, value in headers if name == b"cookie"):
        for part in line.decode("latin-1").split(";"):
            name, equals, value = part.strip().partition("=")
            if equals:
                found.append((name, value))
    return found


def request_headers(headers: RawHeaders, base: ProxyBase, label: str) -> Headers:
    sent = []
    headers = list(headers)
    for name, value in headers:
        known = name.decode("latin-1").lower()
        if known in _TO_PROGRAM:
            sent.append((known, value.decode("latin-1")))
    theirs = [
        f"{name}={value}" for name, value in cookies_of(headers) if not _CONSOLE_COOKIE.match(name)
    ]
    if theirs:
        sent.append(("cookie", "; ".join(theirs)))
    if not any(name == "accept" for name, _value in sent):
        sent.append(("accept", "*/*"))
    # Set from the console's settings, not from the request's headers.
    sent.append(("x-forwarded-host", f"{label}.{base.netloc}"))
    sent.append(("x-forwarded-proto", base.scheme))
    return sent


def response_headers(headers: Headers, base: ProxyBase, target: ProxyTarget) -> Headers:
    """Return the response headers to forward, except `Content-Length` and `Location`, which the
    caller sets.
    """
    found = [(name, value) for name, value in headers if name.lower() in _FROM_PROGRAM]
    cookies = [value for name, value in headers if name.lower() == "set-cookie"]
    found += [("Set-Cookie", one) for one in _host_only(cookies[:_MOST_COOKIES], target)]
    said = ",".join(value for name, value in headers if name.lower() == "cache-control").lower()
    # Shared caches must not store the response. Browsers must revalidate it, so that it isn't shown
    # after the permission ends.
    found.append(("Cache-Control", f"private, {'no-store' if 'no-store' in said else 'no-cache'}"))
    return [*found, *_FIXED, *([HSTS] if base.secure else [])]


def _host_only(cookies: Iterable[str], target: ProxyTarget) -> Iterator[str]:
    for text in cookies:
        pair, *attributes = (part.strip() for part in text.split(";"))
        if (
            len(text) > _LONGEST_COOKIE
            or not _COOKIE.fullmatch(pair)
            or _CONSOLE_COOKIE.match(pair)
        ):
            continue
        kept = [pair]
        for attribute in attributes:
            name, _equals, value = attribute.partition("=")
            if name.strip().lower() == "path":
                kept.append(f"Path={_path(value.strip(), target)}")
            elif name.strip().lower() in _KEPT and attribute.isprintable():
                kept.append(attribute)
        yield "; ".join(kept)


def _path(value: str, target: ProxyTarget) -> str:
    """Return the cookie path without the proxy's path, which programs that read `X-Forwarded-Uri`
    prepend.
    """
    if value == target.path or value.startswith(f"{target.path}/"):
        value = value[len(target.path) :]
    return value if value.startswith("/") and value.isprintable() else "/"


def local_redirect(location: str, origin: str, target: ProxyTarget) -> str | None:
    """Return the redirect target as a path on this origin, or None if it leads to another origin.

    Raise ValueError for an invalid URL.
    """
    if not location.isascii() or not location.isprintable() or "\\" in location:
        raise ValueError
    parts = urlsplit(location)
    if parts.scheme or parts.netloc:
        if f"{parts.scheme}://{parts.netloc}".lower() != origin:
            if parts.scheme.lower() not in ("", "http", "https") or not parts.netloc:
                raise ValueError
            return None
        location = location[len(origin) :] or "/"
        if not location.startswith("/"):
            location = f"/{location}"
    if location == target.path or location.startswith((f"{target.path}/", f"{target.path}?")):
        location = location[len(target.path) :]
        location = location if location.startswith("/") else f"/{location}"
    # Two leading slashes would start a host name.
    return f"/{location.lstrip('/')}" if location.startswith("/") else location
