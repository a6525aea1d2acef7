"""API tokens: creation, one-time display, use and revocation."""

from typing import Any

import pytest
from django.urls import get_resolver

from accounts.models import NamedToken
from accounts.protection.revocation import RevocationReconciler
from console.audit.models import AuditRecord
from console.kube.controller import Request
from console.kube.informer import Informer
from tests.accounts.apitokens.tokens import config, make
from tests.accounts.conftest import HASH, PASSWORD, Browser, hashed
from tests.accounts.oauth.clients import SECRET, basic
from tests.accounts.oauth.conftest import ME, Program
from tests.accounts.routes import routes
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, take_away
from tests.support.staticruntime import StaticRuntime

__all__ = ["config"]

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/clusters/host/pods?format=json"


@pytest.fixture
async def admin(browser: Browser, clock: MovableClock) -> Browser:
    await browser.login("admin")
    return browser


async def works(token: str) -> bool:
    answers = [await Program().get(path, token) for path in (LIST, ME.replace("alice", "admin"))]
    statuses = {answer.status_code for answer in answers}
    assert statuses in ({200}, {401}), statuses
    return statuses == {200}


async def review(token: str) -> dict[str, Any]:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
    program = Program()
    answer = await program.http.post(
        "/oauth/authenticate",
        {**body, "spec": {"token": token}},
        content_type="application/json",
        headers={
            "Host": "console.example.com",
            "Authorization": basic("kube-apiserver", "kube-" + SECRET),
        },
    )
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["status"]
    return found


async def test_a_token_is_shown_once_and_stored_as_a_hash(admin: Browser) -> None:
    token = await make(admin)
    page = (await admin.get("/account")).content.decode()
    assert "ci" in page and token not in page
    rows = [row async for row in NamedToken.objects.values()]
    assert token not in str(rows) and token.removeprefix("qdt_") not in str(rows)
    trail = str([row async for row in AuditRecord.objects.values()])
    assert token not in trail and "api-token" in trail


async def test_a_full_token_authenticates_the_user_everywhere(admin: Browser) -> None:
    token = await make(admin)
    assert await works(token)
    status = await review(token)
    assert (status["authenticated"], status["user"]["username"]) == (True, "admin")
    answer = await Program().http.post(
        "/clusters/host/users.iam.kubesphere.io/bob/actions/disable",
        {"uid": "uid-bob"},
        headers={"Host": "console.example.com", "Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 302


async def test_a_read_only_token_cannot_change_anything(
    admin: Browser, runtime: StaticRuntime
) -> None:
    token = await make(admin, scope="read")
    assert await works(token)
    before = list(runtime.console.calls)
    program, seen = Program(), 0
    headers = {"Host": "console.example.com", "Authorization": f"Bearer {token}"}
    for name, path in routes(get_resolver().url_patterns):
        # It has a token of its own.
        if name == "audit_events":
            continue
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            seen += 1
            answer = await program.http.generic(method, path, b"", headers=headers)
            assert answer.status_code == 403, (method, path)
    assert seen > 100
    assert runtime.console.calls == before
    # kube-apiserver could not restrict the token to reading.
    assert await review(token) == {"authenticated": False}


async def test_a_token_cannot_manage_the_account(admin: Browser) -> None:
    """A token must not reach account pages, other tokens and session revocation."""
    token = await make(admin)
    program = Program()
    headers = {"Host": "console.example.com", "Authorization": f"Bearer {token}"}
    every = routes(get_resolver().url_patterns)
    own = [path for name, path in every if name.startswith("accounts:own:")]
    assert {"/account", "/account/tokens", "/account/kubeconfig"} <= {*own}
    for path in own:
        got, posted = [
            (await program.http.generic(method, path, b"", headers=headers)).status_code
            for method in ("GET", "POST")
        ]
        assert {got, posted} in ({403}, {403, 405}), path
    for path in ("/oauth/userinfo", "/oauth/logout"):
        answer = await program.get(path, token)
        assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
    assert (await program.refresh(token)).status_code == 400
    fields = {"client_id": "kubesphere", "client_secret": SECRET, "token": token}
    assert (await program.post("/oauth/revoke", fields)).status_code == 200
    assert await works(token)


@pytest.mark.parametrize("place", ["query", "cookie", "both"])
async def test_a_token_is_accepted_only_in_the_authorization_header(
    admin: Browser, place: str
) -> None:
    token, program = await make(admin), Program()
    if place == "query":
        assert (await program.get(f"{LIST}&access_token={token}")).status_code == 400
    elif place == "cookie":
        thief = Browser()
        thief.key = token
        assert (await thief.get(LIST)).status_code == 401
    else:
        assert (await admin.get(LIST, Authorization=f"Bearer {token}")).status_code == 400


@pytest.mark.parametrize("token", ["qdt_", "qdt_x", "qdt_" + "A" * 43, "qdt_" + "a" * 4000])
async def test_malformed_tokens_are_refused(admin: Browser, token: str) -> None:
    await make(admin)
    assert not await works(token)
    assert await review(token) == {"authenticated": False}


async def test_a_token_expires(admin: Browser, clock: MovableClock) -> None:
    token = await make(admin, days="7")
    clock.move(days=6, hours=23)
    assert await works(token)
    clock.move(hours=2)
    assert not await works(token)


async def test_the_last_use_is_recorded_at_most_once_per_minute(
    admin: Browser, clock: MovableClock
) -> None:
    token = await make(admin)
    assert (await NamedToken.objects.aget()).used is None
    await works(token)
    first = (await NamedToken.objects.aget()).used
    assert first == clock.time
    clock.move(seconds=30)
    await works(token)
    assert (await NamedToken.objects.aget()).used == first
    clock.move(seconds=31)
    await works(token)
    assert (await NamedToken.objects.aget()).used == clock.time


async def test_a_token_can_be_revoked_only_by_its_user(admin: Browser) -> None:
    token = await make(admin)
    id = str((await NamedToken.objects.aget()).id)
    bob = Browser()
    await bob.login("bob")
    for given in (id, "x", "", "00000000-0000-0000-0000-000000000000"):
        await bob.post("/account/tokens/end", {"token": given})
    assert await works(token)
    assert (await admin.post("/account/tokens/end", {"token": id})).status_code == 302
    assert not await works(token)


@pytest.mark.parametrize(
    "ending", ["deleted", "made anew", "disabled", "another password", "ended", "seen disabled"]
)
async def test_a_token_is_revoked_with_the_user_or_password(
    ending: str, users: Informer[Any], runtime: StaticRuntime, clock: MovableClock
) -> None:
    browser = Browser()
    await browser.login("bob")
    token = await make(browser)
    me = ME.replace("alice", "bob")
    assert (await Program().get(me, token)).status_code == 200
    if ending == "deleted":
        take_away(users, user("bob"))
    elif ending == "made anew":
        bring(users, user("bob", password=HASH, uid="another"))
    elif ending == "disabled":
        bring(users, user("bob", password=HASH, state="Disabled"))
    elif ending == "another password":
        bring(users, user("bob", password=hashed("Another-1")))
    elif ending == "ended":
        admin = Browser()
        await admin.login("admin")
        await admin.post(
            "/clusters/host/users.iam.kubesphere.io/bob/actions/end-sessions", {"uid": "uid-bob"}
        )
    else:
        # The user is disabled and enabled again before the token is used.
        bring(users, user("bob", password=HASH, state="Disabled"))
        runtime.clock = clock
        await RevocationReconciler(runtime).reconcile(Request("", "bob"))
        bring(users, user("bob", password=HASH))
    assert (await Program().get(me, token)).status_code == 401
    assert await review(token) == {"authenticated": False}


async def test_a_recreated_user_has_no_old_tokens(users: Informer[Any]) -> None:
    browser, other = Browser(), Browser()
    await browser.login("bob")
    await make(browser, name="night backups")
    bring(users, user("bob", password=HASH, uid="another"))
    await other.login("bob")
    assert "night backups" not in (await other.get("/account")).content.decode()
    await make(other, name="night backups")


async def test_a_token_survives_signing_out_and_revoked_sessions(admin: Browser) -> None:
    token = await make(admin)
    await admin.post("/account/sessions/end", {"session": "others"})
    program = Program()
    tokens = await program.signed_in("admin")
    await program.get("/oauth/logout", tokens["access_token"])
    await admin.post("/logout")
    assert await works(token)


async def test_changing_the_password_revokes_tokens(admin: Browser) -> None:
    token, new = await make(admin), "Quarterdeck-7"
    await admin.post("/account/password", {"current": PASSWORD, "password": new, "again": new})
    assert not await works(token)
    assert await NamedToken.objects.acount() == 0


async def test_a_token_is_refused_while_the_user_must_change_the_password(
    admin: Browser, runtime: StaticRuntime, users: Informer[Any]
) -> None:
    token = await make(admin)
    mark = {"iam.kubesphere.io/uninitialized": "true"}
    bring(users, user("admin", password=HASH, annotations=mark))
    assert (await Program().get(LIST, token)).status_code == 401
    assert await review(token) == {"authenticated": False}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": ""}, "Enter a name."),
        ({"name": "x" * 65}, "Use at most 64 characters."),
        ({"name": "ci"}, "You already have a token with this name."),
    ],
)
async def test_invalid_token_names_are_refused(
    admin: Browser, fields: dict[str, str], text: str
) -> None:
    await make(admin)
    answer = await admin.post("/account/tokens", {"scope": "full", "days": "7", **fields})
    assert answer.status_code == 400 and text in answer.content.decode()
    assert await NamedToken.objects.acount() == 1


@pytest.mark.parametrize("wrong", [{"scope": "root"}, {"days": "99999"}, {"days": ""}])
async def test_invalid_scopes_and_lifetimes_are_refused(
    admin: Browser, wrong: dict[str, str]
) -> None:
    answer = await admin.post(
        "/account/tokens", {"name": "x", "scope": "read", "days": "7", **wrong}
    )
    assert answer.status_code == 400
    assert "This option is no longer available. Choose another option." in answer.content.decode()
    assert await NamedToken.objects.acount() == 0


async def test_the_number_of_tokens_is_limited(
    admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.apitokens.MOST", 2)
    await make(admin, "one")
    await make(admin, "two")
    answer = await admin.post("/account/tokens", {"name": "three", "scope": "full", "days": "7"})
    assert answer.status_code == 400 and "maximum number of tokens" in answer.content.decode()
