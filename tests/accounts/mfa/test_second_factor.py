"""The second factor in a browser: setup, sign-in and loss."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.urls import get_resolver
from pytest_django import Settings

from accounts.mfa import factors, totp
from accounts.models import RecoveryCode, SecondFactor, SignIn
from accounts.public import PUBLIC_ROUTES
from accounts.signin.sessions import Step, step_url
from console.audit.models import AuditRecord
from console.kube.gvr import LOGIN_RECORDS, USERS
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.mfa.conftest import OWN, STEP, App, Enrolled, enrol, owing, show
from tests.accounts.oauth.conftest import Config, Program
from tests.accounts.races import overtaken
from tests.accounts.routes import routes
from tests.accounts.sockets import connect, from_ours
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.depth import some
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

WRONG = "The code is incorrect or has already been used."


async def is_in(browser: Browser) -> bool:
    return bool((await browser.get("/dashboard")).status_code == 200)


# Test vectors of RFC 6238, appendix B, shortened to six digits.


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
    ],
)
def test_codes_match_the_test_vectors_of_rfc_6238(
    seconds: int, code: str, clock: MovableClock
) -> None:
    secret = b"12345678901234567890"
    clock.time = clock.time.fromtimestamp(seconds, clock.time.tzinfo)
    assert totp.matching_step(secret, code, clock.time) == seconds // 30
    assert App(secret, clock).code() == code


@pytest.mark.parametrize(("late", "counts"), [(-60, False), (-30, True), (30, True), (60, False)])
def test_clocks_may_differ_by_one_step(late: int, counts: bool, clock: MovableClock) -> None:
    secret = totp.new_secret()
    code, present = App(secret, clock).code(), int(clock.time.timestamp()) // 30
    found = totp.matching_step(secret, code, clock.time + timedelta(seconds=late))
    assert found == (present if counts else None)


# Setup.


async def test_setup_requires_a_valid_code(browser: Browser, clock: MovableClock) -> None:
    await browser.login("alice")
    page = await browser.get(OWN)
    assert 'src="data:image/svg+xml' in page.content.decode()
    for fields, text in (
        ({"current": "wrong", "code": "000000"}, "The current password is incorrect."),
        ({"current": PASSWORD, "code": "000000"}, "Incorrect code."),
        ({"current": PASSWORD}, "Incorrect code."),
    ):
        answer = await browser.post(OWN, fields)
        assert answer.status_code == 400 and text in answer.content.decode()
    assert await SecondFactor.objects.acount() == 0
    done = await enrol(browser, clock)
    assert len(set(done.codes)) == factors.RECOVERY_CODES
    assert "On" in (await browser.get("/account")).content.decode()
    again = (await browser.get(OWN)).content.decode()
    assert not any(code in again for code in done.codes)
    assert "10 recovery codes left." in again


async def test_secrets_and_recovery_codes_are_not_stored_in_plain_text(alice: Enrolled) -> None:
    row = await SecondFactor.objects.aget()
    assert alice.app.secret not in row.secret.encode()
    rows = [one.digest async for one in RecoveryCode.objects.all()]
    assert not {code.replace("-", "") for code in alice.codes} & set(rows)
    for session in [one async for one in Session.objects.all()]:
        assert "factor_secret" not in session.get_decoded()


async def test_recovery_codes_work_after_the_secret_key_changed(
    alice: Enrolled, settings: Settings
) -> None:
    settings.SECRET_KEY = "another-secret-key-" + "x" * 40
    browser = await owing()
    assert (await show(browser, alice.app.code())).status_code == 401
    assert (await show(browser, alice.codes[0])).status_code == 302


async def test_setup_revokes_other_sessions_and_rotates_the_session_key(
    browser: Browser, clock: MovableClock
) -> None:
    other = Browser()
    await other.login("alice")
    await browser.login("alice")
    before = browser.key
    await enrol(browser, clock)
    assert browser.key != before
    assert await is_in(browser) and not await is_in(other)
    thief = Browser()
    thief.key = before or ""
    assert not await is_in(thief)


async def test_setup_revokes_tokens_issued_without_it(
    browser: Browser, clock: MovableClock, program: Program
) -> None:
    tokens = await program.signed_in()
    assert await program.works(tokens["access_token"])
    await browser.login("alice")
    await enrol(browser, clock)
    assert not await program.works(tokens["access_token"])
    assert (await program.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


# Sign-in.


async def test_a_session_without_a_code_is_not_signed_in(alice: Enrolled) -> None:
    browser = await owing(next="/clusters/host/pods")
    closed = [
        path
        for name, path in routes(get_resolver().url_patterns)
        if name not in PUBLIC_ROUTES and name != "accounts:second_factor"
    ]
    assert len(closed) >= 20
    asked_otherwise = some("owing", closed, 30)
    for path in closed:
        answer = await browser.get(path)
        assert answer.status_code == 302, path
        # The first page is the default target anyway.
        assert answer["Location"] == step_url(Step.FACTOR, path), path
        if path not in asked_otherwise:
            continue
        for refused in (await browser.post(path), await browser.get(path + "?format=json")):
            assert refused.status_code == 403, path
            assert refused.json()["message"] == "Enter your second factor first."
    assert (await browser.get("/kapis/iam.kubesphere.io/v1alpha2/users/alice")).status_code == 403
    _, scope = await connect(from_ours(browser))
    assert (scope["account"], scope["access_in"]) == (None, None)
    assert not await scope["session_alive"]()


async def test_a_valid_code_redirects_to_the_requested_page(alice: Enrolled) -> None:
    browser = await owing()
    old = browser.key
    answer = await show(browser, alice.app.code(), "/clusters/host/pods")
    assert (answer.status_code, answer["Location"]) == (302, "/clusters/host/pods")
    assert browser.key != old and await is_in(browser)
    thief = Browser()
    thief.key = old or ""
    assert not await is_in(thief)
    # Both sessions of alice and their rows exist under the new keys.
    keys = {row.session async for row in SignIn.objects.filter(user="alice")}
    assert keys == {browser.key, alice.browser.key}


@pytest.mark.parametrize("next", ["//e", "https://e", "/login", "/x\r\nA: b"])
async def test_a_valid_code_does_not_redirect_to_unsafe_urls(alice: Enrolled, next: str) -> None:
    assert (await show(await owing(), alice.app.code(), next))["Location"] == "/"


async def test_a_code_is_accepted_once(alice: Enrolled) -> None:
    code = alice.app.code()
    assert (await show(await owing(), code)).status_code == 302
    answer = await show(await owing(), code)
    assert answer.status_code == 401 and WRONG in answer.content.decode()
    # Earlier codes are refused too.
    assert (await show(await owing(), alice.app.code(-1))).status_code == 401


async def test_concurrent_uses_of_a_code_succeed_once(alice: Enrolled) -> None:
    code = alice.app.code()
    browsers = [await owing() for _ in range(5)]
    answers = await asyncio.gather(*(show(browser, code) for browser in browsers))
    assert sorted(one.status_code for one in answers) == [302, 401, 401, 401, 401]


async def test_a_code_is_accepted_by_only_one_replica(alice: Enrolled) -> None:
    code, moment = alice.app.code(), alice.app.clock.now()
    use = partial(factors.use_code, "alice", "uid-alice", code, moment)
    assert await sync_to_async(overtaken)(use) == (True, False)


async def test_a_recovery_code_is_accepted_by_only_one_replica(alice: Enrolled) -> None:
    use = partial(factors.use_code, "alice", "uid-alice", alice.codes[0], alice.app.clock.now())
    assert await sync_to_async(overtaken)(use, "DELETE") == (True, False)


async def test_a_recovery_code_is_accepted_once_in_any_spelling(alice: Enrolled) -> None:
    code = alice.codes[3]
    assert (await show(await owing(), f" {code.upper().replace('-', ' ')} ")).status_code == 302
    assert (await show(await owing(), code)).status_code == 401
    assert await RecoveryCode.objects.acount() == 9


@pytest.mark.parametrize("code", ["", "000000", "１２３４５６", "\0", "a" * 5000, "' OR 1=1", "-1"])
async def test_malformed_codes_are_refused(alice: Enrolled, code: str) -> None:
    browser = await owing()
    answer = await show(browser, code)
    assert answer.status_code == 401 and not await is_in(browser)


async def test_the_password_step_expires(alice: Enrolled, clock: MovableClock) -> None:
    browser = await owing()
    clock.move(minutes=9)
    # A wrong code does not extend the time.
    assert (await show(browser, "000000")).status_code == 401
    clock.move(minutes=2)
    answer = await show(browser, alice.app.code())
    assert answer["Location"].startswith("/login")
    assert not await is_in(browser)


async def test_codes_of_other_users_are_refused(alice: Enrolled, clock: MovableClock) -> None:
    browser = Browser()
    await browser.login("admin")
    admin = await enrol(browser, clock)
    assert (await show(await owing("alice"), admin.app.code())).status_code == 401
    assert (await show(await owing("alice"), admin.codes[0])).status_code == 401


async def test_a_recreated_user_does_not_inherit_the_second_factor(
    alice: Enrolled, runtime: StaticRuntime
) -> None:
    runtime.console.put(USERS, user("alice", password=HASH, uid="another"))
    browser = await owing()
    assert await is_in(browser)


# Guessing.


async def test_wrong_codes_lock_the_user_despite_a_correct_password(
    alice: Enrolled, clock: MovableClock, config: Config
) -> None:
    for _ in range(10):
        # Each attempt starts with the password, which resets wrong passwords but not wrong codes.
        assert (await show(await owing(), "000000")).status_code == 401
    browser = await owing()
    answer = await show(browser, alice.app.code())
    assert answer.status_code == 429
    assert "Too many failed attempts." in answer.content.decode()
    clock.move(minutes=11)
    assert (await show(await owing(), alice.app.code())).status_code == 302


async def test_concurrent_guesses_do_not_exceed_the_limit(alice: Enrolled) -> None:
    browsers = [await owing() for _ in range(15)]
    answers = await asyncio.gather(*(show(browser, "000000") for browser in browsers))
    assert sorted(one.status_code for one in answers) == [401] * 10 + [429] * 5


async def test_codes_cannot_be_locked_without_the_password(alice: Enrolled) -> None:
    for name in ("code/alice", "second factor/alice", "alice\0code"):
        for _ in range(12):
            await Browser().login(name, "wrong")
    assert (await show(await owing(), alice.app.code())).status_code == 302


async def test_codes_are_audited_and_recorded_as_sign_ins(
    alice: Enrolled, runtime: StaticRuntime
) -> None:
    browser = await owing()
    await show(browser, "000000")
    await show(browser, alice.app.code())
    rows = AuditRecord.objects.filter(actor="alice").order_by("pk")
    found = [(row.verb, row.subresource, row.code) async for row in rows]
    assert found == [
        ("login", "", 200),
        ("create", "second-factor", 200),
        ("login", "", 200),
        ("login", "second-factor", 401),
        ("login", "second-factor", 200),
    ]
    text = str([row async for row in AuditRecord.objects.values()])
    assert "000000" not in text and alice.app.code() not in text
    await asyncio.sleep(0)
    reasons = [one["spec"]["reason"] for one in runtime.console.of(LOGIN_RECORDS).values()]
    assert reasons[-2:] == ["incorrect second factor", "authenticated successfully"]


# Changes.


async def change(enrolled: Enrolled, act: str, **fields: str) -> Any:
    given = {"current": PASSWORD, "code": enrolled.app.code(), "act": act, **fields}
    return await enrolled.browser.post(OWN, given)


@pytest.mark.parametrize("wrong", [{"current": "wrong"}, {"code": "000000"}, {"act": "x"}])
@pytest.mark.parametrize("act", ["off", "codes"])
async def test_changes_need_password_and_code(
    alice: Enrolled, act: str, wrong: dict[str, str]
) -> None:
    assert (await change(alice, **{"act": act, **wrong})).status_code == 400
    assert await SecondFactor.objects.acount() == 1
    assert await RecoveryCode.objects.acount() == 10


async def test_the_second_factor_can_be_removed(alice: Enrolled) -> None:
    assert (await change(alice, "off")).status_code == 302
    assert await SecondFactor.objects.acount() == await RecoveryCode.objects.acount() == 0
    assert await is_in(await owing())


async def test_new_recovery_codes_replace_the_old_ones(alice: Enrolled) -> None:
    answer = await change(alice, "codes")
    assert answer.status_code == 200
    assert (await show(await owing(), alice.codes[0])).status_code == 401
    assert await RecoveryCode.objects.acount() == 10


async def test_changing_the_password_keeps_the_second_factor(alice: Enrolled) -> None:
    new = "Quarterdeck-7"
    given = {"current": PASSWORD, "password": new, "again": new}
    assert (await alice.browser.post("/account/password", given)).status_code == 302
    assert await is_in(alice.browser)
    browser = Browser()
    await browser.login("alice", new)
    assert not await is_in(browser)
    assert (await show(browser, alice.app.code())).status_code == 302


async def test_an_administrator_resets_the_second_factor(
    alice: Enrolled, runtime: StaticRuntime
) -> None:
    admin = Browser()
    await admin.login("admin")
    page = (await admin.get("/access/accounts/users/alice")).content.decode()
    assert "Reset second factor" in page
    path = "/clusters/host/users.iam.kubesphere.io/alice/actions/reset-second-factor"
    assert (await admin.post(path, {"uid": "someone-else"})).status_code == 422
    assert await SecondFactor.objects.acount() == 1
    assert (await admin.post(path, {"uid": "uid-alice"})).status_code == 302
    assert await SecondFactor.objects.acount() == 0
    assert not await is_in(alice.browser)
    assert await is_in(await owing())
    row = await AuditRecord.objects.aget(subresource="reset-second-factor", code=200)
    assert (row.actor, row.name, row.resource) == ("admin", "alice", USERS.resource)
    assert (await admin.post(path, {"uid": "uid-alice"})).status_code == 409


async def test_resetting_requires_permission(alice: Enrolled) -> None:
    bob = Browser()
    await bob.login("bob")
    path = "/clusters/host/users.iam.kubesphere.io/alice/actions/reset-second-factor"
    assert (await bob.post(path, {"uid": "uid-alice"})).status_code == 403
    assert await SecondFactor.objects.acount() == 1


async def test_turn_off_removes_the_factor_once(alice: Enrolled) -> None:
    assert await sync_to_async(factors.disable)("alice")
    assert not await sync_to_async(factors.disable)("alice")


# Required by policy.


@pytest.fixture
def required(config: Config) -> Config:
    config.write(secondFactor="required")
    return config


async def test_a_required_factor_must_be_set_up_at_sign_in(
    required: Config, clock: MovableClock
) -> None:
    browser = await owing(next="/clusters/host/pods")
    answer = await browser.get("/clusters/host/pods")
    assert answer["Location"] == STEP + "?next=%2Fclusters%2Fhost%2Fpods"
    done = await enrol(browser, clock, path=STEP)
    assert len(done.codes) == 10 and await is_in(browser)
    assert (await done.browser.post(OWN, {"act": "off"})).status_code == 400
    assert (await show(await owing(), done.app.code())).status_code == 302


async def test_existing_sessions_must_set_up_a_required_factor(
    browser: Browser, config: Config, clock: MovableClock
) -> None:
    await browser.login("alice")
    assert await is_in(browser)
    config.write(secondFactor="required")
    assert (await browser.get("/dashboard"))["Location"].startswith(STEP)
    assert (await browser.get("/dashboard?format=json")).status_code == 403
    _, scope = await connect(from_ours(browser))
    assert scope["account"] is None


async def test_an_initial_password_is_changed_before_setup(
    required: Config, runtime: StaticRuntime, clock: MovableClock
) -> None:
    mark = {"iam.kubesphere.io/uninitialized": "true"}
    runtime.console.put(USERS, user("alice", password=HASH, annotations=mark))
    browser = await owing()
    assert (await browser.get("/"))["Location"].startswith("/password/confirm")
    new = "Quarterdeck-7"
    given = {"current": PASSWORD, "password": new, "again": new}
    await browser.post("/password/confirm", given)
    assert (await browser.get("/"))["Location"].startswith(STEP)
    await enrol(browser, clock, path=STEP)
    assert await is_in(browser)


async def test_a_code_is_required_before_changing_an_initial_password(
    alice: Enrolled, runtime: StaticRuntime
) -> None:
    mark = {"iam.kubesphere.io/uninitialized": "true"}
    runtime.console.put(USERS, user("alice", password=HASH, annotations=mark))
    browser = await owing()
    assert (await browser.get("/"))["Location"].startswith(STEP)
    assert (await browser.get("/password/confirm"))["Location"].startswith(STEP)
    await show(browser, alice.app.code())
    assert (await browser.get("/"))["Location"].startswith("/password/confirm")


async def test_an_invalid_policy_requires_the_second_factor(config: Config) -> None:
    config.write(secondFactor="requird")
    assert not await is_in(await owing())
    config.write(secondFactor="optional")
    assert await is_in(await owing())
