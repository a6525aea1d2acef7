"""Sign-in with name and password: success and every kind of refusal."""

import asyncio
import os
import re
import sys
import threading
from datetime import timedelta
from typing import Any

import bcrypt
import pytest
from django.contrib.sessions.models import Session
from django.db import DatabaseError

from accounts.signin import passwords
from console.audit.models import AuditRecord
from console.kube.gvr import USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from tests.accounts.conftest import DEAR, HASH, PASSWORD, Browser, OneHost, hashed
from tests.accounts.refused_passwords import REFUSED
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, set_stale
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

WRONG = "Incorrect username or password."
PODS = "/clusters/host/pods"


@pytest.mark.parametrize("name", ["alice", "alice@example.com", "bob", "no-mail"])
async def test_name_or_email_with_the_correct_password_signs_in(
    browser: Browser, name: str
) -> None:
    answer = await browser.login(name)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    cookie = answer.cookies["__Host-quarterdeck"]
    assert cookie["httponly"] and cookie["secure"]
    assert (cookie["samesite"], cookie["path"], cookie["domain"]) == ("Lax", "/", "")
    assert (await browser.get("/login"))["Location"] == "/"


@pytest.mark.parametrize(("name", "password"), REFUSED, ids=range(len(REFUSED)))
async def test_all_wrong_credentials_get_the_same_response(
    browser: Browser, name: str, password: str
) -> None:
    answer = await browser.login(name, password)
    assert answer.status_code == 401
    assert WRONG in answer.content.decode()
    assert browser.key is None
    assert await Session.objects.acount() == 0


def page_of(answer: Any) -> str:
    """Return the page without values that differ for each request."""
    form = answer.context["form"]
    text: str = answer.content.decode()
    for changing in (form.username, answer.context["request"].csp_nonce):
        text = text.replace(changing, "")
    text = text.replace(str(answer.context["csrf_token"]), "")
    # The time of rendering, in seconds.
    return re.sub(r'"[0-9]{10}"', '""', text)


async def test_unknown_wrong_and_disabled_get_the_same_page(browser: Browser) -> None:
    names = ("nobody", "alice", "disabled", "provider", "plain")
    first, *others = [page_of(await Browser().login(name, "wrong")) for name in names]
    for other in others:
        assert other == first


@pytest.mark.parametrize(("name", "password"), REFUSED, ids=range(len(REFUSED)))
@pytest.mark.usefixtures("real_hashes")
async def test_every_refusal_compares_exactly_one_hash(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, name: str, password: str, users: Any
) -> None:
    """Compares the work instead of measuring time."""
    bring(users, user("alice", password=DEAR))
    checked: list[bytes] = []

    def check(_given: bytes, stored: bytes) -> bool:
        checked.append(stored)
        return False

    monkeypatch.setattr(bcrypt, "checkpw", check)
    assert (await browser.login(name, password)).status_code == 401
    assert [stored[4:6] for stored in checked] == [b"10"]


async def test_a_password_beyond_72_bytes_is_refused(
    browser: Browser, users: Informer[Any]
) -> None:
    long = "Aa1" + "\u00e9" * 40
    cut = long.encode()[:72]
    bring(users, user("alice", password=bcrypt.hashpw(cut, bcrypt.gensalt(4)).decode()))
    assert (await browser.login("alice", long)).status_code == 401
    exact = "a" * 72
    bring(users, user("alice", password=hashed(exact)))
    assert (await browser.login("alice", exact)).status_code == 302


@pytest.mark.parametrize("kind", ["$2a$", "$2y$", "$2b$"])
async def test_bcrypt_hashes_of_other_implementations_are_accepted(
    browser: Browser, users: Informer[Any], kind: str
) -> None:
    bring(users, user("alice", password=kind + HASH[4:]))
    assert (await browser.login("alice")).status_code == 302


@pytest.mark.parametrize(
    "stored",
    ["$2b$10$short", "$2x$" + HASH[4:], "$2b$31$" + HASH[7:], HASH + "x", "{SHA}x"],
    ids=["short", "kind", "cost", "long", "sha"],
)
async def test_invalid_hashes_are_refused(
    browser: Browser, users: Informer[Any], stored: str
) -> None:
    bring(users, user("alice", password=stored))
    assert (await browser.login("alice")).status_code == 401
    assert (await browser.login("alice", stored)).status_code == 401


async def test_password_checks_do_not_block_the_event_loop(users: Informer[Any]) -> None:
    bring(users, user("alice", password=hashed(PASSWORD, 10)))
    worst = 0.0
    done = False

    async def watch() -> None:
        nonlocal worst
        loop = asyncio.get_running_loop()
        while not done:
            began = loop.time()
            await asyncio.sleep(0.005)
            worst = max(worst, loop.time() - began)

    watching = asyncio.create_task(watch())
    results = await asyncio.gather(*(passwords.matches("x", hashed("y")) for _ in range(50)))
    done = True
    await watching
    assert results == [False] * 50
    assert worst < 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness of their own")
async def test_password_checks_run_in_threads_with_low_priority() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert await passwords._run(niceness) == min(19, niceness() + passwords.NICENESS)


async def test_excess_sign_ins_get_503(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords._places, "acquire", lambda blocking: False)
    answer = await browser.login("alice")
    assert answer.status_code == 503
    assert "Too many users" in answer.content.decode()
    assert browser.key is None


# Redirects.

GOOD = ("/", "/dashboard", PODS, f"{PODS}?namespace=shop&q=web", "/clusters/host/pods?q=%20a")
BAD = (
    "//evil.example", "/\\evil.example", "\\\\evil.example", "/%09/evil.example", "/%5cevil.example",
    "https:evil.example", "https://evil.example", "http:/evil.example", "javascript:alert(1)",
    "/x%0d%0aSet-Cookie:a=b", "/dashboard\r\nSet-Cookie: a=b", "/dashboard\t", " /dashboard",
    "/%2fevil.example", "/.//evil.example", "///evil.example", "/nowhere", "dashboard", "?next=/",
    "/login", "/login?next=/login", "/logout", "/livez", "/i18n/language", "/\u2215evil.example",
    "/dashboard\0", "/" + "a" * 5000, "",
)  # fmt: skip


@pytest.mark.parametrize("target", GOOD)
async def test_sign_in_redirects_to_the_requested_page(browser: Browser, target: str) -> None:
    page = await browser.get("/login?" + "next=" + target.replace("%", "%25").replace("&", "%26"))
    assert page.context["form"].next == target
    wrong = await browser.login("alice", "wrong", next=target)
    assert wrong.context["form"].next == target
    assert (await browser.login("alice", next=target))["Location"] == target


@pytest.mark.parametrize("target", BAD, ids=range(len(BAD)))
async def test_unsafe_redirect_targets_are_ignored(browser: Browser, target: str) -> None:
    assert (await browser.login("alice", next=target))["Location"] == "/"


# Session key.


async def test_sign_in_invalidates_the_previous_session_key(
    browser: Browser,
) -> None:
    await browser.login("alice")
    first = browser.key
    assert first is not None
    await browser.login("admin")
    assert browser.key != first
    thief = Browser()
    thief.key = first
    assert (await thief.get("/dashboard"))["Location"].startswith("/login")
    assert await Session.objects.acount() == 1


async def test_a_session_key_set_by_the_browser_is_not_adopted(browser: Browser) -> None:
    browser.key = "a" * 32
    await browser.login("alice")
    assert browser.key != "a" * 32


# Form.


async def test_the_form_works_without_javascript_and_requires_a_csrf_token() -> None:
    client, host = OneHost(enforce_csrf_checks=True), {"Host": "console.example.com"}
    page = await client.get("/login", headers=host)
    assert page.status_code == 200
    form = {"username": "alice", "password": PASSWORD}
    assert (await client.post("/login", form, headers=host)).status_code == 403
    token = str(page.context["csrf_token"])
    answer = await client.post("/login", {**form, "csrfmiddlewaretoken": token}, headers=host)
    assert answer.status_code == 302


async def test_a_malformed_body_is_not_a_server_error(browser: Browser) -> None:
    for body, kind in (
        (b"username=alice&password=%ff%fe%00", "application/x-www-form-urlencoded"),
        (b"\xff\x00\xfe", "application/x-www-form-urlencoded"),
        (b'{"username": "alice"}', "application/json"),
        (b"x", "multipart/form-data; boundary=y"),
        (b"", "text/plain"),
    ):
        answer = await browser.client.post(
            "/login", data=body, content_type=kind, headers=browser.headers
        )
        assert answer.status_code in (400, 401)


async def test_the_csrf_token_changes_at_sign_in(browser: Browser) -> None:
    await browser.get("/login")
    before = browser.client.cookies["__Host-quarterdeck-csrf"].value
    await browser.login("alice")
    assert browser.client.cookies["__Host-quarterdeck-csrf"].value != before


async def test_cross_site_sign_in_is_refused(browser: Browser) -> None:
    form = {"username": "alice", "password": PASSWORD}
    for headers in (
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "null"},
        {"Origin": "https://console.example.com:30080"},
    ):
        assert (await browser.post("/login", form, **headers)).status_code == 403
    assert browser.key is None


async def test_the_password_is_not_on_the_page(browser: Browser) -> None:
    answer = await browser.login("alice", "canary-2f9c")
    assert "canary-2f9c" not in answer.content.decode()


# Users not loaded.


@pytest.mark.parametrize("method", ["get", "post"])
async def test_unsynced_users_are_reported(
    browser: Browser, runtime: StaticRuntime, method: str
) -> None:
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    answer = await (browser.get("/login") if method == "get" else browser.login("alice"))
    assert answer.status_code == 503
    assert "the users are not loaded" in answer.content.decode()
    assert await AuditRecord.objects.acount() == 0


async def test_sign_in_is_refused_with_a_stale_cache(
    browser: Browser, users: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovableClock()
    monkeypatch.setattr("accounts.time.clock", clock)
    set_stale(users, clock.now() - timedelta(seconds=299))
    assert (await browser.login("alice")).status_code == 302
    set_stale(users, None)
    set_stale(users, clock.now() - timedelta(seconds=300))
    assert (await Browser().login("alice")).status_code == 503


# Audit trail.


async def test_signing_in_and_out_is_audited(browser: Browser) -> None:
    await browser.login("alice", "wrong")
    await browser.login("hunter2-typed-in-the-wrong-field", "x")
    await browser.login("alice@example.com")
    await browser.post("/logout")
    rows = [row async for row in AuditRecord.objects.order_by("id")]
    assert [(row.actor, row.verb, row.code, row.reason) for row in rows] == [
        ("alice", "login", 401, "WrongPassword"),
        ("", "login", 401, "UnknownUser"),
        ("alice", "login", 200, ""),
        ("alice", "logout", 200, ""),
    ]
    assert {row.resource for row in rows} == {"sessions"}
    assert "hunter2" not in "".join(str(vars(row)) for row in rows)


async def test_sign_in_is_refused_without_an_audit_record(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("attempt to write a readonly database")

    monkeypatch.setattr(AuditRecord, "save", fail)
    answer = await browser.login("alice")
    assert answer.status_code == 503
    assert "database" in answer.content.decode()
    assert browser.key is None
    assert await Session.objects.acount() == 0


async def test_signing_out_works_without_an_audit_record(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.login("alice")

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("attempt to write a readonly database")

    monkeypatch.setattr(AuditRecord, "save", fail)
    assert (await browser.post("/logout")).status_code == 302
    assert await Session.objects.acount() == 0


async def test_sign_in_fails_if_the_session_cannot_be_saved(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(Session, "save", fail)
    monkeypatch.setattr(Session, "asave", fail)
    answer = await browser.login("alice")
    assert answer.status_code == 503
    row = await AuditRecord.objects.aget()
    assert row.code == 0
