"""A user who must change the password can access only the password page."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import bcrypt
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.urls import get_resolver
from pytest_django import Settings

from accounts import time as accounts_time
from accounts.oauth.options import options
from accounts.public import PUBLIC_ROUTES
from accounts.signin import sessions
from accounts.signin.new_passwords import new_password_problem
from console.kube.errors import Conflict
from console.kube.gvr import GVR, USERS, Key
from console.kube.informer import Informer
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.oauth.conftest import Config
from tests.accounts.routes import routes
from tests.accounts.sockets import connect, from_ours
from tests.rbac.objects import user
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/password/confirm"
NEW = "Quarterdeck-7"
MARK = {"iam.kubesphere.io/uninitialized": "true"}


@pytest.fixture
async def pending(browser: Browser, users: Informer[Any], runtime: StaticRuntime) -> Browser:
    """admin, who must change the password."""
    put(runtime, user("admin", password=HASH, annotations=dict(MARK)))
    assert (await browser.login("admin")).status_code == 302
    return browser


def put(runtime: StaticRuntime, item: dict[str, Any]) -> None:
    runtime.console.put(USERS, item)


def stored(runtime: StaticRuntime, name: str = "admin") -> dict[str, Any]:
    found: dict[str, Any] = runtime.console.of(USERS)[name]
    return found


async def choose(browser: Browser, current: str = PASSWORD, **fields: str) -> Any:
    given = {"current": current, "password": NEW, "again": NEW, **fields}
    return await browser.post(PAGE, given)


async def test_all_pages_redirect_and_api_requests_are_refused(pending: Browser) -> None:
    private = [(n, p) for n, p in routes(get_resolver().url_patterns) if n not in PUBLIC_ROUTES]
    seen = 0
    for name, path in private:
        if name == "accounts:choose_password":
            continue
        seen += 1
        answer = await pending.get(path)
        assert answer.status_code == 302, path
        there = PAGE if path == "/" else f"{PAGE}?{urlencode({'next': path})}"
        assert answer["Location"] == there, path
        for refused in (await pending.post(path), await pending.get(path + "?format=json")):
            assert refused.status_code == 403, path
            assert refused.json()["message"] == "Choose a new password first."
        fragment = await pending.get(path, HX_Request="true")
        assert (fragment.status_code, fragment["HX-Redirect"]) == (403, PAGE)
    assert seen >= 15


async def test_public_routes_treat_the_user_as_anonymous(pending: Browser) -> None:
    own = await pending.get("/kapis/iam.kubesphere.io/v1alpha2/users/admin")
    assert (own.status_code, own.json()["kind"]) == (403, "Status")
    asked = "/oauth/authorize?response_type=code&client_id=x&redirect_uri=https://e.example/"
    assert (await pending.get(asked)).status_code == 400
    assert (await pending.get("/login"))["Location"] == "/"
    assert (await pending.get("/livez")).status_code == 200


async def test_websockets_are_refused_and_closed(browser: Browser, runtime: StaticRuntime) -> None:
    await browser.login("admin")
    _, scope = await connect(from_ours(browser))
    assert await scope["session_alive"]()
    put(runtime, user("admin", password=HASH, annotations=dict(MARK)))
    assert not await scope["session_alive"]()
    _, later = await connect(from_ours(browser))
    assert (later["account"], later["access_in"]) == (None, None)


async def test_the_page_changes_the_password_and_redirects(
    pending: Browser, runtime: StaticRuntime
) -> None:
    page = await pending.get(PAGE + "?next=/clusters/host/pods")
    text = page.content.decode()
    assert page.status_code == 200
    assert "You must change the password of admin before" in text
    assert 'href="/clusters/' not in text
    old = pending.key
    answer = await choose(pending, next="/clusters/host/pods")
    assert (answer.status_code, answer["Location"]) == (302, "/clusters/host/pods")
    found = stored(runtime)
    assert bcrypt.checkpw(NEW.encode(), found["spec"]["password"].encode())
    assert "iam.kubesphere.io/uninitialized" not in found["metadata"]["annotations"]
    assert found["metadata"]["annotations"]["iam.kubesphere.io/last-password-change-time"]
    assert pending.key != old
    assert (await pending.get("/dashboard")).status_code == 200
    thief = Browser()
    thief.key = old or ""
    assert (await thief.get("/dashboard"))["Location"].startswith("/login")
    assert (await Browser().login("admin")).status_code == 401
    assert (await Browser().login("admin", NEW)).status_code == 302


@pytest.mark.parametrize(("field", "code"), [("status", 302), ("spec", 409)])
async def test_only_concurrent_changes_of_the_spec_are_a_conflict(
    pending: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, field: str, code: int
) -> None:
    """The console's own sign-in can update the status at the same time."""
    patch, meanwhile = runtime.console.patch, [{"note": "first"}, {"note": "second"}]

    async def overtaken(gvr: GVR, body: dict[str, Any], **where: Any) -> dict[str, Any]:
        if "password" in body.get("spec", {}) and meanwhile:
            found = stored(runtime)
            put(runtime, {**found, field: {**found.get(field, {}), **meanwhile.pop()}})
            raise Conflict(409, "the object has been modified")
        done: dict[str, Any] = await patch(gvr, body, **where)
        return done

    monkeypatch.setattr(runtime.console, "patch", overtaken)
    assert (await choose(pending)).status_code == code
    changed = not bcrypt.checkpw(PASSWORD.encode(), stored(runtime)["spec"]["password"].encode())
    assert changed is (code == 302)


WRONG: list[tuple[dict[str, str], str]] = [
    ({"current": "wrong"}, "The current password is incorrect."),
    ({"current": ""}, "The current password is incorrect."),
    ({"again": NEW + "x"}, "The passwords don&#x27;t match."),
    (
        {"password": PASSWORD, "again": PASSWORD},
        "The new password must be different from the current password.",
    ),
    ({"password": "Short1", "again": "Short1"}, "Use 8 to 64 characters."),
    ({"password": "Password1", "again": "Password1"}, "password is too common"),
    ({"password": "Admin-12345", "again": "Admin-12345"}, "too similar to the username"),
    ({"password": "lowercase1", "again": "lowercase1"}, "an uppercase letter"),
    ({"password": "Aa1" + "é" * 40, "again": "Aa1" + "é" * 40}, "at most 72 bytes"),
    ({"password": HASH, "again": HASH}, ""),
    ({"password": "", "again": ""}, "Use 8 to 64 characters."),
    ({"password": "Aa1\0" + "x" * 9, "again": "Aa1\0" + "x" * 9}, ""),
]


@pytest.mark.parametrize(("fields", "text"), WRONG, ids=range(len(WRONG)))
async def test_invalid_passwords_are_reported(
    pending: Browser, runtime: StaticRuntime, fields: dict[str, str], text: str
) -> None:
    if fields.get("password") == HASH:
        # A string in hash format is an ordinary password, and is hashed.
        assert (await choose(pending, **fields)).status_code == 302
        assert stored(runtime)["spec"]["password"] != HASH
        return
    answer = await choose(pending, **fields)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert text in page
    assert 'role="alert"' in page and 'aria-invalid="true"' in page
    for secret in {NEW, *fields.values()} - {""}:
        assert secret not in page
    assert stored(runtime)["spec"]["password"] == HASH
    assert (await pending.get("/dashboard"))["Location"].startswith(PAGE)


async def test_wrong_current_passwords_count_as_failed_attempts(pending: Browser) -> None:
    for _ in range(10):
        assert (await choose(pending, "wrong")).status_code == 400
    answer = await choose(pending)
    assert answer.status_code == 400
    assert "Too many failed attempts" in answer.content.decode()
    assert (await Browser().login("admin")).status_code == 429


async def test_a_user_without_a_password_is_not_asked_for_the_current_one(
    pending: Browser, runtime: StaticRuntime, users: Informer[Any]
) -> None:
    labels = {"iam.kubesphere.io/identify-provider": "ldap"}
    await pending.post("/logout")
    put(runtime, user("admin", labels=labels, annotations=dict(MARK), uid="other"))
    browser = await session_of(users, "admin")
    page = await browser.get(PAGE)
    assert "Current password" not in page.content.decode()
    answer = await browser.post(PAGE, {"password": NEW, "again": NEW})
    assert answer.status_code == 302
    assert (await Browser().login("admin", NEW)).status_code == 302


async def session_of(users: Informer[Any], name: str) -> Browser:
    """Return a browser with a session as an identity provider's sign-in creates it."""
    entry = users.store.get(Key("", name))
    assert entry is not None
    session = SessionStore()
    await sessions.start_session(session, entry.projection, accounts_time.now())
    await session.asave(must_create=True)
    browser = Browser()
    browser.key = session.session_key or ""
    return browser


async def test_the_user_can_sign_out(pending: Browser) -> None:
    assert (await pending.post("/logout"))["Location"] == "/login"
    assert await Session.objects.acount() == 0


async def test_other_users_are_redirected(browser: Browser) -> None:
    assert (await browser.get(PAGE))["Location"].startswith("/login?next=")
    await browser.login("alice")
    assert (await browser.get(PAGE))["Location"] == "/account"
    assert (await choose(browser))["Location"] == "/account"


async def test_an_unavailable_database_returns_503(
    pending: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr("accounts.protection.attempts.count_attempt", fail)
    assert (await choose(pending)).status_code == 503


@pytest.mark.parametrize("value", ["true", "1", "False"])
async def test_other_annotation_values_require_a_change(
    browser: Browser, runtime: StaticRuntime, value: str
) -> None:
    mark = {"iam.kubesphere.io/uninitialized": value}
    put(runtime, user("alice", password=HASH, annotations=mark))
    await browser.login("alice")
    assert (await browser.get("/dashboard"))["Location"].startswith(PAGE)


@pytest.mark.parametrize("value", ["false", ""])
async def test_false_and_empty_annotation_values_require_no_change(
    browser: Browser, runtime: StaticRuntime, value: str
) -> None:
    mark = {"iam.kubesphere.io/uninitialized": value}
    put(runtime, user("alice", password=HASH, annotations=mark))
    await browser.login("alice")
    assert (await browser.get("/dashboard")).status_code == 200


@pytest.fixture
def optional(settings: Settings, tmp_path: Path) -> Config:
    """Configure the platform to let users keep a password set by an administrator."""
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    config = Config(tmp_path / "authentication.yaml")
    config.write(firstPassword="optional")
    return config


async def test_the_password_can_be_kept_if_configured(
    optional: Config, pending: Browser, runtime: StaticRuntime
) -> None:
    assert (await pending.get("/dashboard"))["Location"].startswith(PAGE)
    assert "Keep this password for now" in (await pending.get(PAGE)).content.decode()
    answer = await pending.post(PAGE, {"keep": "true", "next": "/clusters/host/pods"})
    assert (answer.status_code, answer["Location"]) == (302, "/clusters/host/pods")
    found = stored(runtime)
    assert "iam.kubesphere.io/uninitialized" not in found["metadata"]["annotations"]
    assert found["spec"]["password"] == HASH
    assert (await pending.get("/dashboard")).status_code == 200


async def test_the_password_cannot_be_kept_by_default(
    pending: Browser, runtime: StaticRuntime
) -> None:
    assert "Keep this password" not in (await pending.get(PAGE)).content.decode()
    assert (await pending.post(PAGE, {"keep": "true"})).status_code == 400
    assert stored(runtime)["metadata"]["annotations"] == MARK


async def test_invalid_keep_values_are_refused(
    optional: Config, pending: Browser, runtime: StaticRuntime
) -> None:
    assert (await pending.post(PAGE, {"keep": "1"})).status_code == 400
    assert stored(runtime)["metadata"]["annotations"] == MARK


async def test_an_invalid_setting_requires_the_change(
    optional: Config, pending: Browser, runtime: StaticRuntime
) -> None:
    optional.write(firstPassword="later")
    assert (await pending.post(PAGE, {"keep": "true"})).status_code == 400
    assert any("firstPassword must be optional or required" in one for one in options().problems)


@pytest.mark.parametrize(
    "password", ["P@88w0rd", "Quarterdeck-7", "Aa1" + "x" * 61, "éééééAa1", "Correct-Horse-1"]
)
def test_good_passwords(password: str) -> None:
    assert new_password_problem(password, name="alice", email="alice@example.com") == ""


@pytest.mark.parametrize(
    "password", ["Passw0rd1", "P@ssw0rd", "Alice@Example.com1", "xxAlice1", "Alice123456"]
)
def test_bad_passwords(password: str) -> None:
    assert new_password_problem(password, name="alice", email="alice@example.com")
