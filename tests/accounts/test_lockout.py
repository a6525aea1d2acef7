"""Lockout after failed attempts: shared by all sign-in methods, with a response that contains only
the waiting time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import bcrypt
import pytest
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.db.models.query import QuerySet
from django.http import HttpRequest
from pytest_django import Settings

from accounts.models import FailedAttempts
from accounts.protection.records import SHOWN, Origin, origin_of
from accounts.signin import passwords
from console.audit.models import AuditRecord
from console.kube.gvr import LOGIN_RECORDS
from console.kube.informer import Informer
from console.web.hardening import harden
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.login_records import record
from tests.accounts.oauth.clients import basic
from tests.accounts.oauth.conftest import Config, Program, authorize_url
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

TRIES = 10


@pytest.fixture
def config(settings: Settings, tmp_path: Any) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


async def by_page(name: str, password: str) -> int:
    status: int = (await Browser().login(name, password)).status_code
    return status


async def by_token(name: str, password: str) -> int:
    status: int = (await Program().login(name, password)).status_code
    return status


async def by_basic(name: str, password: str) -> int:
    answer = await Program().get(authorize_url(), Authorization=basic(name, password))
    status: int = answer.status_code
    return status


DOORS: dict[str, Callable[[str, str], Awaitable[int]]] = {
    "page": by_page,
    "token": by_token,
    "basic": by_basic,
}


@pytest.mark.parametrize("door", list(DOORS))
async def test_attempts_are_counted_across_all_sign_in_methods(config: Config, door: str) -> None:
    for _ in range(TRIES):
        assert await DOORS[door]("alice", "wrong") in (400, 401)
    for other in DOORS.values():
        assert await other("alice", "P@88w0rd") == 429
        assert await other("bob", "wrong") in (400, 401)


@pytest.mark.parametrize("name", ["alice", "nobody", "disabled", "provider", "plain"])
async def test_the_waiting_time_is_shown_for_any_name(name: str, clock: MovableClock) -> None:
    for _ in range(TRIES):
        assert await by_page(name, "wrong") == 401
    clock.move(minutes=3, seconds=30)
    answer = await Browser().login(name, "wrong")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "390"
    assert "Too many failed attempts. Try again in 7 minutes." in answer.content.decode()
    clock.move(minutes=6, seconds=29)
    assert "Try again in 1 minute." in (await Browser().login(name, "x")).content.decode()
    clock.move(seconds=1)
    assert await by_page(name, "wrong") == 401


async def test_api_clients_get_the_waiting_time(config: Config, program: Program) -> None:
    for _ in range(TRIES):
        await by_token("alice", "wrong")
    answer = await program.login("alice")
    assert (answer.status_code, answer.json()["error"]) == (429, "slow_down")
    assert 590 <= int(answer["Retry-After"]) <= 600


@pytest.fixture
def program() -> Program:
    return Program()


async def test_email_address_and_name_are_counted_together() -> None:
    for number in range(TRIES):
        await by_page("alice@example.com" if number % 2 else "alice", "wrong")
    assert await by_page("alice", "P@88w0rd") == 429


async def test_twenty_concurrent_attempts_compare_ten_passwords(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[bytes] = []
    original = bcrypt.checkpw

    def check(given: bytes, stored: bytes) -> bool:
        compared.append(given)
        return original(given, stored)

    monkeypatch.setattr(bcrypt, "checkpw", check)
    statuses = await asyncio.gather(*(by_page("alice", f"guess-{n}") for n in range(20)))
    assert sorted(statuses) == [401] * TRIES + [429] * TRIES
    assert len(compared) == TRIES


async def test_queued_sign_ins_do_not_count_as_failed() -> None:
    statuses = await asyncio.gather(*(by_page("alice", "P@88w0rd") for _ in range(2 * TRIES)))
    assert statuses == [302] * (2 * TRIES)


async def test_a_correct_password_resets_the_counter(browser: Browser) -> None:
    for _ in range(3):
        for _ in range(TRIES - 1):
            assert await by_page("alice", "wrong") == 401
        assert (await browser.login("alice")).status_code == 302


@pytest.mark.parametrize("state", ["Active", "AuthLimitExceeded"])
async def test_a_locked_user_can_sign_in_from_a_known_address(
    settings: Settings, users: Informer[Any], clock: MovableClock, state: str
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.1/32"),)
    home, away = ({"X-Forwarded-For": address} for address in ("192.0.2.1", "198.51.100.9"))

    async def login(where: dict[str, str], guess: str = PASSWORD) -> int:
        status: int = (await Browser(**where).login("alice", guess)).status_code
        return status

    assert await login(home) == 302
    for _ in range(TRIES):
        assert await login(away, "wrong") == 401
    locked = user("alice", password=HASH, state=state)
    locked["status"]["lastTransitionTime"] = clock.now().isoformat()
    bring(users, locked)
    assert await login(away) == 429
    assert await login(home) == 302
    # Attempts from the known address are limited too.
    for _ in range(TRIES):
        assert await login(home, "wrong") == 401
    assert await login(home) == 429
    assert await login(away) == 429


async def test_failed_attempts_do_not_displace_the_known_address(
    settings: Settings, users: Informer[Any], clock: MovableClock, runtime: StaticRuntime
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.1/32"),)
    home, away = ({"X-Forwarded-For": address} for address in ("192.0.2.1", "198.51.100.9"))
    assert (await Browser(**home).login("alice")).status_code == 302
    for number in range(2 * SHOWN):
        clock.move(seconds=1)
        failed = record(f"failed-{number}", clock.now(), sourceIP="198.51.100.9")
        bring(runtime.informer(LOGIN_RECORDS), failed)
    for _ in range(TRIES):
        assert (await Browser(**away).login("alice", "wrong")).status_code == 401
    assert (await Browser(**away).login("alice")).status_code == 429
    assert (await Browser(**home).login("alice")).status_code == 302


async def test_refused_busy_attempts_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as busy:
        busy.setattr(passwords._places, "acquire", lambda blocking: False)
        for _ in range(TRIES + 5):
            assert await by_page("alice", "wrong") == 503
    assert await by_page("alice", "P@88w0rd") == 302


async def test_a_lockout_keeps_sessions(browser: Browser) -> None:
    await browser.login("alice")
    for _ in range(TRIES + 1):
        await by_page("alice", "wrong")
    assert (await browser.get("/dashboard")).status_code == 200


async def test_a_lock_in_the_user_status_is_enforced(
    users: Informer[Any], clock: MovableClock
) -> None:
    locked = user("alice", password=HASH, state="AuthLimitExceeded")
    began = clock.now().replace(microsecond=0) - timedelta(minutes=4)
    locked["status"]["lastTransitionTime"] = began.isoformat()
    bring(users, locked)
    answer = await Browser().login("alice")
    assert answer.status_code == 429
    assert "Try again in 6 minutes." in answer.content.decode()
    clock.move(minutes=6)
    assert await by_page("alice", "P@88w0rd") == 302


async def test_unknown_users_cause_the_same_database_writes(
    monkeypatch: pytest.MonkeyPatch, users: Informer[Any]
) -> None:
    """Writing the login record does not delay the response."""
    done: list[str] = []
    original = QuerySet.update

    def update(self: Any, **fields: Any) -> int:
        done.append("update")
        return original(self, **fields)

    monkeypatch.setattr(QuerySet, "update", update)
    found = {}
    for name in ("alice", "nobody", "disabled", "provider"):
        await by_page(name, "wrong")
        done.clear()
        await by_page(name, "wrong")
        found[name] = tuple(done)
    assert len(set(found.values())) == 1, found
    assert found["alice"]


async def test_sign_in_is_refused_without_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr("accounts.protection.attempts.count_attempt", fail)
    assert await by_page("alice", "P@88w0rd") == 503
    assert await Session.objects.acount() == 0


async def test_lockouts_are_audited() -> None:
    for _ in range(TRIES + 1):
        await by_page("alice", "wrong")
    last = await AuditRecord.objects.order_by("-id").afirst()
    assert last is not None
    assert (last.actor, last.code, last.reason) == ("alice", 429, "TooManyFailures")


async def test_limits_are_configurable(config: Config) -> None:
    config.write(authenticateRateLimiterMaxTries=2, authenticateRateLimiterDuration="1h")
    assert [await by_page("alice", "wrong") for _ in range(3)] == [401, 401, 429]


# Source address.


def request(peer: str, **headers: str) -> HttpRequest:
    found = HttpRequest()
    found.META = {"REMOTE_ADDR": peer, **{f"HTTP_{k.upper()}": v for k, v in headers.items()}}
    return found


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.7", "", "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "<script>", "10.0.0.1"),
        ("", "", ""),
    ],
)
def test_forwarded_addresses_are_accepted_only_from_trusted_proxies(
    settings: Settings, peer: str, forwarded: str, address: str
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/8"),)
    assert origin_of(request(peer, x_forwarded_for=forwarded)).address == address


def test_a_user_agent_is_sanitized_and_truncated() -> None:
    agent = origin_of(request("192.0.2.7", user_agent="a\r\nb\x1b[0m\u202e" + "c" * 900)).user_agent
    assert agent.startswith("a??b?[0m?c") and len(agent) == 256


def test_an_ipv6_64_prefix_is_one_source() -> None:
    assert Origin("2001:db8:1:2:3::4").network == Origin("2001:db8:1:2::9").network
    assert Origin("2001:db8:1:3::4").network != Origin("2001:db8:1:2::9").network
    assert Origin("::ffff:192.0.2.1").network == "192.0.2.1"
    assert Origin("").network == Origin("nonsense").network == ""


async def test_x_client_ip_headers_are_removed() -> None:
    seen: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(name for name, _ in scope["headers"])

    headers = [(b"x-client-ip", b"1.1.1.1"), (b"x-real-ip", b"1.1.1.1"), (b"host", b"x")]
    scope = {"type": "http", "method": "GET", "client": ("1.2.3.4", 1), "headers": headers}
    await harden(inner)(scope, None, None)
    assert seen == [b"host"]


# LoginRecords.


def records(runtime: StaticRuntime) -> list[dict[str, Any]]:
    found: dict[str, Any] = runtime.console.of(LOGIN_RECORDS)
    return list(found.values())


async def test_successes_and_wrong_passwords_are_recorded(
    runtime: StaticRuntime, config: Config
) -> None:
    await Browser(**{"User-Agent": "Firefox"}).login("alice", "wrong")
    await Browser().login("alice@example.com")
    await by_token("alice", "P@88w0rd")
    await by_basic("alice", "wrong")
    found = records(runtime)
    assert [one["metadata"]["labels"] for one in found] == [
        {"iam.kubesphere.io/user-ref": "alice"}
    ] * 4
    assert all(one["metadata"]["generateName"] == "alice-" for one in found)
    assert found[0]["spec"] == {
        "type": "Token",
        "provider": "",
        "sourceIP": "127.0.0.1",
        "userAgent": "Firefox",
        "success": False,
        "reason": "incorrect password",
    }
    assert [(one["spec"]["type"], one["spec"]["success"]) for one in found[1:]] == [
        ("Token", True),
        ("Token", True),
        ("Password", False),
    ]


@pytest.mark.parametrize("name", ["nobody", "disabled", "provider", "plain", "hunter2"])
async def test_attempts_for_unknown_and_disabled_users_are_not_recorded(
    runtime: StaticRuntime, name: str
) -> None:
    await by_page(name, "wrong")
    assert records(runtime) == []


async def test_attempts_while_locked_are_not_recorded(runtime: StaticRuntime) -> None:
    for _ in range(TRIES + 5):
        await by_page("alice", "wrong")
    assert len(records(runtime)) == TRIES


async def test_a_failed_record_does_not_prevent_sign_in(runtime: StaticRuntime) -> None:
    runtime.console = None
    assert await by_page("alice", "P@88w0rd") == 302
    assert await by_page("alice", "wrong") == 401


async def test_unknown_names_are_not_stored(runtime: StaticRuntime) -> None:
    await by_page("hunter2-typed-in-the-wrong-field", "x")
    kept = str([row async for row in FailedAttempts.objects.values()]) + str(records(runtime))
    assert "hunter2" not in kept
