""" "My account": users view and change only their own account."""

import asyncio
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.db import DatabaseError

from accounts.models import SignIn
from accounts.protection import browser_sessions
from accounts.signin.asgi import SessionAuthMiddleware
from console.audit.models import AuditRecord
from console.drafts.store import DraftContent, DraftKey, drafts_of, store_draft
from console.kube.gvr import LOGIN_RECORDS, SERVICES, USERS, Key
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.live.sessionmonitor import SessionMonitor
from console.proxying.store import PortOwner, open_port, open_ports, open_ports_of
from console.proxying.target import ProxyTarget
from console.routing import websocket_application
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.login_records import record
from tests.accounts.sockets import from_ours
from tests.rbac.fakes import START, MovableClock, merged
from tests.rbac.objects import user
from tests.support.informers import take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNT = "/account"
NEW = "Quarterdeck-7"


@pytest.fixture
async def alice(browser: Browser) -> Browser:
    await browser.login("alice")
    return browser


def stored(runtime: StaticRuntime, name: str = "alice") -> dict[str, Any]:
    found: dict[str, Any] = runtime.console.of(USERS)[name]
    return found


async def is_in(browser: Browser) -> bool:
    return not (await browser.get("/dashboard")).headers.get("Location", "").startswith("/login")


async def test_the_page_has_four_parts_in_order(alice: Browser) -> None:
    text = (await alice.get(ACCOUNT)).content.decode()
    places = [text.index(f'id="{part}"') for part in ("profile", "password", "history", "sessions")]
    assert places == sorted(places)
    assert "alice@example.com" in text
    assert "This browser" in text
    assert 'href="/account"' in text


# Drafts.


async def test_drafts_of_the_user_are_listed_and_discarded(alice: Browser) -> None:
    content = DraftContent("kind: Deployment", title="checkout-api", step="containers")
    keys = [DraftKey(who, "host", "deployments", "", f"#{'a' * 16}") for who in ("alice", "bob")]
    edited = DraftKey("alice", "host", "configmaps", "shop", "cart")
    done = DraftKey("alice", "host", "services", "", f"#{'b' * 16}")

    def store() -> None:
        for key in keys:
            store_draft(key, content, 0)
        store_draft(edited, DraftContent("a", "b", "uid"), 0)
        store_draft(done, DraftContent("", made="[]"), 0)

    await asyncio.to_thread(store)
    text = (await alice.get(ACCOUNT)).content.decode()
    assert f'href="/clusters/host/new/deployments/{"a" * 16}/containers"' in text
    assert "checkout-api" in text
    assert 'href="/clusters/host/projects/shop/configmaps/cart/edit?draft=continue"' in text
    assert "b" * 16 not in text
    own, theirs = await asyncio.to_thread(lambda: (drafts_of("alice"), drafts_of("bob")))
    for one in (*own, *theirs, *own):
        answer = await alice.post(ACCOUNT + "/drafts/discard", {"draft": str(one.number)})
        assert (answer.status_code, answer["Location"]) == (302, f"{ACCOUNT}#drafts")
    await alice.post(ACCOUNT + "/drafts/discard", {"draft": "x"})
    assert 'id="drafts"' not in (await alice.get(ACCOUNT)).content.decode()
    assert len(await asyncio.to_thread(drafts_of, "bob")) == 1


# Ports.


async def test_open_ports_of_the_user_are_listed_and_closed(alice: Browser) -> None:
    target = ProxyTarget(SERVICES, Key("shop", "web"), 8443, "https")
    for who in ("alice", "bob"):
        await asyncio.to_thread(open_port, PortOwner(who, who, "another", "host"), target, "")
    own, theirs = await asyncio.to_thread(lambda: (open_ports_of("alice"), open_ports_of("bob")))
    text = (await alice.get(ACCOUNT)).content.decode()
    assert "https:web:8443" in text and own[0].label in text and theirs[0].label not in text
    for label in ("", theirs[0].label, own[0].label, own[0].label):
        answer = await alice.post(ACCOUNT + "/ports/close", {"port": label})
        assert (answer.status_code, answer["Location"]) == (302, f"{ACCOUNT}#ports")
    text = (await alice.get(ACCOUNT)).content.decode()
    assert "Port closed." in text and text.count("no longer open") == 3
    assert 'id="ports"' not in text
    assert [one.owner.account for one in await asyncio.to_thread(open_ports)] == ["bob"]
    row = await AuditRecord.objects.filter(verb="close").aget()
    assert (row.actor, row.name, row.reason) == ("alice", "https:web:8443", "Closed")


# Profile.


async def save(browser: Browser, **fields: str) -> Any:
    given = {"email": "alice@example.com", "displayName": "", "language": "en", "theme": "auto"}
    return await browser.post(ACCOUNT + "/profile", {**given, **fields})


async def test_the_profile_is_saved(alice: Browser, runtime: StaticRuntime) -> None:
    others = {"description": "Looks after the shop", "groups": ["crew"]}
    runtime.console.put(USERS, merged(stored(runtime), {"spec": others}))
    answer = await save(
        alice, email="new@example.com", displayName="Alice A", language="zh-hans", theme="dark"
    )
    assert (answer.status_code, answer["Location"]) == (302, ACCOUNT)
    assert answer.cookies["theme"].value == "dark"
    assert stored(runtime)["spec"] == {
        "email": "new@example.com",
        "password": HASH,
        "displayName": "Alice A",
        "lang": "zh",
        **others,
    }
    assert (await Browser().login("new@example.com")).status_code == 302
    row = await AuditRecord.objects.filter(verb="patch").aget()
    assert (row.actor, row.name, row.subresource) == ("alice", "alice", "profile")
    assert row.code == 200
    text = (await alice.get(ACCOUNT)).content.decode()
    # The message uses the newly selected language.
    assert "个人资料已保存。" in text
    assert '<option value="zh-hans" selected' in text and '<option value="dark" selected' in text


async def test_other_fields_in_the_profile_form_are_ignored(
    alice: Browser, runtime: StaticRuntime
) -> None:
    before = stored(runtime)
    await save(
        alice, groups="system:masters", password="x", state="Active", name="admin", uid="uid-admin"
    )
    after = stored(runtime)
    assert after["metadata"].get("labels") == before["metadata"].get("labels")
    assert after["spec"] == {**before["spec"], "lang": "en"}


@pytest.mark.parametrize("wrong", [{"language": "tlh"}, {"theme": "../x"}])
async def test_invalid_languages_and_themes_are_refused(
    alice: Browser, runtime: StaticRuntime, wrong: dict[str, str]
) -> None:
    before = stored(runtime)
    answer = await save(alice, displayName="Alice A", **wrong)
    assert answer.status_code == 400 and stored(runtime) == before


@pytest.mark.parametrize(
    "email",
    [
        "admin@example.com",
        "ADMIN@example.com",
        "a@b@c",
        "alice",
        "é@example.com",
        "a b@x",
        "@",
        "@x",
    ],
)
async def test_taken_and_invalid_email_addresses_get_the_same_error(
    alice: Browser, runtime: StaticRuntime, email: str
) -> None:
    answer = await save(alice, email=email, displayName="Kept")
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "This email address cannot be used. Enter another email address." in text
    assert "Kept" in text
    assert stored(runtime)["spec"]["email"] == "alice@example.com"


async def test_input_is_escaped(alice: Browser) -> None:
    answer = await save(alice, email='"><script>alert(1)</script>', displayName="<b>\u202e\0")
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "<script>alert" not in text and "<b>" not in text and "\u202e" not in text


# Password.


async def change(browser: Browser, current: str = PASSWORD, new: str = NEW, again: str = "") -> Any:
    fields = {"current": current, "password": new, "again": again or new}
    return await browser.post(ACCOUNT + "/password", fields)


async def test_changing_the_password_revokes_other_sessions(
    alice: Browser, runtime: StaticRuntime
) -> None:
    other, bob = Browser(), Browser()
    await other.login("alice")
    await bob.login("bob")
    assert (await change(alice))["Location"] == ACCOUNT
    assert await is_in(alice)
    assert not await is_in(other)
    assert await is_in(bob)
    assert (await Browser().login("alice")).status_code == 401
    assert (await Browser().login("alice", NEW)).status_code == 302


async def test_the_current_password_is_required(alice: Browser, runtime: StaticRuntime) -> None:
    for current in ("wrong", "", HASH):
        answer = await change(alice, current)
        assert answer.status_code == 400
        assert "The current password is incorrect." in answer.content.decode()
    assert stored(runtime)["spec"]["password"] == HASH
    assert await is_in(alice)


async def test_cross_site_forms_are_refused(alice: Browser, runtime: StaticRuntime) -> None:
    for path in ("/profile", "/password", "/sessions/end"):
        answer = await alice.post(ACCOUNT + path, {}, Sec_Fetch_Site="cross-site")
        assert answer.status_code == 403
    assert [call for call in runtime.console.calls if call[1] == "users"] == []


async def test_nothing_changes_without_an_audit_record(
    alice: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("read-only")

    monkeypatch.setattr(AuditRecord, "save", fail)
    answer = await change(alice)
    assert answer.status_code == 400
    assert "the audit trail cannot be written" in answer.content.decode()
    assert stored(runtime)["spec"]["password"] == HASH


# History.


async def test_the_history_contains_only_the_own_sign_ins(
    alice: Browser, runtime: StaticRuntime
) -> None:
    runtime.console.put(LOGIN_RECORDS, record("a", START, sourceIP="192.0.2.77"))
    runtime.console.put(LOGIN_RECORDS, record("b", START, of="bob", sourceIP="192.0.2.88"))
    text = (await alice.get(ACCOUNT)).content.decode()
    assert "192.0.2.77" in text
    assert "192.0.2.88" not in text


async def test_missing_login_records_are_reported(alice: Browser, runtime: StaticRuntime) -> None:
    runtime._informers[LOGIN_RECORDS] = Informer(LOGIN_RECORDS, DECODERS[LOGIN_RECORDS])
    assert (
        "Sign-in records are still loading from the cluster."
        in (await alice.get(ACCOUNT)).content.decode()
    )


# Sessions.


async def sessions_of(name: str) -> list[SignIn]:
    return [row async for row in SignIn.objects.filter(user=name).order_by("began")]


async def end(browser: Browser, which: str) -> Any:
    return await browser.post(ACCOUNT + "/sessions/end", {"session": which})


async def test_the_own_sessions_are_listed(alice: Browser, clock: MovableClock) -> None:
    await Browser(**{"User-Agent": "curl/8"}).login("alice")
    await Browser(**{"User-Agent": "bobs"}).login("bob")
    text = (await alice.get(ACCOUNT)).content.decode()
    assert "curl/8" in text and "127.0.0.1" in text
    assert "bobs" not in text
    assert alice.key and alice.key not in text
    clock.move(hours=3)
    assert await asyncio.to_thread(browser_sessions.list_sessions, "alice", clock.now()) == []


async def test_another_session_can_be_revoked(alice: Browser) -> None:
    other = Browser()
    await other.login("alice")
    mine, theirs = await sessions_of("alice")
    assert (await end(alice, str(theirs.id)))["Location"] == ACCOUNT + "#sessions"
    assert not await is_in(other)
    assert await is_in(alice)


async def test_all_other_sessions_can_be_revoked(alice: Browser, runtime: StaticRuntime) -> None:
    others = [Browser(), Browser()]
    for other in others:
        await other.login("alice")
    bob = Browser()
    await bob.login("bob")
    await end(alice, "others")
    assert [await is_in(other) for other in others] == [False, False]
    assert await is_in(alice) and await is_in(bob)
    assert await Session.objects.acount() == 2
    assert "quarterdeck.io/sessions-ended" in stored(runtime)["metadata"]["annotations"]


@pytest.mark.parametrize("which", ["bobs", "", "x", "\0", "a" * 5000, "' OR 1=1 --"])
async def test_sessions_of_other_users_cannot_be_revoked(alice: Browser, which: str) -> None:
    bob = Browser()
    await bob.login("bob")
    if which == "bobs":
        which = str((await sessions_of("bob"))[0].id)
    assert (await end(alice, which)).status_code == 302
    assert await is_in(bob) and await is_in(alice)


async def test_expired_sessions_are_deleted(alice: Browser, clock: MovableClock) -> None:
    clock.move(hours=12)
    await asyncio.to_thread(browser_sessions.discard_expired, clock.now())
    assert await Session.objects.acount() == await SignIn.objects.acount() == 0


@pytest.mark.parametrize("event", ["password", "sessions", "disabled", "deleted"])
async def test_websockets_close_within_two_seconds_of_a_revocation(
    runtime: StaticRuntime, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Assumes that websockets are checked within a second of a change."""
    assert SessionMonitor.check_gap <= 1.0
    admin, other = Browser(), Browser()
    await admin.login("admin")
    await other.login("admin")
    socket = WebsocketCommunicator(
        SessionAuthMiddleware(websocket_application), "/ws/live", headers=from_ours(other)
    )
    assert (await socket.connect())[0]
    if event == "password":
        await change(admin)
    elif event == "sessions":
        await end(admin, "others")
    elif event == "disabled":
        runtime.console.put(USERS, user("admin", password=HASH, state="Disabled"))
    else:
        take_away(runtime.informer(USERS), user("admin"))
    assert '"code":401' in (await socket.receive_from(timeout=5)).replace(" ", "")
    assert (await socket.receive_output(timeout=5))["code"] == 4401
