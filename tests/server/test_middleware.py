"""Security headers of every response, and the rejection of cross-site requests."""

import asyncio
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory, RequestFactory
from pytest_django import Settings

from console.web.async_middleware import AsyncMiddleware
from console.web.middleware import (
    AddressMiddleware,
    EncodingMiddleware,
    HostMiddleware,
    OriginGateMiddleware,
    SecurityHeadersMiddleware,
)

OURS = "https://console.example.com"


@pytest.fixture(autouse=True)
def _address(settings: Settings) -> None:
    settings.BASE_URL = OURS
    settings.ORIGINS = frozenset({OURS})
    settings.STATIC_URL = "/static/"


def answer(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", status=200)


def passed(middleware: type[AsyncMiddleware], view: Any, request: HttpRequest) -> HttpResponse:
    async def answered(asked: HttpRequest) -> HttpResponse:
        found: HttpResponse = view(asked)
        return found

    response = asyncio.run(middleware(answered)(request))
    assert isinstance(response, HttpResponse)
    return response


def headers(path: str = "/", view: Any = answer) -> HttpResponse:
    return passed(SecurityHeadersMiddleware, view, RequestFactory().get(path))


def gate(method: str, **given: str) -> int:
    names = {"site": "Sec-Fetch-Site", "mode": "Sec-Fetch-Mode", "dest": "Sec-Fetch-Dest"}
    request = RequestFactory().generic(
        method, "/", headers={names.get(name, name.title()): value for name, value in given.items()}
    )
    response = passed(OriginGateMiddleware, answer, request)
    return response.status_code


@pytest.mark.parametrize("status", [200, 302, 403, 404, 500])
def test_every_response_has_security_headers(status: int) -> None:
    response = headers(view=lambda request: HttpResponse(status=status))
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["Cache-Control"] == "private, no-store"
    assert response["Strict-Transport-Security"] == "max-age=31536000"
    assert len(response["X-Request-Id"]) == 16


def test_scripts_require_the_nonce_of_the_response() -> None:
    nonces = set()

    def page(request: Any) -> HttpResponse:
        nonces.add(request.csp_nonce)
        return HttpResponse(request.csp_nonce)

    for _ in range(2):
        response = headers(view=page)
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in response["Content-Security-Policy"].split(";")
        )
        nonce = response.content.decode()
        assert policy["script-src"] == f"'nonce-{nonce}'"
        assert policy["default-src"] == "'none'"
        assert policy["connect-src"] == policy["form-action"] == "'self'"
        for name in ("base-uri", "object-src", "frame-ancestors"):
            assert policy[name] == "'none'"
        assert "unsafe" not in response["Content-Security-Policy"]
    assert len(nonces) == 2
    assert min(len(nonce) for nonce in nonces) >= 22


def test_views_cannot_make_pages_cacheable() -> None:
    def cached(request: HttpRequest) -> HttpResponse:
        return HttpResponse("x", headers={"Cache-Control": "public, max-age=60"})

    assert headers("/dashboard", cached)["Cache-Control"] == "private, no-store"
    assert headers("/static/a.css", cached)["Cache-Control"] == "public, max-age=60"


def test_missing_static_file_is_not_cached() -> None:
    response = headers("/static/a.css", lambda request: HttpResponse(status=404))
    assert response["Cache-Control"] == "private, no-store"


def test_plain_http_has_no_hsts(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    assert "Strict-Transport-Security" not in headers()


def test_request_id_of_the_client_is_ignored() -> None:
    request = RequestFactory().get("/", headers={"X-Request-Id": "<script>"})
    response = passed(SecurityHeadersMiddleware, answer, request)
    assert "<" not in response["X-Request-Id"]


async def test_rejected_request_has_security_headers() -> None:
    async def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("ok")

    chain = SecurityHeadersMiddleware(OriginGateMiddleware(view))
    response = await chain(AsyncRequestFactory().get("/"))
    assert response.status_code == 200
    refused = await chain(AsyncRequestFactory().post("/", headers={"Sec-Fetch-Site": "cross-site"}))
    assert refused.status_code == 403
    assert "Content-Security-Policy" in refused


def test_only_dock_pages_can_be_framed_by_own_pages() -> None:
    def framing(**about: Any) -> tuple[str, str, str]:
        def page(request: HttpRequest) -> HttpResponse:
            vars(request).update(about)
            return HttpResponse("ok")

        response = headers(view=page)
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in response["Content-Security-Policy"].split(";")
        )
        return policy["frame-ancestors"], response["X-Frame-Options"], policy["frame-src"]

    assert framing(account=None) == ("'none'", "DENY", "'none'")
    assert framing(account="ann") == ("'none'", "DENY", "'self'")
    assert framing(account="ann", docked=False) == ("'none'", "DENY", "'self'")
    assert framing(account="ann", docked=True) == ("'self'", "SAMEORIGIN", "'none'")
    assert framing(account=None, docked=True) == ("'self'", "SAMEORIGIN", "'none'")


UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("console.example.com", 200),
        ("CONSOLE.example.com:8443", 200),
        ("console.example.com.", 200),
        ("[::1]:8000", 200),
        ("[::1", 400),
        ("evil.example", 400),
        ("console.example.com.evil.example", 400),
        ("evil.example/console.example.com", 400),
        ("console.example.com@evil.example", 400),
        ("127.0.0.1:8000", 400),
        ("", 400),
    ],
)
def test_only_allowed_hosts_are_served(settings: Settings, host: str, status: int) -> None:
    settings.ALLOWED_HOSTS = ["console.example.com", "[::1]"]
    request = RequestFactory().get("/login", headers={"Host": host})
    response = passed(HostMiddleware, answer, request)
    assert response.status_code == status
    assert status == 200 or OURS in response.content.decode()
    for path in ("/livez", "/readyz", "/metrics"):
        probe = RequestFactory().get(path, headers={"Host": host})
        assert passed(HostMiddleware, answer, probe).status_code == 200
    unknown = RequestFactory().get("/livez/x", headers={"Host": host})
    assert passed(HostMiddleware, answer, unknown).status_code == status


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        (f"/clusters/host/{'a' * 63}.{'b' * 253}/{'c' * 253}", 200),
        (f"/clusters/host/pods/{'a' * 318}", 414),
        (f"/clusters/host/pods/{'é' * 318}/yaml", 414),
        ("/" + "a/" * 4000, 200),
    ],
)
def test_names_longer_than_any_object_can_have_are_refused(path: str, status: int) -> None:
    request = RequestFactory().get(path)
    assert passed(AddressMiddleware, answer, request).status_code == status


@pytest.mark.parametrize("method", UNSAFE)
def test_same_origin_requests_are_accepted(method: str) -> None:
    assert gate(method, site="same-origin", origin=OURS) == 200
    assert gate(method, site="same-origin") == 200
    assert gate(method, origin=OURS) == 200


@pytest.mark.parametrize("method", UNSAFE)
def test_request_without_browser_headers_is_left_to_the_csrf_token(method: str) -> None:
    assert gate(method) == 200


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "", "SAME-ORIGIN", "x"])
def test_cross_site_requests_are_rejected(method: str, site: str) -> None:
    assert gate(method, site=site) == 403
    assert gate(method, site=site, origin=OURS) == 403


OTHER_ORIGINS = (
    "null",
    "",
    "https://evil.example",
    "http://console.example.com",
    f"{OURS}:30080",
    f"{OURS}:443",
    f"{OURS}.evil.example",
    f"{OURS}/",
    "https://CONSOLE.example.com",
    "https://x@console.example.com",
    f"{OURS}, {OURS}",
)


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_origins_are_compared_exactly(method: str, origin: str) -> None:
    assert gate(method, origin=origin) == 403
    assert gate(method, origin=origin, site="same-origin") == 403


def test_cross_site_navigation_is_the_only_accepted_cross_site_request() -> None:
    assert gate("GET", site="cross-site", mode="navigate", dest="document") == 200
    assert gate("GET", site="same-site", mode="navigate") == 200
    assert gate("GET", site="none", mode="navigate", dest="document") == 200
    assert gate("GET", site="same-origin", mode="cors") == 200
    assert gate("GET") == 200
    for site in ("cross-site", "same-site"):
        assert gate("GET", site=site) == 403
        for mode in ("cors", "no-cors", "websocket"):
            assert gate("GET", site=site, mode=mode) == 403
        for dest in ("iframe", "frame", "object", "embed"):
            assert gate("GET", site=site, mode="navigate", dest=dest) == 403
    assert gate("HEAD", site="cross-site") == 403


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "FOO", "PROPFIND", "get"])
def test_unsupported_methods_return_405(method: str) -> None:
    request = RequestFactory().get("/")
    request.method = method
    response = passed(OriginGateMiddleware, answer, request)
    assert response.status_code == 405
    assert "GET" in response["Allow"]


@pytest.mark.parametrize(
    ("charset", "status"),
    [
        ("", 200),
        ("; charset=utf-8", 200),
        ('; charset="UTF-8"', 200),
        ("; charset=latin-1", 415),
        # Lone surrogates, an error other than UnicodeError, a UnicodeError, and an unknown
        # encoding.
        ("; charset=unicode_escape", 415),
        ("; charset=rot13", 415),
        ("; charset=idna", 415),
        ("; charset=none", 415),
    ],
)
def test_forms_must_be_utf_8(charset: str, status: int) -> None:
    def form(request: HttpRequest) -> HttpResponse:
        return HttpResponse(request.POST["text"])

    body = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\\ud800\r\n--x--\r\n'
    kind = f"multipart/form-data; boundary=x{charset}"
    request = RequestFactory().generic("POST", "/", body, content_type=kind)
    answer = passed(EncodingMiddleware, form, request)
    assert answer.status_code == status
    assert status == 415 or answer.content == b"\\ud800"
