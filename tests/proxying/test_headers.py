"""Filtering of the headers between the browser and the program behind a port."""

import pytest

from console.kube.gvr import PODS, Key
from console.proxying.address import ProxyBase
from console.proxying.headers import (
    cookies_of,
    local_redirect,
    request_headers,
    response_headers,
    session_cookie,
)
from console.proxying.request import is_allowed
from console.proxying.target import ProxyTarget
from tests.proxying.headers import CANARY, FORBIDDEN_REQUEST_HEADERS, HOSTILE

LABEL = "0123456789abcdef0123456789abcdef"
BASE = ProxyBase("https", "ports.example.com", 443)
ORIGIN = BASE.origin(LABEL)
WEB = ProxyTarget(PODS, Key("shop", "web-1"), 8080)


def sent(*headers: tuple[str, str]) -> list[tuple[str, str]]:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return list(request_headers(raw, BASE, LABEL))


def back(*headers: tuple[str, str]) -> list[tuple[str, str]]:
    return list(response_headers(headers, BASE, WEB))


def cookies(*texts: str) -> list[str]:
    found = back(*(("Set-Cookie", text) for text in texts))
    return [value for name, value in found if name == "Set-Cookie"]


def test_only_allowed_request_headers_are_forwarded() -> None:
    found = sent(*((name, CANARY) for name in FORBIDDEN_REQUEST_HEADERS), ("Accept", "text/html"))
    assert CANARY not in str(found)
    assert found == [
        ("accept", "text/html"),
        ("x-forwarded-host", f"{LABEL}.ports.example.com"),
        ("x-forwarded-proto", "https"),
    ]


def test_cookies_of_the_program_are_forwarded_without_the_consoles_own() -> None:
    theirs = "sid=1; theme=dark"
    ours = (
        f"__Host-quarterdeck-port={CANARY}; quarterdeck={CANARY}; __Host-quarterdeck={CANARY}",
        f"QUARTERDECK-csrf={CANARY}; __Secure-Quarterdeck={CANARY}; {CANARY}; =; ;",
    )
    found = dict(sent(("Cookie", f"{ours[0]}; sid=1"), ("Cookie", f"{ours[1]}; theme=dark")))
    assert CANARY not in str(found) and found["cookie"] == f"{theirs}"[:5] + "; =; theme=dark"


def test_only_allowed_response_headers_are_returned() -> None:
    assert len(HOSTILE) >= 25
    plain = back(("Content-Type", "text/html"))
    assert back(("Content-Type", "text/html"), *((name, CANARY) for name in HOSTILE)) == plain
    names = [name for name, _value in plain]
    assert len(names) == len(set(names))


def test_content_security_policy_of_the_program_is_kept_and_extended() -> None:
    found = back(("Content-Security-Policy", "default-src 'self'"), ("X-Frame-Options", "ALLOWALL"))
    policies = [value for name, value in found if name == "Content-Security-Policy"]
    assert policies == ["default-src 'self'", "frame-ancestors 'self'"]
    assert [value for name, value in found if name == "X-Frame-Options"] == ["SAMEORIGIN"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ((), "private, no-cache"),
        (("public, max-age=31536000, immutable",), "private, no-cache"),
        (("No-Store",), "private, no-store"),
        (("max-age=1", "no-store"), "private, no-store"),
    ],
)
def test_responses_are_not_cached_by_shared_caches(said: tuple[str, ...], found: str) -> None:
    headers = dict(back(*(("cache-control", one) for one in said)))
    assert headers["Cache-Control"] == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("sid=1", "sid=1"),
        ("sid=1; Domain=ports.example.com; Path=/app", "sid=1; Path=/app"),
        ("sid=1; domain=.example.com;DOMAIN=x; HttpOnly", "sid=1; HttpOnly"),
        (f"sid=1; Path={WEB.path}/app", "sid=1; Path=/app"),
        (f"sid=1; Path={WEB.path}", "sid=1; Path=/"),
        ("sid=1; Path=relative", "sid=1; Path=/"),
        ("a=b; Secure; SameSite=None; Max-Age=5", "a=b; Secure; SameSite=None; Max-Age=5"),
        ("a=b; Priority=High; Evil=1", "a=b"),
        ("__Host-quarterdeck-port=1", None),
        ("quarterdeck=1; Path=/", None),
        ("__host-QuarterDeck=1", None),
        ("nothing", None),
        ("=nothing", None),
        ("a b=c", None),
        ("a=" + "x" * 5000, None),
    ],
)
def test_cookies_are_limited_to_their_host(given: str, found: str | None) -> None:
    assert cookies(given) == ([found] if found else [])


def test_number_of_cookies_is_limited() -> None:
    assert len(cookies(*(f"c{n}=1" for n in range(500)))) == 50


def test_console_cookie_is_host_only() -> None:
    name, value = session_cookie(BASE, "x")
    assert (name, value) == (
        "Set-Cookie",
        "__Host-quarterdeck-port=x; Path=/; HttpOnly; SameSite=Lax; Secure",
    )
    demo = ProxyBase("http", "ports.localhost", 8000)
    assert session_cookie(demo, "x")[1] == "quarterdeck-port=x; Path=/; HttpOnly; SameSite=Lax"


def test_cookies_with_the_same_name_are_all_read() -> None:
    raw = [(b"cookie", b"a=1; a=2"), (b"cookie", b"b=3")]
    assert cookies_of(raw) == [("a", "1"), ("a", "2"), ("b", "3")]


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("/login", "/login"),
        ("login?next=/a", "login?next=/a"),
        ("?a=b", "?a=b"),
        (f"{WEB.path}/login", "/login"),
        (f"{WEB.path}?a=b", "/?a=b"),
        (WEB.path, "/"),
        (f"{ORIGIN}/login", "/login"),
        (ORIGIN, "/"),
        (f"{ORIGIN}{WEB.path}/x", "/x"),
        # The prefix must not match the name of another host.
        (f"{WEB.path}//evil.example/", "/evil.example/"),
        (f"{ORIGIN}//evil.example/", "/evil.example/"),
        ("https://evil.example/", None),
        ("//evil.example/", None),
        (f"{ORIGIN}.evil.example/", None),
        ("https://ports.example.com/", None),
        ("http://10.0.0.1:8080/", None),
    ],
)
def test_redirects_stay_within_the_program(location: str, found: str | None) -> None:
    assert local_redirect(location, ORIGIN, WEB) == found


@pytest.mark.parametrize(
    "location",
    ["javascript:alert(1)", "data:text/html,x", "\\\\evil.example", "/\\evil.example", "/é", "/\n"],
)
def test_location_that_is_not_a_page_url_is_refused(location: str) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        local_redirect(location, ORIGIN, WEB)


SITES = ("cross-site", "same-site", "same-origin", "none", None)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_cross_origin_request_of_another_port_is_refused(method: str, site: str | None) -> None:
    headers = {"sec-fetch-site": site} if site else {}
    reads = method in ("GET", "HEAD")
    allowed = {"same-origin", "none", None} if reads else {"same-origin"}
    assert is_allowed(method, headers, ORIGIN) is (site in allowed)
    own, other = {"origin": ORIGIN}, {"origin": f"https://{'f' * 32}.ports.example.com"}
    assert is_allowed(method, {**headers, **own}, ORIGIN) is (site in {*allowed, None})
    assert not is_allowed(method, {**headers, **other}, ORIGIN)
    assert not is_allowed(method, {**headers, "origin": "null"}, ORIGIN)


def test_links_may_be_followed_but_framing_is_refused() -> None:
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert is_allowed("GET", {**linked, "sec-fetch-dest": "document"}, ORIGIN)
    for to in ("iframe", "frame", "object", "embed", "fencedframe"):
        assert not is_allowed("GET", {**linked, "sec-fetch-dest": to}, ORIGIN)
