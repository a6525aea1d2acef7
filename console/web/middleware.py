"""Middleware for security headers, host names, addresses, cross-site requests, encodings, trailing
slashes, request metrics, default views, pins, and the cookie of recent levels.

`SecurityHeadersMiddleware` must be the outermost middleware, so that errors and static files
also have its headers.
"""

import re
import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
)
from django.http.request import split_domain_port, validate_host
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path, iri_to_uri
from django.utils.translation import gettext as _

from console.metrics.families import requests
from console.saved import pins, service
from console.saved.service import ViewOwner
from console.ui.core.clusters import clusters
from console.ui.core.requests import ConsoleRequest, is_fragment
from console.ui.navigation.level import Level
from console.ui.navigation.page_routes import find_kind, resolve_list
from console.ui.navigation.recent import COOKIE, cookie_value
from console.views.guard import SAFE_METHODS, is_navigation
from console.web.async_middleware import AsyncMiddleware

#: Pattern of possible list URLs, checked first because most lists have no default view.
_LIST = re.compile(r"/clusters/([^/]+)/([^/]+)")


class DefaultViewMiddleware(AsyncMiddleware):
    """Opens lists with the user's default view.

    Requests without a query are redirected to the URL of the default view. Links on the same
    list that remove all filters are not redirected.
    """

    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        asked = _LIST.fullmatch(request.path)
        place = (asked[1], asked[2]) if asked and request.method == "GET" else None
        if account and place and not request.META.get("QUERY_STRING"):
            if find_kind(clusters.get(place[0]), place[1]) is None:
                return await self.get_response(request)
            found = service.cached_default_queries(*place) or await sync_to_async(
                service.load_default_queries
            )(*place)
            query = found.for_user(ViewOwner(account))
            if query and not is_fragment(request) and not _from_itself(request):
                listed = resolve_list(request.path)
                if listed is not None:
                    return HttpResponseRedirect(f"{listed.url}?{query}")
        return await self.get_response(request)


def _from_itself(request: ConsoleRequest) -> bool:
    """Return True if the request was sent from the same page. The host is ignored, because only the
    redirect depends on the result.
    """
    try:
        return urlsplit(request.headers.get("Referer", "")).path == request.path
    except ValueError:
        return False


class PinsMiddleware(AsyncMiddleware):
    """Loads the user's pinned kinds for every page."""

    async def __call__(self, request: ConsoleRequest) -> HttpResponseBase:
        account = getattr(request, "account", None)
        if account and not is_fragment(request):
            found = pins.cached_pins(account)
            request.pins = (
                found if found is not None else await sync_to_async(pins.load_pins)(account)
            )
        return await self.get_response(request)


#: Route of requests that no view handled: static files and unknown URLs.
NO_ROUTE = "none"


class CountingMiddleware(AsyncMiddleware):
    """Counts requests by route name, so that no URL becomes a label."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = await self.get_response(request)
        match = request.resolver_match
        route = (match.view_name or NO_ROUTE) if match is not None else NO_ROUTE
        requests.record(route, response.status_code, perf_counter() - began)
        return response


Response = HttpResponseBase

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
HSTS_SECONDS = 365 * 24 * 3600
#: Lifetime of the cookie with the recent levels.
RECENT_SECONDS = 365 * 24 * 3600

#: Maximum length of a part of a path: the plural and the group of a resource type.
MAX_SEGMENT = 63 + 1 + 253
#: Views for all host names.
_ANY_HOST = frozenset({"livez", "readyz", "metrics"})

#: `X-Frame-Options` for browsers without support for `frame-ancestors`.
_FRAMED = {"'none'": "DENY", "'self'": "SAMEORIGIN"}

# `connect-src 'self'` includes websockets of the same origin (CSP 3, section 6.7.2.8). `script-src`
# has no 'self': a file that an attacker placed on this origin must not run as a script.
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
        """Return a response to stop processing the request, or None to continue."""
        return None

    def after(self, request: HttpRequest, response: Response) -> Response:
        return response


class SecurityHeadersMiddleware(_Middleware):
    """Sets `request.csp_nonce` and `request.request_id`, and the security headers of every
    response.

    Pages can't be framed, except dock pages (`request.docked`), which pages of the console frame
    for signed-in users.
    """

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[Response]]) -> None:
        super().__init__(get_response)
        self._fixed = dict(_HEADERS)
        if urlsplit(settings.BASE_URL).scheme == "https":
            self._fixed["Strict-Transport-Security"] = f"max-age={HSTS_SECONDS}"

    def before(self, request: HttpRequest) -> Response | None:
        # A client's own X-Request-Id is ignored: it would end up in pages and logs.
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
        """Return True if a static file was found. A 404 response below the same path must not be
        cached.
        """
        path = settings.STATIC_URL
        return request.path_info.startswith(path) and response.status_code in (200, 206, 304)


class TrailingSlashMiddleware(_Middleware):
    """Redirects URLs with trailing slashes to the URL without them.

    Redirects only if the target is a page of the console, so never to another site. Only GET and
    HEAD are redirected: no form is sent to such a URL, and a redirect that preserves the method
    would repeat the request.
    """

    def before(self, request: HttpRequest) -> Response | None:
        path = request.path_info
        if not path.endswith("/") or path == "/" or request.method not in ("GET", "HEAD"):
            return None
        bare = path.rstrip("/")
        # A path that starts with two slashes, or a slash and a backslash, is interpreted as a host
        # name.
        if bare[1:2] in ("/", "\\") or _view_name(path) or not _view_name(bare):
            return None
        query = request.META.get("QUERY_STRING", "")
        to = escape_uri_path(bare) + (f"?{iri_to_uri(query)}" if query else "")
        return HttpResponsePermanentRedirect(to)


def _view_name(path: str) -> str:
    """Return the name of the view at a path, or "" if the console has no page there."""
    try:
        return resolve(path).view_name or NO_ROUTE
    except Resolver404:
        return ""


class HostMiddleware(_Middleware):
    """Refuses requests whose `Host` header is not in `ALLOWED_HOSTS`.

    Probes and Prometheus use the address of the pod or machine, and read nothing that depends on
    the host. Websockets are not checked here, but by their exact `Origin`.
    """

    def before(self, request: HttpRequest) -> Response | None:
        domain, _port = split_domain_port(request.META.get("HTTP_HOST", "").lower())
        if domain and validate_host(domain, settings.ALLOWED_HOSTS):
            return None
        if _view_name(request.path_info) in _ANY_HOST:
            return None
        text = _(
            "The console is not available under this host name. Open it at {url}. Administrators "
            "can allow the name in ALLOWED_HOSTS."
        )
        return _plain_text(400, text.format(url=settings.BASE_URL))


class AddressMiddleware(_Middleware):
    """Refuses addresses that contain a longer name than any object can have.

    Such names would otherwise fill the caches of URLs and permissions.
    """

    def before(self, request: HttpRequest) -> Response | None:
        path = request.path_info
        if len(path) <= MAX_SEGMENT or max(map(len, path.split("/"))) <= MAX_SEGMENT:
            return None
        return _plain_text(414, _("The address contains a name that is too long."))


class OriginGateMiddleware(_Middleware):
    """Refuses requests that another site's page made the browser send.

    Browsers send the request's origin in `Sec-Fetch-Site`
    (https://www.w3.org/TR/fetch-metadata/) or, if older, in `Origin`. Both are compared exactly,
    including scheme and port, because cookies ignore both: a page on another port of this host
    is another site. Clients that send neither header are not browsers, and only Django's CSRF
    token applies.
    """

    def before(self, request: HttpRequest) -> Response | None:
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS)
        site = request.headers.get("Sec-Fetch-Site")
        if request.method in SAFE_METHODS:
            allowed = site in (None, "same-origin", "none") or is_navigation(request.headers)
        else:
            origin = request.headers.get("Origin")
            own = origin is None or origin in settings.ORIGINS
            allowed = site in (None, "same-origin") and own
        if allowed:
            return None
        text = _("The request came from another site and was rejected. Open the console at {url}.")
        return _plain_text(403, text.format(url=settings.BASE_URL))


class EncodingMiddleware(_Middleware):
    """Refuses requests that declare an encoding other than UTF-8.

    Django uses the declared encoding. Some of Python's codecs decode to lone surrogates, which
    can't be encoded again, and others raise unexpected exceptions.
    """

    def before(self, request: HttpRequest) -> Response | None:
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower() in ("utf-8", "utf8"):
            return None
        return _plain_text(
            415, _("The request is not encoded in UTF-8. The console accepts only UTF-8.")
        )


def _plain_text(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


class RecentMiddleware(_Middleware):
    """Adds the level of the visited page to the recent levels, if the page frame set `request.level`."""

    def after(self, request: HttpRequest, response: Response) -> Response:
        level: Level | None = getattr(request, "level", None)
        if level is None or response.status_code != HTTPStatus.OK:
            return response
        value = cookie_value(level, request)
        if value and request.COOKIES.get(COOKIE) != value:
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(
                COOKIE, value, max_age=RECENT_SECONDS, secure=secure, httponly=True, samesite="Lax"
            )
        return response
