"""Viewing the console as another user: required permissions, visible content, and no unconfirmed
changes.
"""

import html
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from accounts.impersonation.middleware import HARMLESS
from accounts.impersonation.state import LIFETIME
from accounts.signin import asgi
from accounts.signin.presence import find_session, session_presence
from console.audit.models import AuditRecord
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
)
from console.ui.core.clusters import clusters
from tests.access.conftest import IAM, Browser
from tests.access.console import signed_in, text_of, writes
from tests.accounts.conftest import HASH, ORIGIN
from tests.rbac.fakes import MovableClock, merged
from tests.rbac.objects import native_binding, native_role, rule, user
from tests.support.forms import fields_of, page_token
from tests.support.informers import bring, take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

BEGIN, ALLOW, END = "/access/view-as/users/{}", "/access/view-as/changes", "/access/view-as/end"
KEYS = "/clusters/host/projects/web/configmaps/settings/actions/keys"
SHOP = "/access/roles/workspace"


async def viewing(name: str) -> Browser:
    admin = await signed_in("admin")
    assert (await admin.post(BEGIN.format(name))).status_code == 302
    return admin


async def test_pages_show_what_the_other_user_may_see(runtime: StaticRuntime) -> None:
    admin = await viewing("bob")
    text = text_of(await admin.get("/workspaces/shop/roles"))
    assert "Viewing as <strong>bob</strong>" in text and "Create role" not in text
    assert (await admin.get("/clusters/host/nodes")).status_code == 403
    assert (await admin.get("/access/accounts/users/alice")).status_code == 403
    row = await AuditRecord.objects.aget(verb="impersonate")
    assert (row.actor, row.as_user, row.name) == ("admin", "admin", "bob")


async def test_secrets_cannot_be_revealed_until_changes_are_allowed(runtime: StaticRuntime) -> None:
    admin = await viewing("alice")
    answer = await admin.post("/clusters/host/projects/shop/secrets/db/actions/reveal", {})
    assert answer.status_code == 403 and "No changes were made" in text_of(answer)
    assert not await AuditRecord.objects.filter(verb="reveal").aexists()


async def test_changes_are_refused_until_they_are_allowed(runtime: StaticRuntime) -> None:
    admin = await viewing("alice")
    page = f"{SHOP}/shop-viewer/grant"
    given = {"kind": "User", "subject": "charlie"}
    answer = await admin.post(page, given)
    assert answer.status_code == 403 and "No changes were made" in text_of(answer)
    assert writes(runtime) == []
    assert (await admin.get(ALLOW)).status_code == 200
    assert (await admin.post(ALLOW)).status_code == 302
    assert (await admin.post(page, given)).status_code == 302
    assert "shop.charlie" in runtime.console.of(WORKSPACE_ROLE_BINDINGS)
    row = await AuditRecord.objects.aget(resource="workspacerolebindings")
    assert (row.actor, row.as_user) == ("admin", "alice")


async def test_data_keys_are_edited_as_the_other_user_after_changes_are_allowed(
    runtime: StaticRuntime,
) -> None:
    admin = await viewing("bob")
    answer = await admin.get(KEYS)
    assert answer.status_code == 403 and "blue" not in text_of(answer), "bob may not change it"
    await admin.post(END)
    await admin.post(BEGIN.format("alice"))
    sent = {**fields_of(text_of(await admin.get(KEYS))), "value-0": "green"}
    answer = await admin.post(KEYS, sent)
    assert answer.status_code == 403 and "No changes were made" in text_of(answer)
    assert runtime.console.of(CONFIG_MAPS)["web/settings"]["data"] == {"colour": "blue"}
    await admin.post(ALLOW)
    assert (await admin.post(KEYS, sent)).status_code == 302
    assert runtime.console.of(CONFIG_MAPS)["web/settings"]["data"] == {"colour": "green"}
    assert ("alice", "patch") in runtime.notes  # type: ignore[attr-defined]
    row = await AuditRecord.objects.aget(resource="configmaps")
    assert (row.actor, row.as_user, row.verb, row.subresource) == (
        "admin",
        "alice",
        "patch",
        "keys",
    )


async def test_every_form_of_the_console_is_read_only(runtime: StaticRuntime) -> None:
    admin = await viewing("alice")
    for path in (
        "/clusters/host/projects/web/pods/x/actions/delete",
        "/bulk/host/pods/delete",
        KEYS,
        KEYS.replace("configmaps", "secrets"),
        "/clusters/host/import",
        "/views",
        "/clusters/host/users.iam.kubesphere.io/bob/actions/disable",
        "/access/roles/new/workspace?workspace=shop",
        f"{SHOP}/shop-viewer/revoke",
    ):
        answer = await admin.post(path, {"uid": "x", "keys": "web/x"})
        assert answer.status_code == 403, path
    assert writes(runtime) == []
    assert (await admin.post("/settings/theme", {"theme": "dark"})).status_code != 403


async def test_account_pages_of_the_other_user_are_forbidden() -> None:
    admin = await viewing("alice")
    await admin.post(ALLOW)
    for path in ("/account", "/oauth/authorize?client_id=x", "/password/confirm"):
        assert (await admin.get(path)).status_code == 403, path
    for path in ("/account/password", "/account/profile"):
        assert (await admin.post(path, {"password": "x"})).status_code == 403, path


async def test_the_user_can_stop_viewing_as_another_user() -> None:
    admin = await viewing("bob")
    assert (await admin.post(END))["Location"] == "/access/accounts/users/bob"
    text = text_of(await admin.get("/access/accounts/users/bob"))
    assert "Viewing as" not in text and "yourself again" in text
    assert (await admin.get("/clusters/host/nodes")).status_code == 200


GRANT = f"{SHOP}/shop-viewer/grant"


async def checked_form(browser: Browser, path: str = f"{SHOP}/shop-viewer") -> dict[str, str]:
    """Open a page, and require CSRF tokens from now on. Return the input of a form of the page."""
    token = page_token(text_of(await browser.get(path)))
    browser.client.handler.enforce_csrf_checks = True
    return {"kind": "User", "subject": "charlie", "csrfmiddlewaretoken": token}


@contextmanager
def another_tab(browser: Browser) -> Iterator[Browser]:
    browser.client.handler.enforce_csrf_checks = False
    yield browser
    browser.client.handler.enforce_csrf_checks = True


async def test_a_form_of_the_viewed_user_is_refused_after_viewing_was_stopped_elsewhere(
    runtime: StaticRuntime,
) -> None:
    admin = await viewing("alice")
    await admin.post(ALLOW)
    form = await checked_form(admin)
    with another_tab(admin):
        await admin.post(END)
    for _ in range(2):
        answer = await admin.post(GRANT, form)
        text = html.unescape(text_of(answer))
        assert answer.status_code == 403 and "No changes were made" in text
        assert "You opened this page as alice, and now you use the console as admin." in text
        assert "\ncharlie</textarea>" in text and form["csrfmiddlewaretoken"] not in text
    assert writes(runtime) == []
    again = await checked_form(admin)
    assert (await admin.post(GRANT, again)).status_code == 302


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_form_of_the_administrator_is_refused_after_viewing_was_started_elsewhere(
    runtime: StaticRuntime, *, allowed: bool
) -> None:
    admin = await signed_in("admin")
    form = await checked_form(admin)
    with another_tab(admin):
        await admin.post(BEGIN.format("alice"))
        if allowed:
            await admin.post(ALLOW)
    answer = await admin.post(GRANT, form)
    text = text_of(answer)
    assert answer.status_code == 403
    assert "You opened this page as admin, and now you use the console as alice." in text
    assert writes(runtime) == []
    with another_tab(admin):
        await admin.post(END)
    assert (await admin.post(GRANT, form)).status_code == 302, "drawn and sent as admin"


async def test_requests_of_a_page_of_another_user_are_refused_with_a_status(
    runtime: StaticRuntime,
) -> None:
    admin = await viewing("alice")
    await admin.post(ALLOW)
    form = await checked_form(admin)
    token = form.pop("csrfmiddlewaretoken")
    with another_tab(admin):
        await admin.post(END)
    for headers in ({"HX_Request": "true"}, {"Accept": "application/json"}):
        answer = await admin.post(GRANT, form, X_CSRFToken=token, **headers)
        assert answer.status_code == 403
        assert "You opened this page as alice" in answer.json()["message"]
    assert writes(runtime) == []


@pytest.mark.parametrize("spoil", ["unsigned", "renamed", "cut", "other text"])
async def test_tokens_that_do_not_name_a_user_are_refused(
    runtime: StaticRuntime, spoil: str
) -> None:
    admin = await signed_in("admin")
    form = await checked_form(admin)
    token, name, signature = form["csrfmiddlewaretoken"].split("_")
    form["csrfmiddlewaretoken"] = {
        "unsigned": token,
        "renamed": f"{token}_{b'alice'.hex()}_{signature}",
        "cut": f"{token}_{name}_{signature[:-1]}",
        "other text": f"{token}_é_ff_{signature}",
    }[spoil]
    answer = await admin.post(GRANT, form)
    assert answer.status_code == 403 and "Reload the page and try again." in text_of(answer)
    assert writes(runtime) == []


async def test_forms_with_the_same_effect_for_every_user_work_on_a_page_of_another_user() -> None:
    admin = await viewing("alice")
    form = await checked_form(admin, "/dashboard")
    with another_tab(admin):
        await admin.post(END)
    for path in ("/settings/theme", END, "/logout"):
        assert (await admin.post(path, {**form, "theme": "dark"})).status_code == 302, path


async def test_passwords_are_not_shown_again(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    form = await checked_form(admin, "/access/accounts/new")
    with another_tab(admin):
        await admin.post(BEGIN.format("alice"))
    sent = {**form, "name": "dora", "password": "Not-shown-1"}
    text = text_of(await admin.post("/access/accounts/new", sent))
    assert "dora</textarea>" in text and "Not-shown-1" not in text


async def test_viewing_expires_and_later_changes_are_refused(
    runtime: StaticRuntime, clock: MovableClock
) -> None:
    admin = await viewing("alice")
    await admin.post(ALLOW)
    clock.move(seconds=(LIFETIME + timedelta(seconds=1)).total_seconds())
    answer = await admin.post(f"{SHOP}/shop-viewer/grant", {"kind": "User", "subject": "charlie"})
    assert answer.status_code == 403 and "has ended" in text_of(answer)
    assert writes(runtime) == []
    assert (await admin.get("/clusters/host/nodes")).status_code == 200


async def test_requests_do_not_extend_the_viewing_time(clock: MovableClock) -> None:
    admin = await viewing("alice")
    clock.move(seconds=(LIFETIME / 2).total_seconds())
    for name in sorted(HARMLESS - {"accounts:logout", "accounts:viewing:end"}):
        await admin.post(reverse(name), {"theme": "dark", "language": "en"})
    given = {"kind": "User", "subject": "charlie"}
    assert (await admin.post(f"{SHOP}/shop-viewer/grant", given)).status_code == 302
    for who in ("alice", "bob"):
        assert (await admin.post(BEGIN.format(who))).status_code == 403
    assert "Viewing as <strong>alice</strong>" in text_of(await admin.get(KEYS))
    clock.move(seconds=(LIFETIME / 2).total_seconds())
    assert "Viewing as alice has ended." in text_of(await admin.get("/clusters/host/nodes"))


async def test_viewing_requires_permission_and_another_existing_user() -> None:
    for who in ("alice", "bob", "carol", "charlie"):
        browser = await signed_in(who)
        for method in (browser.get, browser.post):
            assert (await method(BEGIN.format("admin"))).status_code == 403
            assert (await method(BEGIN.format("nobody"))).status_code == 403
    admin = await signed_in("admin")
    assert (await admin.post(BEGIN.format("admin"))).status_code == 403
    assert (await admin.post(BEGIN.format("nobody"))).status_code == 404
    assert (await admin.get(ALLOW)).status_code == 302
    assert (await admin.post(END)).status_code == 302


async def test_impersonate_permission_does_not_reveal_which_users_exist(
    runtime: StaticRuntime,
) -> None:
    """Viewing as a user also requires permission to get the user."""
    runtime.console.put(CLUSTER_ROLES, native_role("acting", rule("impersonate", "users")))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("acting", "acting", "User alice"))
    alice = await signed_in("alice")
    for name in ("charlie", "nobody"):
        assert (await alice.get(BEGIN.format(name))).status_code == 403
        assert (await alice.post(BEGIN.format(name))).status_code == 403


async def test_the_link_is_shown_only_with_permission() -> None:
    for who, offered in (("admin", True), ("carol", False)):
        answer = await (await signed_in(who)).get("/access/accounts/users/bob")
        assert answer.status_code == 200
        assert (BEGIN.format("bob") in text_of(answer)) is offered, who


async def test_viewing_as_a_user_who_holds_more_permissions_is_refused(
    runtime: StaticRuntime,
) -> None:
    acting = native_role("acting", rule("impersonate", "users"), rule("get list", "users", IAM))
    runtime.console.put(CLUSTER_ROLES, acting)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("acting", "acting", "User charlie"))
    charlie = await signed_in("charlie")
    answer = await charlie.post(BEGIN.format("alice"))
    assert answer.status_code == 403
    told = "alice has permissions that you don't have: perform all actions on all resources"
    assert told in html.unescape(text_of(answer))
    # Revoke bob's permissions, so that he no longer has more than charlie.
    for binding in list(runtime.console.of(ROLE_BINDINGS).values()):
        if "viewer" in binding["metadata"]["name"]:
            take_away(runtime.informer(ROLE_BINDINGS), binding)
    mine = runtime.console.of(WORKSPACE_ROLE_BINDINGS)["bob-shop-viewer"]
    assert (await charlie.post(BEGIN.format("bob"))).status_code == 403, "by the workspace's role"
    take_away(runtime.informer(WORKSPACE_ROLE_BINDINGS), mine)
    assert (await charlie.post(BEGIN.format("bob"))).status_code == 302
    assert "Viewing as <strong>bob" in text_of(await charlie.get("/dashboard"))


async def test_viewing_stops_when_the_viewer_loses_the_permission(runtime: StaticRuntime) -> None:
    """Applies to users without additional permissions too."""
    acting = native_role("acting", rule("impersonate", "users"), rule("get", "users", IAM))
    runtime.console.put(CLUSTER_ROLES, acting)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("acting", "acting", "User charlie"))
    runtime.console.put(USERS, user("dave", password=HASH))
    charlie = await signed_in("charlie")
    assert (await charlie.post(BEGIN.format("dave"))).status_code == 302
    assert "Viewing as <strong>dave" in text_of(await charlie.get("/dashboard"))
    more = native_binding("more", "cluster-admin", "User dave")
    runtime.console.put(CLUSTER_ROLES, native_role("cluster-admin", rule("*", "*", "*")))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, more)
    text = text_of(await charlie.get("/dashboard"))
    assert "Viewing as dave has ended." in text and "Viewing as <strong>" not in text
    given = runtime.console.of(CLUSTER_ROLE_BINDINGS)
    take_away(runtime.informer(CLUSTER_ROLE_BINDINGS), given["more"])
    assert (await charlie.post(BEGIN.format("dave"))).status_code == 302
    assert "Viewing as <strong>dave" in text_of(await charlie.get("/dashboard"))
    take_away(runtime.informer(CLUSTER_ROLE_BINDINGS), given["acting"])
    text = text_of(await charlie.get("/dashboard"))
    assert "Viewing as dave has ended." in text and "Viewing as <strong>" not in text


async def test_viewing_stops_when_the_other_user_is_deleted_or_replaced(
    runtime: StaticRuntime,
) -> None:
    admin = await viewing("bob")
    gone = runtime.console.of(USERS)["bob"]
    take_away(runtime.informer(USERS), gone)
    text = text_of(await admin.get("/dashboard"))
    assert "Viewing as bob has ended." in text and "Viewing as <strong>" not in text
    bring(runtime.informer(USERS), {**gone, "metadata": {**gone["metadata"], "uid": "another"}})
    assert "Viewing as" not in text_of(await admin.get("/dashboard"))


@pytest.mark.parametrize(
    "change", [{"status": {"state": "Disabled"}}, {"metadata": {"uid": "new"}}]
)
async def test_viewing_stops_when_the_other_user_is_disabled_or_recreated(
    runtime: StaticRuntime, change: dict[str, Any]
) -> None:
    admin = await viewing("bob")
    bring(runtime.informer(USERS), merged(runtime.console.of(USERS)["bob"], change))
    text = text_of(await admin.get("/dashboard"))
    assert "Viewing as bob has ended." in text and "Viewing as <strong>" not in text


async def test_viewing_cannot_be_nested(runtime: StaticRuntime) -> None:
    root = native_binding("alice-too", "cluster-admin", "User alice")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, root)
    admin = await viewing("alice")
    await admin.post(ALLOW)
    answer = await admin.post(BEGIN.format("bob"))
    assert answer.status_code == 403 and "Stop viewing as that user first." in text_of(answer)


async def scope_of(browser: Browser) -> dict[str, Any]:
    """Return the scope that the middleware passes to a websocket of this browser."""
    found: dict[str, Any] = {}

    async def application(given: dict[str, Any], _receive: Any, _send: Any) -> None:
        found.update(given)

    cookie = f"__Host-quarterdeck={browser.key}".encode()
    headers = [(b"origin", ORIGIN.encode()), (b"cookie", cookie)]
    await asgi.SessionAuthMiddleware(application)({"headers": headers}, None, None)
    return found


async def test_websockets_have_the_permissions_of_the_viewed_user(runtime: StaticRuntime) -> None:
    admin = await signed_in("admin")
    began = session_presence(admin.key, await find_session(admin.key))
    own = await scope_of(admin)
    assert own["access_in"](clusters.host).identity.name == "admin" and await own["session_alive"]()
    token = page_token(text_of(await admin.get("/dashboard")))
    assert own["rendered_for"](token) == "admin"
    assert own["rendered_for"](token[:-1]) is own["rendered_for"]("") is None
    await admin.post(BEGIN.format("bob"))
    token = page_token(text_of(await admin.get("/dashboard")))
    assert own["rendered_for"](token) == "bob"
    assert not await own["session_alive"](), "what is open shows the rights of another one"
    assert began is not None and await began.is_valid()
    theirs = session_presence(admin.key, await find_session(admin.key))
    assert theirs is not None and await theirs.is_valid()
    assert theirs.access_for(clusters.host).identity.name == "bob"
    seen = await scope_of(admin)
    assert seen["account"] == "admin" and seen["access_in"](clusters.host).identity.name == "bob"
    await admin.post(END)
    assert not await seen["session_alive"]()
    assert await began.is_valid() and not await theirs.is_valid()
    assert (await scope_of(admin))["access_in"](clusters.host).identity.name == "admin"


async def test_websockets_are_read_only_until_changes_are_allowed() -> None:
    """Example: a terminal, whose URL is known although no page links to it meanwhile."""
    admin = await signed_in("admin")
    assert (await scope_of(admin))["writes"]
    await admin.post(BEGIN.format("alice"))
    assert not (await scope_of(admin))["writes"]
    await admin.post(ALLOW)
    assert (await scope_of(admin))["writes"]
