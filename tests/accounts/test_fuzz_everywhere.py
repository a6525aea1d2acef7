"""Hostile input for every route in the URLconf, at least once each.

Expected: no server error, no secret in a response or in storage, and no new session, token or
second factor for the sender.
"""

import random
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus, urlencode

import pytest
from asgiref.sync import sync_to_async
from django.urls import get_resolver
from pytest_django import Settings

from accounts.mfa import factors, totp
from accounts.models import FailedAttempts, Grant, NamedToken, SecondFactor, SignIn
from console.audit.models import AuditRecord
from console.kube.gvr import USERS
from tests.accounts.conftest import HASH, ORIGIN, PASSWORD, Browser
from tests.accounts.mfa.conftest import App
from tests.accounts.oauth.clients import SECRET, basic
from tests.accounts.oauth.conftest import Config
from tests.accounts.routes import routes
from tests.rbac.fakes import MovableClock
from tests.support.depth import SEED, number, some
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

#: Senders: anonymous, with a pending second factor, signed in, and administrator.
WHO = {"nobody": "", "owing": "alice", "tenant": "alice", "administrator": "admin"}

#: Fields of sign-in endpoints, which must not succeed.
NAMES = [
    "username", "password", "encrypt", "next", "referer", "provider", "code", "current", "again", "act",
    "email", "displayName", "description", "language", "theme", "name", "days", "scope", "token",
    "session",
    "uid", "change", "groups", "state", "grant_type", "client_id", "client_secret", "refresh_token",
    "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "code_verifier", "totp",
    "nonce", "logout_token", "logoutRequest", "access_token", "csrfmiddlewaretoken", "format", "q",
    "page",
]  # fmt: skip
CANARY = "Canary-of-a-Secret-7"
VALUES = [
    "", " ", "on", "\0", "\r\nSet-Cookie: a=b", "\u202e", "é" * 60, "a" * 6000, "-1", "1e309", "٣",
    "NaN",
    "' OR 1=1 --", "*)(uid=*", "<script>alert(1)</script>", "{{7*7}}", "${7*7}", "%s%n",
    "../../etc/passwd",
    "//evil.example", "/\\evil.example", "javascript:alert(1)", "null", "[]", "{}", "alice", "admin",
    "system:masters", "password", "refresh_token", "authorization_code", "kubesphere", "cli", "S256",
    "https://app.example.com/callback", "openid api", "000000", "qdt_" + "A" * 43,
    "eyJhbGciOiJub25lIn0.e30.",
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "x@y",
    "off",
    CANARY, HASH, "00000000-0000-0000-0000-000000000000", "9" * 400, "\ud800", "\ufeff", "a@b@c",
]  # fmt: skip
KINDS = [
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "application/json",
    "application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data; boundary=b",
    "text/plain", "/",
    "multipart/form-data", "application/xml",
]  # fmt: skip
#: Replacements of names in URLs.
PARTS = ("alice", "%00", "%E2%80%AE", "..", "a" * 300)
BEARERS = [
    "",
    "Bearer x",
    "Bearer qdt_x",
    "Bearer",
    "Basic",
    "Basic !!!",
    "Bearer a, Bearer b",
    "\x7f",
]


@pytest.fixture(autouse=True)
def _unlimited(settings: Settings, tmp_path: Path) -> None:
    """Disable lockouts."""
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    Config(tmp_path / "authentication.yaml").write(authenticateRateLimiterMaxTries=10000)


def text(random: random.Random) -> str:
    kind = random.random()
    if kind < 0.7:
        return random.choice(VALUES)
    return "".join(chr(random.choice((random.randrange(128), random.randrange(0x3000))))
                   for _ in range(random.randrange(20)))  # fmt: skip


def fields(random: random.Random) -> str:
    pairs = [(random.choice(NAMES), text(random)) for _ in range(random.randrange(8))]
    return urlencode([(name, value.encode("utf-8", "surrogatepass")) for name, value in pairs])


def body(random: random.Random) -> bytes:
    kind = random.random()
    if kind < 0.8:
        return fields(random).encode()
    return random.randbytes(random.randrange(200))


def paths(who: str = "") -> list[str]:
    """Return a valid URL of each route and hostile variants. In the gate, the variants differ for
    each `who`.
    """
    found = []
    for _name, path in routes(get_resolver().url_patterns):
        found.append(path)
        if "/x" in path:
            parts = some(f"{who} {path}", PARTS, 2)
            found += [path.replace("/x", f"/{part}", 1) for part in parts]
    return found


def inputs(who: str) -> Iterator[tuple[str, str, bytes, str, dict[str, str]]]:
    rng = random.Random(f"{SEED} everywhere")  # noqa: S311  to be repeated, not to be secret
    for path in cycle(paths(who)):
        method = rng.choice(
            ["POST"] * 6 + ["GET"] * 3 + ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
        )
        query = "?" + fields(rng) if rng.random() < 0.3 else ""
        headers = {"Authorization": rng.choice(BEARERS)} if rng.random() < 0.1 else {}
        if rng.random() < 0.1:
            headers["Authorization"] = basic("kubesphere", SECRET)
        if rng.random() < 0.1:
            headers["HX-Request"] = "true"
        yield method, path + query, body(rng), rng.choice(KINDS), headers


def test_forms_and_endpoints_are_covered() -> None:
    found = set(paths())
    assert {
        "/login", "/login/confirm", "/login/second-factor", "/password/confirm", "/logout",
        "/oauth/token",
        "/oauth/authorize", "/oauth/authenticate", "/oauth/revoke", "/oauth/callback/x",
        "/account/tokens",
        "/account/second-factor", "/access/accounts/new",
    } <= found  # fmt: skip


@pytest.mark.parametrize("project", ["../../etc/passwd", "/", "A", "a" * 64, "\u202e", "a\nb"])
async def test_pages_accept_any_namespace_parameter(project: str) -> None:
    """The menu of every page contains a link to the selected project."""
    browser = Browser()
    await browser.login("admin")
    for path in ("/dashboard", "/account", "/access/accounts/new", "/access/rights", "/search"):
        answer = await browser.get(f"{path}?{urlencode({'namespace': project})}")
        assert answer.status_code < 500, path


@pytest.mark.parametrize("who", WHO)
async def test_hostile_input_everywhere(
    who: str, runtime: StaticRuntime, clock: MovableClock
) -> None:
    browser, name = Browser(), WHO[who]
    if who == "owing":
        secret = totp.new_secret()
        code = App(secret, clock).code()
        assert await sync_to_async(factors.enable)("alice", "uid-alice", secret, code, clock.now())
    if name:
        await browser.login(name)
    users = {name: dict(found) for name, found in runtime.console.of(USERS).items()}
    headers = {**browser.headers, "Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    seen, given = 0, inputs(who)
    while seen < number(len(paths(who)), 10_000):
        method, path, content, kind, more = next(given)
        if who != "nobody" and path.partition("?")[0] == "/logout" and method == "POST":
            continue
        seen += 1
        key = browser.key
        answer: Any = await browser.client.generic(
            method, path, content, kind, headers={**headers, **more}
        )
        assert answer.status_code < 500, (answer.status_code, method, path, content, kind, more)
        shown = b"" if answer.streaming else answer.content
        sent = unquote_plus(f"{path} {bytes(content).decode(errors='replace')}")
        assert HASH.encode() not in shown or HASH in sent, path
        assert PASSWORD.encode() not in shown, (method, path)
        location = answer.get("Location", "")
        assert location.startswith("/") and not location.startswith("//") or not location, location
        assert browser.key == key or who != "nobody", (method, path, content)
    after = runtime.console.of(USERS)
    # Administrators may create users, but can't change any, because the UID is unknown.
    kept = after if name != "admin" else {other: after[other] for other in users}
    assert {other: one for other, one in kept.items() if other != name} == {
        other: one for other, one in users.items() if other != name
    }
    for other, one in users.items():
        assert after[other]["metadata"].get("labels") == one["metadata"].get("labels")
        assert after[other]["spec"].get("password") == one["spec"].get("password")
    assert await Grant.objects.acount() == 0
    assert await SecondFactor.objects.acount() == int(who == "owing")
    assert await SignIn.objects.exclude(user=name).acount() == 0
    if who in ("nobody", "owing"):
        assert (await browser.get("/account")).status_code == 302
        assert await NamedToken.objects.acount() == 0
    if who == "nobody":
        assert await SignIn.objects.acount() == 0
    stored = [
        str([row async for row in table.objects.values()])
        for table in (AuditRecord, FailedAttempts)
    ]
    assert not any(CANARY in rows or HASH in rows for rows in stored)
