"""Bearer tokens at the APIs: accepted kinds, locations and scopes."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from pytest_django import Settings

from accounts.models import AccessToken
from console.kube.informer import Informer
from tests.accounts.conftest import PASSWORD, Browser, hashed
from tests.accounts.oauth.conftest import (
    CALLBACK,
    ME,
    PKCE,
    SECRET,
    VERIFIER,
    Config,
    Program,
    authorize_url,
    claims_of,
    error_of,
    sent,
)
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, set_stale

pytestmark = pytest.mark.django_db(transaction=True)

USERINFO = "/oauth/userinfo"
LIST = "/clusters/host/pods?format=json"
USERS = "/kapis/iam.kubesphere.io/v1alpha2/users/"


async def test_each_token_type_is_accepted_only_for_its_purpose(
    alice: Browser, program: Program
) -> None:
    code = sent(await alice.get(authorize_url(**PKCE)))["code"]
    spare = sent(await alice.get(authorize_url(**PKCE)))["code"]
    fields = {"redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    issued = (await program.token("authorization_code", code=code, **fields)).json()
    access, refresh, identity = (issued[f"{n}_token"] for n in ("access", "refresh", "id"))
    for path in (ME, LIST, USERINFO, "/oauth/logout"):
        for wrong in (refresh, identity, spare, SECRET):
            assert (await program.get(path, wrong)).status_code == 401, path
    for wrong in (access, identity, spare):
        assert (await program.refresh(wrong)).status_code == 400
    for wrong in (access, refresh, identity):
        answer = await program.token("authorization_code", code=wrong, **fields)
        assert answer.status_code == 400
    assert await program.works(access)
    assert (await program.refresh(refresh)).status_code == 200
    answer = await program.token("authorization_code", code=spare, **fields)
    assert answer.status_code == 200


# Location of the token.


async def test_a_token_is_accepted_only_in_the_authorization_header(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    for path in (ME, USERINFO, LIST):
        joiner = "&" if "?" in path else "?"
        answer = await program.get(f"{path}{joiner}access_token={token}")
        assert answer.status_code == 400, path
        answer = await program.get(f"{path}{joiner}access_token={token}", token)
        assert answer.status_code == 400, path
    for name in ("token", "access_token", "__Host-quarterdeck"):
        stranger = Program()
        stranger.http.cookies[name] = token
        assert (await stranger.get(ME)).status_code == 401
    posted = await program.post(USERINFO, {"access_token": token})
    assert error_of(posted) == (401, "invalid_token")
    for header in (f"Token {token}", token, f"Basic {token}"):
        assert (await program.get(ME, Authorization=header)).status_code == 401
    assert (await program.get(ME, Authorization=f"bearer {token}")).status_code == 200


async def test_a_session_together_with_a_token_is_refused(alice: Browser, program: Program) -> None:
    token = (await program.signed_in("admin"))["access_token"]
    for path in (ME, USERS + "admin", LIST, USERINFO):
        answer = await alice.get(path, Authorization=f"Bearer {token}")
        assert answer.status_code == 400, path
    alice.key = "x" * 32
    assert (await alice.get(ME, Authorization=f"Bearer {token}")).status_code == 400


async def test_a_session_can_use_the_same_api(alice: Browser) -> None:
    assert (await alice.get(ME)).json()["metadata"]["name"] == "alice"


async def test_no_cookie_is_set_for_a_token(program: Program) -> None:
    token = (await program.signed_in("admin"))["access_token"]
    for path in (USERS + "admin", LIST, USERINFO):
        assert not (await program.get(path, token)).cookies, path


async def test_lists_accept_tokens(program: Program) -> None:
    admin, alice = [(await program.signed_in(n))["access_token"] for n in ("admin", "alice")]
    assert (await program.get(LIST, admin)).status_code == 200
    assert (await program.get(LIST, alice)).status_code == 403


async def test_a_token_needs_no_csrf_token_and_a_session_does(program: Program) -> None:
    token = (await program.signed_in("admin"))["access_token"]
    theme = {"theme": "dark"}
    header = f"Bearer {token}"
    assert (await program.post("/settings/theme", theme, Authorization=header)).status_code == 302
    assert (await program.post("/settings/theme", theme)).status_code == 403


# Lifetime and grants.


async def test_an_access_token_expires(program: Program, clock: MovableClock) -> None:
    token = (await program.signed_in())["access_token"]
    clock.move(seconds=7199)
    assert await program.works(token)
    clock.move(seconds=1)
    assert not await program.works(token)


async def test_a_token_without_a_stored_grant_is_refused(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    await AccessToken.objects.all().adelete()
    assert not await program.works(token)


async def test_an_unavailable_database_returns_503(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await program.signed_in())["access_token"]

    def fail(*_: object) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr("accounts.oauth.grants.grant_of_access", fail)
    for path in (ME, LIST, USERINFO):
        assert (await program.get(path, token)).status_code == 503, path


async def test_stale_users_return_503(
    program: Program, users: Informer[Any], clock: MovableClock
) -> None:
    token = (await program.signed_in())["access_token"]
    set_stale(users, clock.now() - timedelta(minutes=6))
    for path in (ME, USERINFO):
        assert (await program.get(path, token)).status_code == 503, path


async def test_a_user_who_must_change_the_password_has_no_api_access(
    program: Program, users: Informer[Any]
) -> None:
    annotations = {"iam.kubesphere.io/uninitialized": "true"}
    bring(users, user("new", password=hashed(PASSWORD), annotations=annotations))
    token = (await program.signed_in("new"))["access_token"]
    assert claims_of(token)["extra"] == {"uninitialized": ["true"]}
    answer = await program.get(USERS + "new", token)
    assert (answer.status_code, answer.json()["message"]) == (403, "Choose a new password first.")
    assert (await program.get(LIST, token)).status_code == 401
    assert (await program.get(USERINFO, token)).status_code == 200


async def test_an_optional_password_change_allows_api_access(
    program: Program, users: Informer[Any], config: Config
) -> None:
    config.write(firstPassword="optional")
    annotations = {"iam.kubesphere.io/uninitialized": "true"}
    bring(users, user("new", password=hashed(PASSWORD), annotations=annotations))
    token = (await program.signed_in("new"))["access_token"]
    assert claims_of(token)["extra"] == {"uninitialized": ["true"]}
    assert (await program.get(USERS + "new", token)).status_code == 200


async def test_metrics_require_the_metrics_token(program: Program, settings: Settings) -> None:
    settings.METRICS_TOKEN = "0123456789abcdef"
    assert (await program.get("/metrics", "0123456789abcdef")).status_code == 200
    assert (await program.get("/metrics", "0123456789abcdeX")).status_code == 403
    signed_in = (await program.signed_in("admin"))["access_token"]
    assert (await program.get("/metrics", signed_in)).status_code == 403
