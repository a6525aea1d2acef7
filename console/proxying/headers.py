"""Which headers go on to a program, and which come back from it. Everything that is not named here stays.

What the browser shows us (cookies of ours, tokens) and what it says of the way it came is nobody's
business but ours. What a program answers is foreign: it says what its content is and no more, and what
keeps its page apart from others is ours.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from console.proxying.address import ProxyBase
from console.proxying.target import Target

Headers = Sequence[tuple[str, str]]
RawHeaders = Iterable[tuple[bytes, bytes]]

#: No `Authorization`: it would be read by kube-apiserver. No `Origin`, `Referer` and `Sec-Fetch-*`: they
#: name a host that the program does not know itself by, and what they are for was decided here. Nothing
#: is compressed on the way, so that addresses in pages can be put right.
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
#: What no program decides. `Cache-Control` is added by what it says itself.
_FIXED = (
    ("Content-Security-Policy", "frame-ancestors 'self'"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Origin-Agent-Cluster", "?1"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "SAMEORIGIN"),
)
HSTS = ("Strict-Transport-Security", f"max-age={365 * 24 * 3600}")
#: Names of cookies that are the console's own, on whatever host.
_OURS = re.compile(r"(__host-|__secure-)?quarterdeck", re.IGNORECASE)
_COOKIE = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\" ,]*")
_KEPT = frozenset({"expires", "max-age", "secure", "httponly", "samesite", "partitioned"})
#: Cookies of one answer, and characters of one.
_MOST_COOKIES, _LONGEST_COOKIE = 50, 4096


def cookie_name(base: ProxyBase) -> str:
    """As `accounts.signin.session_settings` has it: browsers refuse the prefix over plain HTTP."""
    return "__Host-quarterdeck-port" if base.secure else "quarterdeck-port"


def own_cookie(base: ProxyBase, value: str) -> tuple[str, str]:
    """Of this one host, for as long as the browser runs; what it is worth is decided here each time."""
    secure = "; Secure" if base.secure else ""
    text = f"{cookie_name(base)}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"
    return "Set-Cookie", text


def cookies_of(headers: RawHeaders) -> list[tuple[str, str]]:
    """In their order; there may be several of one name."""
    found = []
    for line in (value for name, value in headers if name == b"cookie"):
        for part in line.decode("latin-1").split(";"):
            name, equals, value = part.strip().partition("=")
            if equals:
                found.append((name, value))
    return found


def to_program(headers: RawHeaders, base: ProxyBase, label: str) -> Headers:
    sent = []
    headers = list(headers)
    for name, value in headers:
        known = name.decode("latin-1").lower()
        if known in _TO_PROGRAM:
            sent.append((known, value.decode("latin-1")))
    theirs = [f"{name}={value}" for name, value in cookies_of(headers) if not _OURS.match(name)]
    if theirs:
        sent.append(("cookie", "; ".join(theirs)))
    if not any(name == "accept" for name, _value in sent):
        sent.append(("accept", "*/*"))
    # As a proxy in front of it would say; from our settings, not from the browser.
    sent.append(("x-forwarded-host", f"{label}.{base.netloc}"))
    sent.append(("x-forwarded-proto", base.scheme))
    return sent


def from_program(headers: Headers, base: ProxyBase, target: Target) -> Headers:
    """All but the length and the place to go to, of which whoever sends the content decides."""
    found = [(name, value) for name, value in headers if name.lower() in _FROM_PROGRAM]
    cookies = [value for name, value in headers if name.lower() == "set-cookie"]
    found += [("Set-Cookie", one) for one in _host_only(cookies[:_MOST_COOKIES], target)]
    said = ",".join(value for name, value in headers if name.lower() == "cache-control").lower()
    # Nobody else's: and what was kept is shown to nobody whose right has ended.
    found.append(("Cache-Control", f"private, {'no-store' if 'no-store' in said else 'no-cache'}"))
    return [*found, *_FIXED, *([HSTS] if base.secure else [])]


def _host_only(cookies: Iterable[str], target: Target) -> Iterator[str]:
    for text in cookies:
        pair, *attributes = (part.strip() for part in text.split(";"))
        if len(text) > _LONGEST_COOKIE or not _COOKIE.fullmatch(pair) or _OURS.match(pair):
            continue
        kept = [pair]
        for attribute in attributes:
            name, _equals, value = attribute.partition("=")
            if name.strip().lower() == "path":
                kept.append(f"Path={_path(value.strip(), target)}")
            elif name.strip().lower() in _KEPT and attribute.isprintable():
                kept.append(attribute)
        yield "; ".join(kept)


def _path(value: str, target: Target) -> str:
    """A program that minds `X-Forwarded-Uri` has the proxy's own path before it."""
    if value == target.path or value.startswith(f"{target.path}/"):
        value = value[len(target.path) :]
    return value if value.startswith("/") and value.isprintable() else "/"


def within(location: str, origin: str, target: Target) -> str | None:
    """A redirect to the program itself, as the browser has to have it; None for one that leads
    elsewhere. Raises ValueError for what is no address of a page."""
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
    # Two slashes begin the name of another host.
    return f"/{location.lstrip('/')}" if location.startswith("/") else location
