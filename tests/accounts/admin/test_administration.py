"""Administration of other users' accounts: permissions, effects and messages."""

import re
from datetime import timedelta
from typing import Any

import bcrypt
import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError

from accounts.users.reconciler import FINALIZER
from console.audit.models import AuditRecord
from console.kube.errors import ApiError, Conflict, Forbidden, NotFound, ServerError, Unavailable
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, LOGIN_RECORDS, USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from tests.accounts.conftest import HASH, ORIGIN, PASSWORD, Browser
from tests.accounts.login_records import record
from tests.rbac.fakes import START, MovableClock
from tests.rbac.objects import IAM, native_binding, native_role, rule, user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

USERS_PAGE = "/access/accounts"
NEW = "Quarterdeck-7"
TABS = ("overview", "resources", "events", "changes", "audit", "yaml")
NAMES = ("alice", "nobody")
LIST = "/clusters/host/users.iam.kubesphere.io"
ACTIONS = (
    "profile", "disable", "enable", "unlock", "end-sessions", "password", "reset-second-factor"
)  # fmt: skip
POSTS = [
    f"{USERS_PAGE}/new",
    *(f"{LIST}/{n}/actions/{action}" for n in NAMES for action in ACTIONS),
]
PAGES = [*POSTS, *(f"{USERS_PAGE}/users/{n}" for n in NAMES)]


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


def url_of(what: str, name: str = "alice") -> str:
    return f"{LIST}/{name}/actions/{what}"


async def act(
    browser: Browser, what: str, name: str = "alice", uid: str = "", **headers: str
) -> Any:
    """Post an action with the fields that its form needs."""
    fields = {"uid": uid or f"uid-{name}", "email": "al@example.com", "password": NEW}
    return await browser.post(url_of(what, name), fields, **headers)


# Permissions.


async def test_users_without_permission_get_the_same_response_for_every_name(
    browser: Browser, runtime: StaticRuntime
) -> None:
    await browser.login("bob")
    pages = set()
    for path in PAGES:
        answer = await browser.get(path)
        assert answer.status_code == 403, path
        if path.endswith(("alice", "nobody")):
            shown = answer.content.decode().partition("<main")[2]
            shown = re.sub(r'value="\w{64,}"', "", shown)
            pages.add(shown.replace("/users/nobody", "/users/alice"))
    assert len(pages) == 1
    for path in POSTS:
        assert (await browser.post(path, {"name": "alice"})).status_code == 403, path
    assert (await browser.get(USERS_PAGE)).status_code == 403
    assert writes(runtime) == []


async def test_cross_site_forms_are_refused(admin: Browser, runtime: StaticRuntime) -> None:
    for path in POSTS:
        answer = await admin.post(path, {}, Sec_Fetch_Site="cross-site")
        assert answer.status_code == 403
    assert writes(runtime) == []


async def test_get_requests_change_nothing(admin: Browser, runtime: StaticRuntime) -> None:
    """Actions with a confirmation have a page, other actions have no page."""
    for what, status in (("disable", 200), ("end-sessions", 200), ("unlock", 409), ("enable", 405)):
        assert (await admin.get(url_of(what))).status_code == status, what
    assert writes(runtime) == []


async def test_old_urls_redirect_to_the_actions(admin: Browser) -> None:
    for what in ACTIONS:
        old = f"{USERS_PAGE}/users/alice/{what}"
        for answer, status in ((await admin.get(old), 302), (await admin.post(old), 307)):
            assert (answer.status_code, answer["Location"]) == (status, url_of(what))


async def test_an_unknown_user_is_not_found(admin: Browser) -> None:
    for path in (
        f"{USERS_PAGE}/users/nobody",
        url_of("profile", "nobody"),
        url_of("password", "nobody"),
    ):
        assert (await admin.get(path)).status_code == 404
    assert (await act(admin, "disable", "nobody")).status_code == 404
    assert (await act(admin, "promote")).status_code == 404


async def test_the_user_list_links_to_account_pages(admin: Browser) -> None:
    assert (await admin.get(USERS_PAGE))["Location"] == LIST
    text = (await admin.get(LIST)).content.decode()
    assert 'href="/access/accounts/new"' in text
    assert f'href="{USERS_PAGE}/users/alice"' in text
    assert f'href="{LIST}/alice"' not in text


async def test_the_resource_page_of_a_user_redirects_to_the_account_page(admin: Browser) -> None:
    page, tabs = f"{USERS_PAGE}/users/alice", [f"{LIST}/alice/{tab}" for tab in TABS]
    for old in (f"{LIST}/alice", f"{LIST}/alice?x=y", f"{LIST}/alice/account"):
        assert (await admin.get(old))["Location"] == page
    for path in (page, *tabs):
        nav = re.findall(
            r'<nav class="tabs".*?</nav>', (await admin.get(path)).content.decode(), re.S
        )[0]
        *found, who_may = re.findall(r'<a href="([^"]*)"', nav)
        assert found == [page, *tabs] and who_may.startswith("/access/who-may?")
        assert re.findall(r'<a href="([^"]*)"[^>]*aria-current', nav) == [path]
    text = (await admin.get(page)).content.decode()
    assert f'href="{LIST}/alice/edit"' in text
    assert f'href="{LIST}/alice/actions/labels"' in text


async def test_json_and_yaml_of_a_user_keep_their_url(admin: Browser) -> None:
    for form in ("json", "yaml"):
        assert (await admin.get(f"{LIST}/alice?format={form}")).status_code == 200


# Creation.


async def make(browser: Browser, **fields: str) -> Any:
    given = {"name": "carla", "email": "carla@example.com", "password": NEW, "change": "on"}
    return await browser.post(USERS_PAGE + "/new", {**given, **fields})


@pytest.mark.usefixtures("real_hashes")
async def test_a_new_user_has_a_password_hash_and_must_change_the_password(
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


async def test_the_forced_password_change_and_the_email_are_optional(
    admin: Browser, runtime: StaticRuntime
) -> None:
    await make(admin, change="", email="")
    assert (
        "iam.kubesphere.io/uninitialized" not in stored(runtime, "carla")["metadata"]["annotations"]
    )
    assert stored(runtime, "carla")["spec"]["email"] == ""


BAD: list[tuple[dict[str, str], str]] = [
    ({"name": ""}, "Use lowercase letters"),
    ({"name": "Carla"}, "Use lowercase letters"),
    ({"name": "a" * 64}, "at most 63 characters"),
    ({"name": "system:admin"}, "Use lowercase letters"),
    ({"name": "-x"}, "Use lowercase letters"),
    ({"name": "a..b"}, "Use lowercase letters"),
    ({"name": "../x"}, "Use lowercase letters"),
    ({"name": "alice"}, "A user with this name already exists."),
    ({"email": "alice@example.com"}, "Another user already has this email address."),
    ({"email": "nonsense"}, "Enter a valid email address."),
    ({"password": "short"}, "Use 8 to 64 characters."),
    ({"password": "Carla-1234"}, "too similar to the username"),
    ({"password": ""}, "Use 8 to 64 characters."),
]


@pytest.mark.parametrize(("fields", "text"), BAD, ids=range(len(BAD)))
async def test_invalid_values_are_reported_and_input_is_kept(
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
        (Forbidden(403, "users is forbidden"), "Permission denied by the cluster."),
        (
            Conflict(409, "exists"),
            "This object was changed in the meantime. Reload the page and try again.",
        ),
        (Unavailable("connection refused"), "may or may not have been applied"),
        (ServerError(500, "strconv.ParseUint"), "The cluster rejected the request."),
    ],
)
async def test_api_errors_on_creation_are_shown(
    admin: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, error: Any, text: str
) -> None:
    async def fail(*_args: Any, **_kwargs: Any) -> None:
        raise error

    monkeypatch.setattr(runtime.console, "create", fail)
    answer = await make(admin)
    assert 400 <= answer.status_code <= 503 and answer.status_code != 500
    page = answer.content.decode()
    assert text in page and error.message in page and NEW not in page


# Changes.


async def test_changing_the_profile_keeps_other_fields(
    admin: Browser, runtime: StaticRuntime
) -> None:
    page = await admin.get(url_of("profile"))
    assert "alice@example.com" in page.content.decode()
    fields = {"uid": "uid-alice", "email": "al@example.com", "displayName": "Al", "groups": "x"}
    assert (await admin.post(url_of("profile"), fields)).status_code == 302
    spec = {"email": "al@example.com", "password": HASH, "displayName": "Al"}
    assert stored(runtime)["spec"] == spec


async def test_resetting_a_password_revokes_all_sessions(
    admin: Browser, runtime: StaticRuntime
) -> None:
    alice = Browser()
    await alice.login("alice")
    fields = {"uid": "uid-alice", "password": NEW, "change": "on"}
    await admin.post(url_of("password"), fields)
    assert not await is_in(alice)
    assert (await Browser().login("alice", PASSWORD)).status_code == 401
    again = Browser()
    await again.login("alice", NEW)
    assert (await again.get("/dashboard"))["Location"].startswith("/password/confirm")
    row = await AuditRecord.objects.filter(subresource="password").aget()
    assert (row.actor, row.as_user, row.verb, row.name) == ("admin", "admin", "patch", "alice")


async def test_disabling_a_user_revokes_sessions_for_good(
    admin: Browser, runtime: StaticRuntime
) -> None:
    alice = Browser()
    await alice.login("alice")
    assert (await act(admin, "disable")).status_code == 302
    assert stored(runtime)["status"]["state"] == "Disabled"
    assert await Session.objects.acount() == 1
    assert (await Browser().login("alice")).status_code == 401
    assert (await act(admin, "enable")).status_code == 302
    assert stored(runtime)["status"]["state"] == "Active"
    assert not await is_in(alice)
    assert (await Browser().login("alice")).status_code == 302


async def test_users_cannot_disable_or_enable_their_own_account(
    admin: Browser, runtime: StaticRuntime
) -> None:
    for what in ("disable", "enable", "reset-second-factor", "delete"):
        assert (await act(admin, what, "admin")).status_code == 403
    assert writes(runtime) == []
    text = (await admin.get(f"{USERS_PAGE}/users/admin")).content.decode()
    assert url_of("end-sessions", "admin") in text
    assert url_of("disable", "admin") not in text and url_of("delete", "admin") not in text


async def test_account_page_does_not_offer_bulk_actions(admin: Browser) -> None:
    text = (await admin.get(f"{USERS_PAGE}/users/alice")).content.decode()
    assert url_of("labels", "alice") in text
    assert url_of("change-labels", "alice") not in text


async def test_users_cannot_reset_their_own_password(
    admin: Browser, runtime: StaticRuntime
) -> None:
    """ "My account" asks for the current password, because the browser may be unattended."""
    text = (await admin.get(f"{USERS_PAGE}/users/admin")).content.decode()
    page = url_of("password", "admin")
    assert "Reset password" not in text and page not in text
    assert (await admin.get(page)).status_code == 403
    assert (await admin.post(page, {"uid": "uid-admin", "password": NEW})).status_code == 403
    assert writes(runtime) == []


async def test_sessions_can_be_revoked_including_the_own_ones(admin: Browser) -> None:
    alice = Browser()
    await alice.login("alice")
    await act(admin, "end-sessions")
    assert not await is_in(alice)
    assert (await Browser().login("alice")).status_code == 302
    await act(admin, "end-sessions", "admin")
    assert not await is_in(admin)


@pytest.mark.parametrize("what", ["disable", "unlock", "profile", "password"])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Forbidden(403, "users is forbidden"), "Permission denied by the cluster."),
        (NotFound(404, "users not found"), "No user alice found."),
        (
            Conflict(409, "the object has been modified"),
            "replaced by another object with the same name",
        ),
        (Unavailable("connection refused"), "may or may not have been applied"),
        (ServerError(500, "strconv.ParseUint"), "The cluster rejected the request."),
    ],
)
async def test_api_errors_of_actions_are_shown(
    admin: Browser, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, what: str,
    error: ApiError, text: str,
) -> None:  # fmt: skip
    async def fail(*_args: Any, **_kwargs: Any) -> None:
        raise error

    runtime.console.put(USERS, user("alice", password=HASH, state="AuthLimitExceeded"))
    monkeypatch.setattr(runtime.console, "patch", fail)
    answer = await act(admin, what)
    assert answer.status_code == error.page_code
    page = answer.content.decode()
    assert text in page or (what != "unlock" and "The object no longer exists." in page)
    assert NEW not in page
    row = await AuditRecord.objects.aget(subresource=what)
    assert row.code == error.code


@pytest.mark.parametrize("what", ["disable", "end-sessions", "profile", "password"])
async def test_actions_require_the_uid_of_the_user(
    admin: Browser, runtime: StaticRuntime, what: str
) -> None:
    alice = Browser()
    await alice.login("alice")
    answer = await act(admin, what, uid="an-older-one")
    assert answer.status_code == 422
    assert "replaced by another object with the same name" in answer.content.decode()
    assert stored(runtime) == user("alice", password=HASH)
    assert await is_in(alice)
    for uid in ("", "x" * 200, "a\nb"):
        assert (await admin.post(url_of(what), {"uid": uid})).status_code == 400
    assert len(writes(runtime)) == 1


async def test_json_clients_get_a_status_object(admin: Browser, runtime: StaticRuntime) -> None:
    json = {"Accept": "application/json"}
    done = (await act(admin, "disable", **json)).json()
    assert (done["status"], done["code"]) == ("Success", 200)
    assert done["message"] == "Disabled user alice. All sessions and tokens of the user have ended."
    answers = {
        409: await act(admin, "disable", **json),
        400: await admin.post(url_of("enable"), {}, **json),
        422: await act(admin, "enable", uid="an-older-one", **json),
        404: await act(admin, "enable", "nobody", **json),
        403: await act(admin, "disable", "admin", **json),
    }
    for code, answer in answers.items():
        found = answer.json()
        assert (answer.status_code, found["code"], found["status"]) == (code, code, "Failure")
        assert found["message"]
    assert stored(runtime)["status"]["state"] == "Disabled"


async def test_a_refused_action_names_the_missing_permission(browser: Browser) -> None:
    await browser.login("bob")
    answer = await act(browser, "disable")
    assert answer.status_code == 403
    assert "You don&#x27;t have permission to list users" in answer.content.decode()
    assert (await act(browser, "disable", Accept="application/json")).json()["code"] == 403
    assert not await AuditRecord.objects.filter(resource=USERS.resource).aexists()


async def test_each_action_is_audited(admin: Browser) -> None:
    for what in ("end-sessions", "disable", "enable"):
        await act(admin, what)
        row = await AuditRecord.objects.aget(subresource=what)
        assert (row.actor, row.as_user, row.verb, row.name) == ("admin", "admin", "patch", "alice")
        assert (row.resource, row.code) == (USERS.resource, 200)


async def test_actions_that_do_not_apply_are_refused(
    admin: Browser, runtime: StaticRuntime
) -> None:
    reasons = {
        "enable": "The current state of the object doesn&#x27;t allow this action.",
        "unlock": "The user is not locked.",
        "reset-second-factor": "The user has no second factor.",
    }
    for what, reason in reasons.items():
        answer = await act(admin, what)
        assert answer.status_code == 409
        assert reason in answer.content.decode()
    for what in ("disable", "end-sessions", "unlock"):
        assert (await act(admin, what, "disabled")).status_code == 409
    assert writes(runtime) == []


async def test_actions_redirect_back_to_the_previous_page(admin: Browser) -> None:
    """The previous page must be the filtered list or a page of this user."""
    pages = {
        f"{LIST}?status=ok": f"{LIST}?status=ok",
        f"{LIST}/alice/yaml": f"{LIST}/alice/yaml",
        f"{USERS_PAGE}/users/alice": f"{USERS_PAGE}/users/alice",
        f"{USERS_PAGE}/users/bob": LIST,
        "/logout": LIST,
    }
    for page, back in pages.items():
        answer = await act(admin, "end-sessions", Referer=f"{ORIGIN}{page}")
        assert answer["Location"] == back


async def test_bulk_disable(admin: Browser, runtime: StaticRuntime) -> None:
    """The own account and disabled users are skipped."""
    bob = Browser()
    await bob.login("bob")
    names = ("admin", "alice", "bob", "disabled")
    answer = await admin.post(
        "/bulk/host/users.iam.kubesphere.io/disable", {"keys": "\n".join(names)}
    )
    text = answer.content.decode()
    assert "Disable 2 users" in text
    targets = "\n".join(f"uid-{name} {name}" for name in names)
    done = await admin.post("/bulk/host/users.iam.kubesphere.io/disable", {"targets": targets})
    text = b"".join([part async for part in done.streaming_content]).decode()
    assert 'data-done="2" data-gone="0" data-refused="2"' in text
    for name in ("alice", "bob"):
        assert stored(runtime, name)["status"]["state"] == "Disabled"
    assert stored(runtime, "admin")["status"] == {"state": "Active"}
    assert not await is_in(bob)


async def test_bulk_disable_reports_a_database_error_per_user(
    admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_args: Any) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr("accounts.admin.actions.revoke_all", away)
    targets = "uid-alice alice\nuid-bob bob"
    done = await admin.post("/bulk/host/users.iam.kubesphere.io/disable", {"targets": targets})
    text = b"".join([part async for part in done.streaming_content]).decode()
    assert 'data-done="0" data-gone="0" data-refused="2"' in text
    assert text.count("The database is not available.") == 2


async def test_a_locked_user_can_be_unlocked(
    admin: Browser, runtime: StaticRuntime, clock: MovableClock
) -> None:
    page = f"{USERS_PAGE}/users/alice"
    assert url_of("unlock") not in (await admin.get(page)).content.decode()
    for _ in range(10):
        await Browser().login("alice", "wrong")
    assert (await Browser().login("alice")).status_code == 429
    text = (await admin.get(page)).content.decode()
    assert url_of("unlock") in text and "Try again in 10 minutes." in text
    await act(admin, "unlock")
    status = stored(runtime)["status"]
    assert status["state"] == "Active" and status["lastTransitionTime"]
    assert (await Browser().login("alice")).status_code == 302


async def test_a_lock_in_the_user_status_can_be_unlocked(
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


async def test_the_account_page_escapes_user_data_and_shows_sign_ins(
    admin: Browser, runtime: StaticRuntime
) -> None:
    runtime.console.put(LOGIN_RECORDS, record("a", START, sourceIP="192.0.2.77"))
    hostile = user("alice", password=HASH, email="<b>@example.com")
    hostile["spec"]["displayName"] = "<script>x</script>\u202e"
    runtime.console.put(USERS, hostile)
    text = (await admin.get(f"{USERS_PAGE}/users/alice")).content.decode()
    assert "192.0.2.77" in text
    assert "<script>x" not in text and "\u202e" not in text
    assert HASH not in text


async def test_sessions_are_shown_only_to_users_who_may_revoke_them(
    browser: Browser, runtime: StaticRuntime
) -> None:
    await Browser(**{"User-Agent": "Some program"}).login("alice")
    await browser.login("bob")
    for verbs in ("get list", "patch"):
        name = verbs.replace(" ", "-")
        bring(runtime.informer(CLUSTER_ROLES), native_role(name, rule(verbs, "users", IAM)))
        given = native_binding(name, name, "User bob")
        bring(runtime.informer(CLUSTER_ROLE_BINDINGS), given)
        answer = await browser.get(f"{USERS_PAGE}/users/alice")
        assert answer.status_code == 200
        assert ("Some program" in answer.content.decode()) is (verbs == "patch")


async def test_pages_are_unavailable_before_users_are_synced(
    admin: Browser, runtime: StaticRuntime, users: Informer[Any]
) -> None:
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    for path in PAGES:
        assert (await admin.get(path)).status_code == 503
    runtime._informers[USERS] = users
