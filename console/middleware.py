"""What every request passes first: headers that confine the browser, and a gate against other sites.

`SecurityHeadersMiddleware` must be the outermost, so that errors and static files carry its headers as
well.
"""

import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from django.conf import settings
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponsePermanentRedirect,
)
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path, iri_to_uri
from django.utils.translation import gettext as _

from console.inline import AsyncMiddleware
from console.ui.level import COOKIE, Level, keeping
from console.views.guard import SAFE_METHODS, is_navigation

Response = HttpResponseBase

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
HSTS_SECONDS = 365 * 24 * 3600
#: How long a browser remembers where somebody was.
LEVEL_SECONDS = 365 * 24 * 3600

#: Beside `frame-ancestors` for browsers that do not know it: who may frame a page.
_FRAMED = {"'none'": "DENY", "'self'": "SAMEORIGIN"}

# `connect-src 'self'` includes websockets of the same origin (CSP 3, section 6.7.2.8). There is no
# 'self' for scripts: a file that somebody got onto this origin must not become one.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'nonce-{nonce}'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "frame-src {frames}",
        "form-action 'self'",
        "base-uri 'none'",
        "object-src 'none'",
        "frame-ancestors {ancestors}",
    )
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class _Middleware(AsyncMiddleware):
    async def __call__(self, request: HttpRequest) -> Response:
        return self.after(request, self.before(request) or await self.get_response(request))

    def before(self, request: HttpRequest) -> Response | None:
        """A response ends the request here."""
        return None

    def after(self, request: HttpRequest, response: Response) -> Response:
        return response


class SecurityHeadersMiddleware(_Middleware):
    """Sets `request.csp_nonce` and `request.request_id`, and the headers of every response.

    Nobody frames a page, but for those of the dock (`request.docked`), which our own pages do; these are
    pages of somebody who is signed in, and frame nothing else.
    """

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[Response]]) -> None:
        super().__init__(get_response)
        self._fixed = dict(_HEADERS)
        if urlsplit(settings.BASE_URL).scheme == "https":
            self._fixed["Strict-Transport-Security"] = f"max-age={HSTS_SECONDS}"

    def before(self, request: HttpRequest) -> Response | None:
        # Not the client's own X-Request-Id: it would end up in pages and in logs.
        request.csp_nonce = secrets.token_urlsafe(18)  # type: ignore[attr-defined]
        request.request_id = secrets.token_hex(8)  # type: ignore[attr-defined]
        return None

    def after(self, request: HttpRequest, response: Response) -> Response:
        headers = response.headers
        for name, value in self._fixed.items():
            headers[name] = value
        docked = getattr(request, "docked", False)
        ancestors = "'self'" if docked else "'none'"
        frames = "'self'" if getattr(request, "account", None) and not docked else "'none'"
        headers["X-Frame-Options"] = _FRAMED[ancestors]
        headers["Content-Security-Policy"] = _POLICY.format(
            nonce=request.csp_nonce,  # type: ignore[attr-defined]
            frames=frames,
            ancestors=ancestors,
        )
        headers["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        if not self._is_static(request, response):
            headers["Cache-Control"] = "private, no-store"
        return response

    @staticmethod
    def _is_static(request: HttpRequest, response: Response) -> bool:
        """True for a file that was found; a 404 below the same path is not to be kept."""
        path = settings.STATIC_URL
        return request.path_info.startswith(path) and response.status_code in (200, 206, 304)


class TrailingSlashMiddleware(_Middleware):
    """Leads from an address of ours with slashes at its end to the one without.

    Only where that one is a page of ours, so never to another site. Whatever is not read (RFC 9110,
    section 9.2.1) is answered as before: no form of ours is sent there, and a redirect that keeps the
    method would have it sent again.
    """

    def before(self, request: HttpRequest) -> Response | None:
        path = request.path_info
        if not path.endswith("/") or path == "/" or request.method not in ("GET", "HEAD"):
            return None
        bare = path.rstrip("/")
        # Two slashes, or one and a backslash, begin the name of a host.
        if bare[1:2] in ("/", "\\") or _is_page(path) or not _is_page(bare):
            return None
        query = request.META.get("QUERY_STRING", "")
        to = escape_uri_path(bare) + (f"?{iri_to_uri(query)}" if query else "")
        return HttpResponsePermanentRedirect(to)


def _is_page(path: str) -> bool:
    try:
        return bool(resolve(path))
    except Resolver404:
        return False


class OriginGateMiddleware(_Middleware):
    """Refuses what another site's page made the browser send.

    Browsers say where a request comes from in `Sec-Fetch-Site`
    (https://www.w3.org/TR/fetch-metadata/) or, older ones, in `Origin`. Both are compared exactly, with
    scheme and port: cookies know neither, so a page on another port of this host is another site.
    A client that sends neither is no browser; then Django's token alone decides.
    """

    def before(self, request: HttpRequest) -> Response | None:
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS)
        site = request.headers.get("Sec-Fetch-Site")
        if request.method in SAFE_METHODS:
            allowed = site in (None, "same-origin", "none") or is_navigation(request.headers)
        else:
            allowed = site in (None, "same-origin") and _has_our_origin(request)
        return None if allowed else _refuse()


class EncodingMiddleware(_Middleware):
    """Refuses what says that it is in another encoding than UTF-8, which is what our pages send.

    Django would believe it. Some of Python's encodings read halves of characters, which nothing can write
    after that, and others raise errors of their own.
    """

    def before(self, request: HttpRequest) -> Response | None:
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower() in ("utf-8", "utf8"):
            return None
        return _plain_text(415, _("This request is not in UTF-8, in which the console reads all."))


def _has_our_origin(request: HttpRequest) -> bool:
    origin = request.headers.get("Origin")
    return origin is None or origin in settings.ORIGINS


def _refuse() -> HttpResponse:
    text = _("This request comes from another site and was refused. Open the console at {url}.")
    return _plain_text(403, text.format(url=settings.BASE_URL))


def _plain_text(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


class LevelMiddleware(_Middleware):
    """Has the browser remember at which level of the console somebody is, where a page says so."""

    def after(self, request: HttpRequest, response: Response) -> Response:
        level: Level | None = getattr(request, "level", None)
        if level is None or response.status_code != HTTPStatus.OK:
            return response
        value = keeping(level, request)
        if value and request.COOKIES.get(COOKIE) != value:
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(
                COOKIE, value, max_age=LEVEL_SECONDS, secure=secure, httponly=True, samesite="Lax"
            )
        return response
