"""The user controller sets password hashes, states and finalizers."""

from datetime import timedelta
from typing import Any, cast

import bcrypt
import pytest

from accounts.signin.passwords import is_hash, password_problem
from accounts.users.reconciler import FINALIZER, UserReconciler
from console.kube.controller import Request, Result
from console.kube.errors import Conflict, Forbidden
from console.kube.gvr import USERS
from console.kube.runtime import Runtime
from tests.accounts.conftest import HASH, PASSWORD
from tests.rbac.fakes import START, FakeRuntime, Manifest
from tests.rbac.objects import user

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(params=[False, True], ids=["plain-status", "status-subresource"])
def subresource(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def make(item: Manifest, *, subresource: bool = False) -> FakeRuntime:
    runtime = FakeRuntime({USERS: [item]})
    runtime.console.status_subresource = subresource
    return runtime


async def reconcile(runtime: FakeRuntime, name: str = "alice") -> Result:
    return await UserReconciler(cast(Runtime, runtime)).reconcile(Request("", name))


def stored(runtime: FakeRuntime) -> Manifest:
    return runtime.console.of(USERS)["alice"]


def reasons(runtime: FakeRuntime) -> list[tuple[str, str]]:
    return [(event["type"], event["reason"]) for event in runtime.console.events]


@pytest.mark.usefixtures("real_hashes")
async def test_a_plain_password_is_replaced_by_its_hash(subresource: bool) -> None:
    plain = user("alice", password=PASSWORD, state=None, annotations={APPLIED: PASSWORD, "a": "b"})
    runtime = make(plain, subresource=subresource)
    await reconcile(runtime)
    found = stored(runtime)
    hashed = found["spec"]["password"]
    assert hashed.startswith("$2b$10$")
    assert bcrypt.checkpw(PASSWORD.encode(), hashed.encode())
    assert found["metadata"]["annotations"] == {
        "a": "b",
        "iam.kubesphere.io/last-password-change-time": "2026-03-01T12:00:00Z",
    }
    assert found["status"]["state"] == "Active"
    assert found["status"]["lastTransitionTime"] == "2026-03-01T12:00:00Z"
    assert reasons(runtime) == [("Normal", "PasswordHashed"), ("Normal", "Synced")]
    assert PASSWORD not in str(runtime.console.events)


async def test_every_user_gets_a_finalizer() -> None:
    runtime = make(user("alice", password=HASH, state="Disabled", finalizers=["other/x"]))
    await reconcile(runtime)
    assert stored(runtime)["metadata"]["finalizers"] == ["other/x", FINALIZER]
    assert stored(runtime)["status"] == {"state": "Disabled"}


async def test_a_second_reconciliation_writes_nothing(subresource: bool) -> None:
    runtime = make(user("alice", password=PASSWORD, state=None), subresource=subresource)
    await reconcile(runtime)
    calls = list(runtime.console.calls)
    assert await reconcile(runtime) == Result()
    assert runtime.console.calls == calls


async def test_events_of_users_are_in_the_default_namespace() -> None:
    runtime = make(user("alice", password=PASSWORD))
    await reconcile(runtime)
    (event,) = runtime.console.events
    assert event["metadata"]["namespace"] == "default"
    assert event["involvedObject"] == {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "User",
        "name": "alice",
        "uid": "uid-alice",
        "resourceVersion": "10",
    }


BAD = {
    "short1A": "8 to 64 characters",
    "alllowercase1": "an uppercase letter",
    "ALLUPPERCASE1": "a lowercase letter",
    "NoDigitsHere": "a digit",
    "Aa1" + "x" * 62: "8 to 64 characters",
    "Aa1" + "\u00e9" * 40: "72 bytes",
    "Aa1\0xxxxx": "a NUL character",
    "\u00c4\u00e4\u0661xxxxx": "an uppercase letter",
}


@pytest.mark.parametrize("password", list(BAD), ids=range(len(BAD)))
async def test_an_invalid_password_is_reported_once_and_not_accepted(password: str) -> None:
    runtime = make(user("alice", password=password, state=None))
    for _ in range(3):
        assert await reconcile(runtime) == Result()
    assert stored(runtime)["spec"]["password"] == password
    assert "status" not in stored(runtime)
    assert reasons(runtime) == [("Warning", "PasswordRefused")]
    message = runtime.console.events[0]["message"]
    assert BAD[password] in message
    assert password not in message


async def test_a_corrected_password_is_accepted() -> None:
    runtime = make(user("alice", password="short1A", state=None))
    await reconcile(runtime)
    better = {**stored(runtime), "spec": {"email": "", "password": PASSWORD}}
    runtime.console.put(USERS, better)
    await reconcile(runtime)
    assert is_hash(stored(runtime)["spec"]["password"])
    assert stored(runtime)["status"]["state"] == "Active"


@pytest.mark.parametrize("kind", ["$2a$", "$2b$", "$2y$"])
async def test_a_hash_is_kept_and_the_user_becomes_active(kind: str, subresource: bool) -> None:
    hashed = kind + HASH[4:]
    runtime = make(user("alice", password=hashed, state=None), subresource=subresource)
    await reconcile(runtime)
    assert stored(runtime)["spec"]["password"] == hashed
    assert stored(runtime)["status"]["state"] == "Active"
    assert reasons(runtime) == [("Normal", "Synced")]


async def test_a_disabled_user_stays_disabled() -> None:
    runtime = make(user("alice", password=HASH, state="Disabled", finalizers=[FINALIZER]))
    await reconcile(runtime)
    assert runtime.console.calls == []
    plain = make(user("alice", password=PASSWORD, state="Disabled"))
    await reconcile(plain)
    assert is_hash(stored(plain)["spec"]["password"])
    assert stored(plain)["status"]["state"] == "Disabled"


@pytest.mark.parametrize("state", [None, "Active", "AuthLimitExceeded"])
async def test_a_user_without_password_and_provider_is_disabled(
    state: str | None, subresource: bool
) -> None:
    runtime = make(user("alice", state=state), subresource=subresource)
    await reconcile(runtime)
    assert stored(runtime)["status"]["state"] == "Disabled"
    assert stored(runtime)["status"]["reason"]
    assert reasons(runtime) == [("Warning", "UserDisabled")]


async def test_a_user_of_a_provider_needs_no_password() -> None:
    labels = {"iam.kubesphere.io/identify-provider": "ldap"}
    runtime = make(user("alice", state=None, labels=labels))
    await reconcile(runtime)
    assert stored(runtime)["status"]["state"] == "Active"


async def test_a_lock_ends_after_ten_minutes() -> None:
    locked = user("alice", password=HASH, state="AuthLimitExceeded", finalizers=[FINALIZER])
    locked["status"]["lastTransitionTime"] = (START - timedelta(minutes=4)).isoformat()
    locked["status"]["reason"] = "too many"
    runtime = make(locked)
    assert await reconcile(runtime) == Result(requeue_after=360.0)
    assert runtime.console.calls == []
    runtime.clock.move(minutes=6)
    await reconcile(runtime)
    assert stored(runtime)["status"]["state"] == "Active"
    assert "reason" not in stored(runtime)["status"]


@pytest.mark.parametrize("since", [None, "yesterday", "2026-03-01T12:00:00"])
async def test_a_lock_without_a_valid_start_time_starts_now(since: str | None) -> None:
    locked = user("alice", password=HASH, state="AuthLimitExceeded")
    locked["status"]["lastTransitionTime"] = since
    runtime = make(locked)
    await reconcile(runtime)
    assert await reconcile(runtime) == Result(requeue_after=600.0)


async def test_a_concurrent_change_causes_a_conflict() -> None:
    runtime = make(user("alice", password=PASSWORD, state=None))
    runtime.console.delayed = True
    theirs = user("alice", password="An0ther-password", state=None)
    runtime.console.put(USERS, theirs)
    with pytest.raises(Conflict):
        await reconcile(runtime)
    assert stored(runtime)["spec"]["password"] == "An0ther-password"
    assert runtime.console.events == []


async def test_a_failed_event_does_not_stop_the_reconciliation() -> None:
    runtime = make(user("alice", password=PASSWORD, state=None))
    runtime.console.fail_events = Forbidden(403, "no")
    await reconcile(runtime)
    assert stored(runtime)["status"]["state"] == "Active"


@pytest.mark.parametrize(
    "metadata",
    [
        {"deletionTimestamp": "2026-03-01T12:00:00Z"},
        {"labels": {"kubefed.io/managed": "true"}},
    ],
)
async def test_terminating_and_federated_users_are_ignored(
    metadata: dict[str, Any],
) -> None:
    runtime = make(user("alice", password=PASSWORD, state=None, **metadata))
    await reconcile(runtime)
    await reconcile(runtime, "nobody")
    assert runtime.console.calls == []


@pytest.mark.parametrize(
    "password", ["P@88w0rd", "Aa1" + "x" * 61, "\u00e9\u00e9Aa1\u00e9\u00e9\u00e9"]
)
def test_valid_passwords(password: str) -> None:
    assert password_problem(password) == ""
