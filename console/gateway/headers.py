"""Headers that the gateway passes on, in both directions."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from console.gateway.errors import SECURITY_HEADERS, Refusal

RawHeaders = Iterable[tuple[bytes, bytes]]
Headers = Sequence[tuple[str, str]]

#: Headers of a single connection (RFC 9110, section 7.6.1).
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
#: Headers of the request that are never passed on: credentials of the console, what the HTTP client
#: sets itself, and what only the console may set.
_OWN = frozenset({"audit-id", "authorization", "content-length", "cookie", "expect", "host"})
_OWN_PREFIXES = ("forwarded", "impersonate-", "sec-fetch-", "x-forwarded-", "x-remote-")
#: Names that `Connection` may contain. Other names would remove headers on the way.
_CONNECTION = frozenset({"", "close", "keep-alive", "te", "upgrade"})
#: Headers that are used once. Programs may choose different values of a repeated one.
_ONCE = frozenset({"authorization", "content-length", "content-type", "host", "origin"})
#: Impersonation headers that `console.gateway.impersonation` handles.
_IMPERSONATION = frozenset({"impersonate-user", "impersonate-group"})
#: Subprotocols with which kube-apiserver reads a token from the handshake of a websocket.
_TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io."  # noqa: S105
_NOT_RETURNED = frozenset({"set-cookie", "strict-transport-security", "www-authenticate"})


def check_request_headers(headers: RawHeaders) -> None:
    """Raise `Refusal` for headers with which a client could act as another user, or whose meaning
    programs can interpret differently.
    """
    seen: set[str] = set()
    for name, value in _texts(headers):
        if name in _ONCE and name in seen:
            raise Refusal(400, _("The header %(name)s is repeated.") % {"name": name})
        seen.add(name)
        if name.startswith("impersonate-") and name not in _IMPERSONATION:
            text = _("Only users and groups can be impersonated through the console.")
            raise Refusal(403, text)
        if name.startswith("x-remote-"):
            text = _("The header %(name)s is reserved for proxies.") % {"name": name}
            raise Refusal(400, text)
        if (
            name == "connection"
            and not {one.strip().lower() for one in value.split(",")} <= _CONNECTION
        ):
            raise Refusal(400, _("The header Connection names a header that is not allowed."))
        if name == "sec-websocket-protocol" and _TOKEN_PROTOCOL in value.lower():
            raise Refusal(400, _("Send the access token in the Authorization header."))


def request_headers(headers: RawHeaders, *, upgrade: str = "") -> Headers:
    """Return the headers for kube-apiserver. Credentials must be added afterwards.

    With `upgrade`, the request asks to switch to this protocol. `Origin` is passed on only then:
    kube-apiserver requires it for websockets.
    """
    sent = [
        (name, value)
        for name, value in _texts(headers)
        if not (name in _HOP_BY_HOP or name in _OWN or name.startswith(_OWN_PREFIXES))
        and (upgrade or name not in ("origin", "referer"))
    ]
    return [*sent, ("connection", "Upgrade"), ("upgrade", upgrade)] if upgrade else sent


def response_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers of kube-apiserver's response for the client, with security headers."""
    fixed = {name.decode() for name, _value in SECURITY_HEADERS}
    dropped = _HOP_BY_HOP | _NOT_RETURNED | fixed
    kept = [
        (name.lower().encode("latin-1"), value.encode("utf-8", "surrogateescape"))
        for name, value in headers
        if name.lower() not in dropped and not name.lower().startswith("access-control-")
    ]
    # Proxies in front of the console must not buffer a watch.
    return [*kept, *SECURITY_HEADERS, (b"x-accel-buffering", b"no")]


def _texts(headers: RawHeaders) -> Iterable[tuple[str, str]]:
    for name, value in headers:
        yield name.decode("latin-1").lower(), value.decode("latin-1")
