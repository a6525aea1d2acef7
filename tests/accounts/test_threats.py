"""Threats to sign-in that concern every URL: cookies, cross-site requests, and anonymous access.

`docs/asvs.md` lists which test covers which requirement.
"""

import asyncio
import logging
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from django.urls import get_resolver
from pytest_django import Settings

from accounts.myaccount.profile import is_address
from accounts.oauth.options import Limits
from accounts.protection import attempts
from accounts.public import PUBLIC_ROUTES
from console.audit.models import AuditRecord
from console.kube.gvr import USERS
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.oauth.conftest import Config, Program
from tests.accounts.routes import routes
from tests.rbac.fakes import MovableClock
from tests.support.depth import fewer, number, some
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def config(settings: Settings, tmp_path: Path) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


def every_route() -> list[tuple[str, str]]:
    return routes(get_resolver().url_patterns)


# S2: cookies.


async def test_all_cookies_are_host_only_secure_and_http_only(settings: Settings) -> None:
    settings.LANGUAGE_COOKIE_NAME = "__Host-quarterdeck-lang"
    settings.LANGUAGE_COOKIE_SECURE = True
    seen: set[str] = set()
    browser = Browser()
    answers = [await browser.get("/login"), await browser.login("alice")]
    fields = {"language": "en", "theme": "dark", "email": "alice@example.com"}
    answers.append(await browser.post("/account/profile", fields))
    for _name, path in some("cookies", every_route(), 40):
        answers += [await browser.get(path), await browser.post(path, fields)]
        if browser.key is None:
            answers.append(await browser.login("alice"))
    for answer in answers:
        cookies: SimpleCookie = answer.cookies
        for name, morsel in cookies.items():
            seen.add(name)
            if not morsel.value:
                # The cookie is being deleted.
                continue
            assert morsel["httponly"] and morsel["secure"], name
            assert morsel["samesite"] == "Lax" and morsel["path"] == "/", name
            assert not morsel["domain"], name
            assert len(morsel.OutputString()) <= 4096, name
    assert {"__Host-quarterdeck", "__Host-quarterdeck-csrf"} <= seen


# S3: cross-site requests.

FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "https://console.example.com:30080", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "http://console.example.com", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "https://console.example.com.evil.example"},
]

#: Content types. In the gate, each URL and method is tested with one of them.
TYPES = ("application/x-www-form-urlencoded", "text/plain", "application/json")


@pytest.mark.parametrize("foreign", FOREIGN, ids=range(len(FOREIGN)))
async def test_cross_site_requests_are_refused_everywhere(
    foreign: dict[str, str], runtime: StaticRuntime
) -> None:
    browser = Browser()
    await browser.login("admin")
    before, seen = list(runtime.console.calls), 0
    for _name, path in every_route():
        # Forms use POST. The middleware treats the other methods alike.
        others = some(f"{foreign} {path}", ("PUT", "PATCH", "DELETE"), 1)
        for method in ("POST", *others):
            for kind in some(f"{method} {path}", TYPES, 1):
                headers = {"Host": "console.example.com", **foreign}
                answer = await browser.client.generic(method, path, b"a=b", kind, headers=headers)
                assert answer.status_code == 403, (method, path)
                seen += 1
    assert seen > 300
    assert runtime.console.calls == before
    assert (await browser.get("/account")).status_code == 200


# S4: lockouts persist.


def test_attempts_for_unknown_names_do_not_evict_counters(clock: MovableClock) -> None:
    limits = Limits()
    for _ in range(limits.tries):
        attempts.count_attempt("admin", "", limits, clock.now())
    for at in range(number(1_000, 3_000)):
        attempts.count_attempt(f"nobody-{at}", "", limits, clock.now())
    for name in ("admin", "ADMIN", " admin", "ａｄｍｉｎ"):
        assert attempts.count_attempt(name, "", limits, clock.now()).wait is not None, name


# S6: hashes.


async def test_a_hash_entered_as_a_password_is_hashed(
    browser: Browser, runtime: StaticRuntime
) -> None:
    """KubeSphere would store it as the hash, and the corresponding password would give access to
    the account.
    """
    await browser.login("alice")
    fields = {"current": PASSWORD, "password": HASH, "again": HASH}
    answer = await browser.post("/account/password", fields)
    stored = runtime.console.of(USERS)["alice"]["spec"]["password"]
    assert stored != HASH or answer.status_code == 400
    if answer.status_code == 302:
        assert (await Browser().login("alice", PASSWORD)).status_code == 401
        assert (await Browser().login("alice", HASH)).status_code == 302


# S7: no default password.


async def test_sign_in_is_refused_without_users(runtime: StaticRuntime) -> None:
    runtime._informers[USERS] = preloaded(USERS)
    for name in ("admin", "admin@kubesphere.io", "admin@quarterdeck.local", "root"):
        for known in (PASSWORD, "admin", "kubesphere", ""):
            assert (await Browser().login(name, known)).status_code == 401
            assert (await Program().login(name, known or "x")).status_code == 400


def test_only_the_demo_contains_the_default_password_of_kubesphere() -> None:
    folders = (ROOT / name for name in ("accounts", "console", "rbac"))
    sources = (path for folder in folders for path in folder.rglob("*.py"))
    assert [path.name for path in sources if PASSWORD in path.read_text()] == ["demo.py"]


# S8: email addresses are for display only.


@pytest.mark.parametrize(
    "address", ["a@b@c", "admin@x@example.com", "", "@", "a@", "a b@c", "a@b\n"]
)
def test_invalid_email_addresses(address: str) -> None:
    assert not is_address(address)


# T8: secrets are not exposed.


async def test_secrets_are_not_in_logs_or_the_audit_trail(
    caplog: pytest.LogCaptureFixture, runtime: StaticRuntime
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "Canary-of-a-Password-7"
    browser, program = Browser(), Program()
    for name in ("alice", "nobody", canary):
        await browser.login(name, canary)
        await browser.post("/login", {"username": name, "encrypt": canary})
        await program.login(name, canary, totp="654321")
        await program.token("refresh_token", refresh_token=canary)
        await program.token("authorization_code", code=canary, redirect_uri=canary)
        await program.get("/oauth/userinfo", canary)
        await program.get(f"/clusters/host/pods?access_token={canary}")
        await browser.get(f"/oauth/callback/x?code={canary}&state={canary}")
        await browser.post("/oauth/backchannel/x", {"logout_token": canary})
    tokens = await program.signed_in("alice")
    await program.get("/oauth/userinfo", tokens["access_token"])
    await program.refresh(tokens["refresh_token"])
    await browser.login("alice")
    fields = {"current": PASSWORD, "password": canary, "again": canary}
    await browser.post("/account/password", fields)
    key = browser.key
    await asyncio.sleep(0)
    secrets = [canary, PASSWORD, HASH, tokens["access_token"], tokens["refresh_token"], str(key)]
    logs = "\n".join(f"{one.getMessage()} {one.args}" for one in caplog.records if ours(one))
    trail = str([row async for row in AuditRecord.objects.values()])
    for secret in secrets:
        assert secret not in logs and secret not in trail


def ours(record: logging.LogRecord) -> bool:
    """Return True for records that are logged in production, which excludes debug messages of
    libraries.
    """
    return record.levelno >= logging.INFO or record.name.startswith(("accounts", "console", "rbac"))


# T9: anonymous access.

#: Names of all routes that return 200 for anonymous requests.
OPEN = {
    "accounts:login", "accounts:login_through", "accounts:oauth:discovery",
    "accounts:oauth:discovery_below", "accounts:oauth:keys", "livez", "readyz",
}  # fmt: skip
DISCOVERY = {
    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri",
    "revocation_endpoint", "scopes_supported", "response_types_supported", "response_modes_supported",
    "grant_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported",
    "token_endpoint_auth_methods_supported", "revocation_endpoint_auth_methods_supported",
    "code_challenge_methods_supported", "claims_supported", "prompt_values_supported",
    "authorization_response_iss_parameter_supported", "request_uri_parameter_supported",
}  # fmt: skip
KEYS = {"kty", "kid", "use", "alg", "crv", "x", "y", "n", "e"}


async def test_anonymous_users_can_open_exactly_these_routes() -> None:
    found = set()
    for name, path in every_route():
        answer: Any = await Browser().get(path)
        assert answer.status_code < 500 or name == "readyz", path
        if answer.status_code == 200:
            found.add(name)
            assert b"alice" not in answer.content and b"spec" not in answer.content, path
    assert found | {"readyz"} == OPEN
    assert found <= PUBLIC_ROUTES
    assert set((await Browser().get("/.well-known/openid-configuration")).json()) == DISCOVERY
    for key in (await Browser().get("/oauth/keys")).json()["keys"]:
        assert set(key) <= KEYS


@pytest.mark.parametrize("who", fewer(["", "admin"], "admin"))
async def test_no_route_sends_cors_headers(who: str) -> None:
    browser = Browser()
    if who:
        await browser.login(who)
    for _name, path in every_route():
        for method in ("GET", "OPTIONS"):
            headers = {"Host": "console.example.com", "Origin": "https://evil.example"}
            answer = await browser.client.generic(
                method, path, headers={**headers, "Access-Control-Request-Method": "POST"}
            )
            assert not [
                name for name in answer.headers if name.lower().startswith("access-control")
            ]
