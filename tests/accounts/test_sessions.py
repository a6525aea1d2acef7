"""Session lifetime and revocation, and access without a session."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import get_resolver

from accounts.protection.revocation import ENDED_ANNOTATION
from accounts.public import PUBLIC_ROUTES
from accounts.signin import session_rows
from console.kube.gvr import USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from tests.accounts.conftest import HASH, PASSWORD, Browser, hashed
from tests.accounts.routes import routes
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, set_stale, take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

HOME = "/"
ENDED = "Your session has ended. Sign in again."


async def is_in(browser: Browser) -> bool:
    answer = await browser.get(HOME)
    assert answer.status_code == 302
    return not answer["Location"].startswith("/login")


async def assert_ended(browser: Browser) -> None:
    """Assert that the browser is redirected to sign-in with a reason, and that the session row is
    deleted.
    """
    answer = await browser.get(HOME)
    assert answer["Location"] == "/login?next=%2F&ended=1"
    assert browser.key is None
    page = await browser.get(answer["Location"])
    assert ENDED in page.content.decode()
    assert await Session.objects.acount() == 0


async def test_a_session_lasts_across_requests(browser: Browser) -> None:
    await browser.login("alice")
    for _ in range(3):
        assert await is_in(browser)


async def test_disabling_the_user_revokes_the_session(
    browser: Browser, users: Informer[Any]
) -> None:
    await browser.login("alice")
    bring(users, user("alice", password=HASH, state="Disabled"))
    await assert_ended(browser)
    bring(users, user("alice", password=HASH))
    assert not await is_in(browser)


async def test_a_lockout_keeps_the_session(browser: Browser, users: Informer[Any]) -> None:
    await browser.login("alice")
    bring(users, user("alice", password=HASH, state="AuthLimitExceeded"))
    assert await is_in(browser)


async def test_changing_the_password_revokes_the_session(
    browser: Browser, users: Informer[Any]
) -> None:
    await browser.login("alice")
    bring(users, user("alice", password=hashed(PASSWORD)))
    await assert_ended(browser)


async def test_deleting_the_user_revokes_the_session(
    browser: Browser, users: Informer[Any]
) -> None:
    await browser.login("alice")
    take_away(users, user("alice"))
    await assert_ended(browser)


async def test_a_recreated_user_does_not_inherit_the_session(
    browser: Browser, users: Informer[Any]
) -> None:
    await browser.login("alice")
    bring(users, user("alice", password=HASH, uid="another"))
    await assert_ended(browser)


async def test_a_session_expires_twelve_hours_after_sign_in(
    browser: Browser, clock: MovableClock
) -> None:
    await browser.login("alice")
    for _ in range(11):
        clock.move(hours=1)
        assert await is_in(browser)
    clock.move(minutes=59)
    assert await is_in(browser)
    clock.move(minutes=1)
    await assert_ended(browser)


async def test_use_does_not_extend_the_expiry_date(browser: Browser, clock: MovableClock) -> None:
    answer = await browser.login("alice")
    end = (await Session.objects.aget()).expire_date
    assert abs((end - clock.now()).total_seconds() - 12 * 3600) < 1
    assert answer.cookies["__Host-quarterdeck"]["max-age"] in range(12 * 3600 - 5, 12 * 3600 + 1)
    clock.move(hours=1)
    await browser.get(HOME)
    row = await Session.objects.aget()
    assert row.expire_date == end
    assert row.get_decoded()["seen"] == clock.now().timestamp()


async def test_a_session_expires_two_hours_after_the_last_use(
    browser: Browser, clock: MovableClock
) -> None:
    await browser.login("alice")
    clock.move(minutes=119)
    assert await is_in(browser)
    clock.move(minutes=119)
    assert await is_in(browser)
    clock.move(minutes=120)
    await assert_ended(browser)


async def test_the_last_use_is_saved_once_per_minute(browser: Browser, clock: MovableClock) -> None:
    await browser.login("alice")
    before = (await Session.objects.aget()).session_data
    clock.move(seconds=59)
    assert "__Host-quarterdeck" not in (await browser.get(HOME)).cookies
    assert (await Session.objects.aget()).session_data == before
    clock.move(seconds=1)
    await browser.get(HOME)
    assert (await Session.objects.aget()).session_data != before


@pytest.mark.parametrize("key", ["x", "a" * 32, "ü", "'; --", "\\000", "a" * 4000])
async def test_an_invalid_session_cookie_is_deleted(browser: Browser, key: str) -> None:
    browser.key = key
    answer = await browser.get(HOME)
    assert answer["Location"] == "/login?next=%2F&ended=1"
    browser.key = key
    page = await browser.get("/login")
    assert page.status_code == 200
    assert ENDED in page.content.decode()
    assert browser.key is None


@pytest.mark.parametrize("change", ["data", "since", "seen", "uid"])
async def test_a_modified_session_row_is_refused(browser: Browser, change: str) -> None:
    await browser.login("alice")
    row = await Session.objects.aget()
    if change == "data":
        row.session_data = row.session_data[:-2]
    else:
        content = row.get_decoded()
        content[change] = {"since": "x", "seen": float("inf"), "uid": None}[change]
        row.session_data = Session.objects.encode(content)
    await row.asave()
    assert not await is_in(browser)


async def test_signing_out_invalidates_copies_of_the_cookie(browser: Browser) -> None:
    await browser.login("alice")
    copy = Browser()
    copy.key = browser.key or ""
    answer = await browser.post("/logout")
    assert (answer.status_code, answer["Location"]) == (302, "/login")
    assert browser.key is None
    assert await Session.objects.acount() == 0
    assert not await is_in(copy)


async def test_signing_out_notifies_open_websockets(
    browser: Browser, runtime: StaticRuntime, clock: MovableClock
) -> None:
    """Applies to all replicas: they check the websockets of a user when the User changes."""
    await browser.login("alice")
    await browser.post("/logout")
    annotations = runtime.console.of(USERS)["alice"]["metadata"]["annotations"]
    assert annotations[ENDED_ANNOTATION] == clock.now().isoformat()
    # Without a session there are no websockets to notify.
    calls = list(runtime.console.calls)
    await browser.post("/logout")
    assert runtime.console.calls == calls


async def test_signing_out_requires_a_same_origin_post(browser: Browser) -> None:
    await browser.login("alice")
    assert (await browser.get("/logout")).status_code == 405
    assert (await browser.post("/logout", Sec_Fetch_Site="cross-site")).status_code == 403
    assert await is_in(browser)


async def test_signing_out_twice_is_not_an_error(browser: Browser) -> None:
    assert (await browser.post("/logout"))["Location"] == "/login"


async def test_a_session_survives_unsynced_users(
    browser: Browser, runtime: StaticRuntime, users: Informer[Any]
) -> None:
    await browser.login("alice")
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    answer = await browser.get(HOME)
    assert answer.status_code == 503
    runtime._informers[USERS] = users
    assert await is_in(browser)


async def test_an_unavailable_database_returns_503_and_keeps_the_session(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.login("alice")

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("the server closed the connection")

    with monkeypatch.context() as away:
        away.setattr(session_rows, "_read", fail)
        answer = await browser.get(HOME)
        assert answer.status_code == 503
        data = await browser.get(HOME + "?format=json")
        assert (data.status_code, data.json()["reason"]) == (503, "ServiceUnavailable")
        assert (await browser.get("/livez")).status_code == 200
    assert await is_in(browser)


@pytest.fixture
async def unwritable(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[[], Any]]:
    """Return a function that makes the database read-only, as on a full disk."""
    monkeypatch.setattr(session_rows, "_rest_until", 0.0)

    @sync_to_async
    def only_read(so: bool) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA query_only = {so:d}")

    yield lambda: only_read(True)
    await only_read(False)


async def test_pages_work_with_a_read_only_database(
    browser: Browser, clock: MovableClock, unwritable: Callable[[], Any]
) -> None:
    await browser.login("alice")
    await unwritable()
    for _ in range(3):
        clock.move(minutes=2)
        assert await is_in(browser)


async def test_failed_session_writes_are_not_repeated_for_each_request(
    browser: Browser,
    clock: MovableClock,
    unwritable: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each attempt on a full or locked disk takes time."""
    await browser.login("alice")
    await unwritable()
    tried, save = [], session_rows.SessionStore.save

    def count(self: session_rows.SessionStore, must_create: bool = False) -> None:
        tried.append(self.session_key)
        save(self, must_create)

    monkeypatch.setattr(session_rows.SessionStore, "save", count)
    for _ in range(5):
        clock.move(minutes=2)
        assert await is_in(browser)
    assert len(tried) == 1


async def test_sign_in_with_a_read_only_database_is_reported(
    browser: Browser, unwritable: Callable[[], Any]
) -> None:
    await unwritable()
    answer = await browser.login("alice")
    assert answer.status_code == 503
    assert "Signing in is not possible: the database is not available." in answer.content.decode()
    assert browser.key is None


async def test_a_session_ends_with_a_read_only_database(
    browser: Browser, users: Informer[Any], unwritable: Callable[[], Any]
) -> None:
    await browser.login("alice")
    await unwritable()
    take_away(users, user("alice"))
    answer = await browser.get(HOME)
    assert answer["Location"] == "/login?next=%2F&ended=1"
    assert browser.key is None


async def test_a_stale_cache_keeps_sessions(browser: Browser, users: Informer[Any]) -> None:
    await browser.login("alice")
    set_stale(users, datetime.fromisoformat("2026-01-01T00:00:00Z"))
    assert await is_in(browser)


# Without a session.


def test_the_public_routes_exist() -> None:
    names = {name for name, _ in routes(get_resolver().url_patterns)}
    assert names >= PUBLIC_ROUTES


async def test_all_other_routes_require_sign_in(browser: Browser) -> None:
    private = [(n, p) for n, p in routes(get_resolver().url_patterns) if n not in PUBLIC_ROUTES]
    assert len(private) >= 3
    for _name, path in private:
        assert "<" not in path
        for answer in (await browser.get(path), await browser.post(path)):
            assert answer.status_code == 302, path
            assert answer["Location"].startswith("/login?next=%2F"), path
        data = await browser.get(path + "?format=json")
        assert data.status_code == 401
        assert data.json()["reason"] == "Unauthorized"
        assert "Location" not in data
        fragment = await browser.get(path, HX_Request="true")
        assert fragment.status_code == 401
        assert fragment["HX-Redirect"].startswith("/login?next=")


async def test_public_routes_require_no_sign_in(browser: Browser) -> None:
    assert (await browser.get("/login")).status_code == 200
    assert (await browser.get("/livez")).status_code == 200
    assert (await browser.get("/nowhere")).status_code == 404


@pytest.mark.parametrize(
    "path", ["//login/../dashboard", "/login/dashboard", "/LOGIN", "/login%2f..%2fdashboard"]
)
async def test_paths_similar_to_public_ones_are_private(browser: Browser, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code in (302, 404)
    if answer.status_code == 302:
        assert answer["Location"].startswith("/login?next=")


def test_sessions_work_with_a_synchronous_server() -> None:
    client = Client(headers={"Host": "console.example.com"})
    answer = client.post("/login", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 302
    assert client.get(HOME)["Location"] == "/dashboard"
    assert (
        Client(headers={"Host": "console.example.com"}).get(HOME)["Location"].startswith("/login")
    )
