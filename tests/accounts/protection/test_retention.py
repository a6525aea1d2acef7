"""Lockout from LoginRecords, and their retention."""

from datetime import datetime, timedelta
from typing import cast

import pytest

from accounts.protection.retention import LoginRecordReconciler
from console.kube.controller import Request, Result
from console.kube.gvr import LOGIN_RECORDS, USERS
from console.kube.runtime import Runtime
from tests.accounts.conftest import HASH
from tests.accounts.login_records import record
from tests.rbac.fakes import START, FakeRuntime, Manifest
from tests.rbac.objects import user

DAY = timedelta(days=1)


def make(records: list[Manifest], who: Manifest | None = None) -> FakeRuntime:
    known = who if who is not None else user("alice", password=HASH)
    return FakeRuntime({USERS: [known], LOGIN_RECORDS: records})


async def look(runtime: FakeRuntime, name: str) -> Result:
    reconciler = LoginRecordReconciler(cast(Runtime, runtime))
    return await reconciler.reconcile(Request("", name))


def alice(runtime: FakeRuntime) -> Manifest:
    found: Manifest = runtime.console.of(USERS)["alice"]["status"]
    return found


def failures(number: int, *, last: datetime = START, apart: float = 1.0) -> list[Manifest]:
    return [record(f"f{n}", last - timedelta(seconds=n * apart)) for n in range(number)]


async def test_ten_failures_lock_the_user() -> None:
    runtime = make(failures(10))
    await look(runtime, "f0")
    assert alice(runtime) == {
        "state": "AuthLimitExceeded",
        "reason": "Failed login attempts exceed 10 in last 10m",
        "lastTransitionTime": "2026-03-01T12:00:00Z",
    }
    assert [event["reason"] for event in runtime.console.events] == ["UserLocked"]
    calls = list(runtime.console.calls)
    await look(runtime, "f0")
    assert runtime.console.calls == calls


async def test_nine_failures_do_not_lock_the_user() -> None:
    runtime = make(failures(9))
    await look(runtime, "f0")
    assert alice(runtime) == {"state": "Active"}


async def test_old_failures_do_not_count() -> None:
    runtime = make(failures(10, apart=67))
    await look(runtime, "f0")
    assert alice(runtime)["state"] == "Active"


async def test_failures_before_the_last_state_transition_do_not_count() -> None:
    who = user("alice", password=HASH)
    who["status"]["lastTransitionTime"] = (START - timedelta(seconds=5)).isoformat()
    runtime = make(failures(20), who)
    await look(runtime, "f0")
    assert alice(runtime)["state"] == "Active"


async def test_failures_before_the_last_success_do_not_count() -> None:
    records = [*failures(5), record("s", START - timedelta(seconds=5), success=True)]
    records += failures(5, last=START - timedelta(seconds=10))[::-1]
    for number, item in enumerate(records):
        item["metadata"]["name"] = f"r{number}"
    runtime = make(records)
    await look(runtime, "r0")
    assert alice(runtime)["state"] == "Active"


@pytest.mark.parametrize(
    "who",
    [
        user("alice", password=HASH, state="Disabled"),
        user("alice", labels={"iam.kubesphere.io/identify-provider": "ldap"}),
        user("alice", password=HASH, labels={"kubefed.io/managed": "true"}),
        user("alice", password=HASH, deletionTimestamp="2026-03-01T11:00:00Z"),
    ],
)
async def test_disabled_external_and_terminating_users_are_not_locked(who: Manifest) -> None:
    runtime = make(failures(12), who)
    await look(runtime, "f0")
    assert runtime.console.calls == []


async def test_only_a_successful_sign_in_updates_the_last_sign_in_time() -> None:
    runtime = make([record("s", START, success=True), record("f", START + timedelta(seconds=1))])
    await look(runtime, "f")
    assert "lastLoginTime" not in alice(runtime)
    await look(runtime, "s")
    assert alice(runtime)["lastLoginTime"] == "2026-03-01T12:00:00Z"
    old = record("old", START - DAY, success=True)
    runtime.console.put(LOGIN_RECORDS, old)
    await look(runtime, "old")
    assert alice(runtime)["lastLoginTime"] == "2026-03-01T12:00:00Z"


async def test_a_record_is_deleted_after_a_week() -> None:
    runtime = make([record("r", START - 6 * DAY)])
    assert (await look(runtime, "r")).requeue_after == DAY.total_seconds()
    runtime.clock.move(days=1)
    assert await look(runtime, "r") == Result()
    assert runtime.console.of(LOGIN_RECORDS) == {}
    assert await look(runtime, "r") == Result()


async def test_a_hundred_records_per_user_are_kept() -> None:
    runtime = make([record(f"r{n:03}", START - timedelta(minutes=n)) for n in range(105)])
    runtime.console.put(LOGIN_RECORDS, record("bobs", START - 2 * DAY, of="bob"))
    await look(runtime, "r000")
    kept = set(runtime.console.of(LOGIN_RECORDS))
    assert kept == {f"r{n:03}" for n in range(100)} | {"bobs"}


async def test_failures_do_not_evict_successful_records() -> None:
    """A successful record determines the addresses from which a locked user may still sign in."""
    first = record("first", START - timedelta(hours=5), success=True)
    runtime = make([first, *failures(100)])
    await look(runtime, "f0")
    kept = runtime.console.of(LOGIN_RECORDS)
    assert "first" in kept and "f99" not in kept and len(kept) == 100


async def test_records_of_missing_users_are_deleted() -> None:
    runtime = make([record("r", START, of="gone")])
    await look(runtime, "r")
    assert runtime.console.of(LOGIN_RECORDS) == {}


async def test_a_record_without_a_user_is_ignored() -> None:
    item = record("r", START)
    item["metadata"]["labels"] = {}
    runtime = make([item])
    assert await look(runtime, "r") == Result()
    assert runtime.console.calls == []
