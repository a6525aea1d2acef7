"""Accounts of others: who may, what happens, and what is said."""

import re
from datetime import timedelta
from typing import Any

import bcrypt
import pytest
from django.contrib.sessions.models import Session

from accounts.controllers import FINALIZER
from console.audit.models import AuditRecord
from console.kube.errors import Conflict, Forbidden, ServerError, Unavailable
from console.kube.gvr import LOGIN_RECORDS, USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import StaticRuntime
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.accounts.protection.test_retention import record
from tests.rbac.fakes import START, MovableClock
from tests.rbac.objects import user

pytestmark = pytest.mark.django_db(transaction=True)

USERS_PAGE = "/access/accounts"
NEW = "Quarterdeck-7"
NAMES = ("alice", "nobody")
ACTS = ("disable", "enable", "unlock", "end-sessions")
PAGES = ["/new", *(f"/users/{n}{part}" for n in NAMES for part in ("", "/edit", "/password"))]
POSTS = ["/new", *(f"/users/{n}/{act}" for n in NAMES for act in ("edit", "password", *ACTS))]


@pytest.fixture
async def admin(browser: Browser) -> Browser:
    await browser.login("admin")
    return browser


def stored(runtime: StaticRuntime, name: str = "alice") -> dict[str, Any]:
    found: dict[str, Any] = runtime.console.of(USERS)[name]
    return found


def writes(runtime: StaticRuntime) -> list[Any]:
    return [call for call in runtime.console.calls if call[1] == "users"]


async def is_in(browser: Browser) -> bool:
    return bool((await browser.get("/dashboard")).status_code == 200)


async def act(browser: Browser, what: str, name: str = "alice", uid: str = "") -> Any:
    path = f"{USERS_PAGE}/users/{name}/{what}"
    return await browser.post(path, {"uid": uid or f"uid-{name}"})


# Who may.


async def test_for_whoever_may_not_there_is_one_answer(
    browser: Browser, runtime: StaticRuntime
) -> None:
    await browser.login("bob")
    pages = set()
    for path in PAGES:
        answer = await browser.get(USERS_PAGE + path)
        assert answer.status_code == 403, path
        if path.endswith(("alice", "nobody")):
            shown = answer.content.decode().partition("<main")[2]
            shown = re.sub(r'value="\w{64}"', "", shown)
            pages.add(shown.replace("/users/nobody", "/users/alice"))
    assert len(pages) == 1
    for path in POSTS:
        assert (await browser.post(USERS_PAGE + path, {"name": "alice"})).status_code == 403, path
    assert (await browser.get(USERS_PAGE)).status_code == 403
    assert writes(runtime) == []


async def test_forms_of_other_sites_are_refused(admin: Browser, runtime: StaticRuntime) -> None:
    for path in POSTS:
        answer = await admin.post(USERS_PAGE + path, {}, Sec_Fetch_Site="cross-site")
        assert answer.status_code == 403
    assert writes(runtime) == []


async def test_acts_take_posts_alone(admin: Browser) -> None:
    for what in ACTS:
        assert (await admin.get(f"{USERS_PAGE}/users/alice/{what}")).status_code == 405


async def test_there_is_nobody_of_that_name(admin: Browser) -> None:
    for part in ("", "/edit", "/password"):
        answer = await admin.get(f"{USERS_PAGE}/users/nobody{part}")
        assert answer.status_code == 404
    assert (await act(admin, "disable", "nobody")).status_code == 404
    assert (await act(admin, "promote")).status_code == 404


async def test_the_menu_and_the_list_lead_there(admin: Browser) -> None:
    where = "/clusters/host/users.iam.kubesphere.io"
    assert (await admin.get(USERS_PAGE))["Location"] == where
    text = (await admin.get(where)).content.decode()
    assert 'href="/access/accounts/new"' in text
    assert f'href="{USERS_PAGE}/users/alice"' in text
    assert (await admin.get(where + "/alice/account"))["Location"] == USERS_PAGE + "/users/alice"
    assert (await admin.get("/clusters/host/pods/alice/account")).status_code == 404


# Making one.


async def make(browser: Browser, **fields: str) -> Any:
    given = {"name": "carla", "email": "carla@example.com", "password": NEW, "change": "on"}
    return await browser.post(USERS_PAGE + "/new", {**given, **fields})


async def test_a_new_user_has_a_hash_and_must_change_it(
    admin: Browser, runtime: StaticRuntime
) -> None:
    answer = await make(admin, displayName="Carla C", description="new here")
    assert (answer.status_code, answer["Location"]) == (302, USERS_PAGE + "/users/carla")
    found = stored(runtime, "carla")
    hashed = found["spec"].pop("password")
    assert hashed.startswith("$2b$10$") and bcrypt.checkpw(NEW.encode(), hashed.encode())
    assert found["spec"] == {
        "email": "carla@example.com",
        "displayName": "Carla C",
        "description": "new here",
    }
    annotations = found["metadata"]["annotations"]
    assert annotations["iam.kubesphere.io/uninitialized"] == "true"
    assert annotations["kubesphere.io/creator"] == "admin"
    assert found["metadata"]["finalizers"] == [FINALIZER]
    assert NEW not in str(runtime.console.objects)
    carla = Browser()
    await carla.login("carla", NEW)
    assert (await carla.get("/dashboard"))["Location"].startswith("/password/confirm")


async def test_that_can_be_left_out(admin: Browser, runtime: StaticRuntime) -> None:
    await make(admin, change="", email="")
    assert (
        "iam.kubesphere.io/uninitialized" not in stored(runtime, "carla")["metadata"]["annotations"]
    )
    assert stored(runtime, "carla")["spec"]["email"] == ""


BAD: list[tuple[dict[str, str], str]] = [
    ({"name": ""}, "Use lower-case letters"),
    ({"name": "Carla"}, "Use lower-case letters"),
    ({"name": "a" * 64}, "at most 63 characters"),
    ({"name": "system:admin"}, "Use lower-case letters"),
    ({"name": "-x"}, "Use lower-case letters"),
    ({"name": "a..b"}, "Use lower-case letters"),
    ({"name": "../x"}, "Use lower-case letters"),
    ({"name": "alice"}, "There is a user of this name already."),
    ({"email": "alice@example.com"}, "Another user has this address."),
    ({"email": "nonsense"}, "This is not an email address."),
    ({"password": "short"}, "Use 8 to 64 characters."),
    ({"password": "Carla-1234"}, "too much like the name"),
    ({"password": ""}, "Use 8 to 64 characters."),
]


@pytest.mark.parametrize(("fields", "text"), BAD, ids=range(len(BAD)))
async def test_what_is_wrong_is_said_and_what_was_typed_stays(
    admin: Browser, runtime: StaticRuntime, fields: dict[str, str], text: str
) -> None:
    answer = await make(admin, displayName="Kept as typed", **fields)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert text in page and "Kept as typed" in page
    assert NEW not in page
    assert writes(runtime) == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Forbidden(403, "users is forbidden"), "The cluster did not allow it."),
        (Conflict(409, "exists"), "Somebody else changed it in the meantime."),
        (Unavailable("connection refused"), "may or may not be done"),
        (ServerError(500, "strconv.ParseUint"), "The cluster refused."),
    ],
)
async def test_what_the_cluster_refuses_is_said(
    admin: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, error: Any, text: str
) -> None:
    async def fail(*_args: Any, **_kwargs: Any) -> None:
        raise error

    for method in ("create", "get"):
        monkeypatch.setattr(runtime.console, method, fail)
    answers = [
        await make(admin),
        await admin.post(f"{USERS_PAGE}/users/alice/edit", {"email": "a@example.com"}),
        await admin.post(f"{USERS_PAGE}/users/alice/password", {"password": NEW}),
        await act(admin, "disable"),
    ]
    for answer in answers:
        assert 400 <= answer.status_code <= 503 and answer.status_code != 500
        page = answer.content.decode()
        assert text in page and error.message in page and NEW not in page


# Changing one.


async def test_a_profile_is_changed_and_nothing_else(
    admin: Browser, runtime: StaticRuntime
) -> None:
    page = await admin.get(f"{USERS_PAGE}/users/alice/edit")
    assert "alice@example.com" in page.content.decode()
    fields = {"uid": "uid-alice", "email": "al@example.com", "displayName": "Al", "groups": "x"}
    assert (await admin.post(f"{USERS_PAGE}/users/alice/edit", fields)).status_code == 302
    spec = {"email": "al@example.com", "password": HASH, "displayName": "Al"}
    assert stored(runtime)["spec"] == spec


async def test_another_user_of_the_name_is_not_changed(
    admin: Browser, runtime: StaticRuntime
) -> None:
    for what in ("edit", "password", "disable"):
        path = f"{USERS_PAGE}/users/alice/{what}"
        fields = {"uid": "an-older-one", "email": "x@example.com", "password": NEW}
        answer = await admin.post(path, fields)
        assert "another user has taken the name since" in answer.content.decode()
    assert stored(runtime) == user("alice", password=HASH)


async def test_a_reset_password_ends_everything(admin: Browser, runtime: StaticRuntime) -> None:
    alice = Browser()
    await alice.login("alice")
    fields = {"uid": "uid-alice", "password": NEW, "change": "on"}
    await admin.post(f"{USERS_PAGE}/users/alice/password", fields)
    assert not await is_in(alice)
    assert (await Browser().login("alice", PASSWORD)).status_code == 401
    again = Browser()
    await again.login("alice", NEW)
    assert (await again.get("/dashboard"))["Location"].startswith("/password/confirm")
    row = await AuditRecord.objects.filter(subresource="password").aget()
    assert (row.actor, row.as_user, row.verb, row.name) == ("admin", "admin", "patch", "alice")


async def test_a_disabled_user_is_out_and_stays_out(admin: Browser, runtime: StaticRuntime) -> None:
    alice = Browser()
    await alice.login("alice")
    assert (await act(admin, "disable"))["Location"] == USERS_PAGE + "/users/alice"
    assert stored(runtime)["status"]["state"] == "Disabled"
    assert await Session.objects.acount() == 1
    assert (await Browser().login("alice")).status_code == 401
    assert (await act(admin, "enable")).status_code == 302
    assert stored(runtime)["status"]["state"] == "Active"
    assert not await is_in(alice)
    assert (await Browser().login("alice")).status_code == 302


async def test_nobody_disables_or_enables_themselves(
    admin: Browser, runtime: StaticRuntime
) -> None:
    answer = await act(admin, "disable", "admin")
    assert answer.status_code == 409
    assert stored(runtime, "admin")["status"] == {"state": "Active"}
    assert "Disable user" not in answer.content.decode()
    assert "Delete user" not in answer.content.decode()


async def test_nobody_resets_their_own_password(admin: Browser, runtime: StaticRuntime) -> None:
    """The present one is asked for under "My account": a browser may have been left open."""
    page = f"{USERS_PAGE}/users/admin"
    text = (await admin.get(page)).content.decode()
    assert "Reset password" not in text and f"{page}/password" not in text
    assert (await admin.get(f"{page}/password"))["Location"] == "/account"
    answer = await admin.post(f"{page}/password", {"uid": "uid-admin", "password": NEW})
    assert (answer.status_code, answer["Location"]) == (302, "/account")
    assert writes(runtime) == []


async def test_sessions_can_be_ended_the_own_ones_too(admin: Browser) -> None:
    alice = Browser()
    await alice.login("alice")
    await act(admin, "end-sessions")
    assert not await is_in(alice)
    assert (await Browser().login("alice")).status_code == 302
    await act(admin, "end-sessions", "admin")
    assert not await is_in(admin)


async def test_a_locked_user_can_be_unlocked(
    admin: Browser, runtime: StaticRuntime, clock: MovableClock
) -> None:
    page = f"{USERS_PAGE}/users/alice"
    assert "Unlock user" not in (await admin.get(page)).content.decode()
    for _ in range(10):
        await Browser().login("alice", "wrong")
    assert (await Browser().login("alice")).status_code == 429
    text = (await admin.get(page)).content.decode()
    assert "Unlock user" in text and "Try again in 10 minutes." in text
    await act(admin, "unlock")
    status = stored(runtime)["status"]
    assert status["state"] == "Active" and status["lastTransitionTime"]
    assert (await Browser().login("alice")).status_code == 302


async def test_a_lock_by_the_state_too(
    admin: Browser, runtime: StaticRuntime, clock: MovableClock
) -> None:
    locked = user("alice", password=HASH, state="AuthLimitExceeded")
    began = clock.now() - timedelta(minutes=1)
    locked["status"] |= {"lastTransitionTime": began.isoformat(), "reason": "too many"}
    runtime.console.put(USERS, locked)
    assert (await Browser().login("alice")).status_code == 429
    await act(admin, "unlock")
    assert stored(runtime)["status"]["state"] == "Active"
    assert "reason" not in stored(runtime)["status"]
    assert (await Browser().login("alice")).status_code == 302


async def test_the_page_says_what_is_known(admin: Browser, runtime: StaticRuntime) -> None:
    runtime.console.put(LOGIN_RECORDS, record("a", START, sourceIP="192.0.2.77"))
    hostile = user("alice", password=HASH, email="<b>@example.com")
    hostile["spec"]["displayName"] = "<script>x</script>\u202e"
    runtime.console.put(USERS, hostile)
    text = (await admin.get(f"{USERS_PAGE}/users/alice")).content.decode()
    assert "192.0.2.77" in text
    assert "<script>x" not in text and "\u202e" not in text
    assert HASH not in text


async def test_before_the_users_have_arrived_nothing_is_done(
    admin: Browser, runtime: StaticRuntime, users: Informer[Any]
) -> None:
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    for path in PAGES:
        assert (await admin.get(USERS_PAGE + path)).status_code == 503
    runtime._informers[USERS] = users
