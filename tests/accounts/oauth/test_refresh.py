"""Refresh tokens: single use, and reuse revokes the whole family."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts.models import AccessToken, Grant, RefreshToken
from accounts.oauth import grants
from accounts.oauth.grants import Issued, RejectedGrant
from accounts.oauth.options import options
from console.kube.informer import Informer
from tests.accounts.conftest import PASSWORD, Browser, hashed
from tests.accounts.oauth.conftest import (
    CALLBACK,
    CLIENTS,
    ME,
    SECRET,
    Config,
    Program,
    authorize_url,
    error_of,
    sent,
)
from tests.accounts.races import overtaken
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, take_away

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_refresh_returns_a_new_pair_and_keeps_the_access_token(program: Program) -> None:
    first = await program.signed_in()
    answer = await program.refresh(first["refresh_token"])
    assert answer.status_code == 200
    second = answer.json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    assert await program.works(first["access_token"])
    assert await program.works(second["access_token"])


async def test_reuse_revokes_the_whole_family(program: Program) -> None:
    first = await program.signed_in()
    bystander = await program.signed_in()
    second = (await program.refresh(first["refresh_token"])).json()
    third = (await program.refresh(second["refresh_token"])).json()
    assert error_of(await program.refresh(first["refresh_token"])) == (400, "invalid_grant")
    for tokens in (first, second, third):
        assert not await program.works(tokens["access_token"])
        assert (await program.refresh(tokens["refresh_token"])).status_code == 400
    assert await program.works(bystander["access_token"])
    assert (await program.refresh(bystander["refresh_token"])).status_code == 200


async def test_concurrent_use_revokes_the_whole_family(program: Program) -> None:
    first = await program.signed_in()
    answers = await asyncio.gather(*(Program().refresh(first["refresh_token"]) for _ in range(2)))
    assert sorted(answer.status_code for answer in answers) == [200, 400]
    for answer in answers:
        if answer.status_code == 200:
            assert not await program.works(answer.json()["access_token"])


async def test_concurrent_use_at_two_replicas_revokes_the_whole_family(
    program: Program, clock: MovableClock
) -> None:
    token, client = (await program.signed_in())["refresh_token"], options().clients["kubesphere"]
    use = partial(grants.use_refresh, token, client, "", clock.now())
    issued, refused = await sync_to_async(overtaken)(use)
    assert isinstance(issued, Issued)
    assert refused == RejectedGrant("RefreshReused")
    assert not await program.works(issued.access_token)


@pytest.mark.parametrize("name", ["other", "cli"])
async def test_a_refresh_token_is_bound_to_its_client(program: Program, name: str) -> None:
    tokens = await program.signed_in()
    stranger = Program(name, {"other": "other-" + SECRET, "cli": ""}[name])
    assert error_of(await stranger.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert (await program.refresh(tokens["refresh_token"])).status_code == 200


@pytest.mark.parametrize("token", ["x", "a" * 5000, "\u00e9", "../../etc", "' OR 1=1 --", "%00"])
async def test_unknown_refresh_tokens_are_refused(program: Program, token: str) -> None:
    assert error_of(await program.refresh(token)) == (400, "invalid_grant")


async def test_access_tokens_and_stored_hashes_are_refused(program: Program) -> None:
    tokens = await program.signed_in()
    row = await RefreshToken.objects.aget()
    for given in (tokens["access_token"], row.digest, row.digest.upper()):
        assert error_of(await program.refresh(given)) == (400, "invalid_grant")


async def test_a_refresh_token_lasts_for_the_sum_of_both_lifetimes(
    program: Program, clock: MovableClock
) -> None:
    first = await program.signed_in()
    clock.move(seconds=4 * 3600 - 1)
    second = (await program.refresh(first["refresh_token"])).json()
    clock.move(seconds=4 * 3600)
    assert error_of(await program.refresh(second["refresh_token"])) == (400, "invalid_grant")


async def test_tokens_expire_twelve_hours_after_sign_in(
    program: Program, clock: MovableClock
) -> None:
    tokens = await program.signed_in()
    for _ in range(3):
        clock.move(hours=3, minutes=50)
        tokens = (await program.refresh(tokens["refresh_token"])).json()
    assert tokens["expires_in"] == 1800
    clock.move(minutes=29)
    assert await program.works(tokens["access_token"])
    clock.move(minutes=1)
    assert not await program.works(tokens["access_token"])
    assert (await program.refresh(tokens["refresh_token"])).status_code == 400


async def test_the_scope_can_be_reduced_but_not_extended(program: Program) -> None:
    tokens = await program.signed_in(scope="openid email")
    assert tokens["scope"] == "openid email api"
    less = await program.refresh(tokens["refresh_token"], scope="openid")
    assert less.json()["scope"] == "openid"
    assert (await program.get(ME, less.json()["access_token"])).status_code == 403
    again = less.json()["refresh_token"]
    assert error_of(await program.refresh(again, scope="openid profile")) == (400, "invalid_scope")
    back = await program.refresh(again)
    assert back.json()["scope"] == "openid email api"


async def test_a_new_sign_in_revokes_earlier_grants_without_multiple_login(
    program: Program, config: Config
) -> None:
    config.write(multipleLogin=False)
    first = await program.signed_in("alice")
    admin = await program.signed_in("admin")
    second = await program.signed_in("alice")
    assert not await program.works(first["access_token"])
    assert (await program.refresh(first["refresh_token"])).status_code == 400
    assert await program.works(second["access_token"])
    mine = "/kapis/iam.kubesphere.io/v1alpha2/users/admin"
    assert await program.works(admin["access_token"], mine)
    refreshed = (await program.refresh(second["refresh_token"])).json()
    assert await program.works(refreshed["access_token"])


HASHED: str = hashed(PASSWORD)
ENDINGS: dict[str, Callable[[Informer[Any]], None]] = {
    "disabled": lambda users: bring(users, user("alice", password=HASHED, state="Disabled")),
    "deleted": lambda users: take_away(users, user("alice", password=HASHED)),
    "going": lambda users: bring(
        users, user("alice", password=HASHED, deletionTimestamp="2026-03-01T12:00:00Z")
    ),
    "another of the name": lambda users: bring(users, user("alice", password=HASHED, uid="uid-2")),
    "another password": lambda users: bring(users, user("alice", password=hashed("Another1"))),
    "no password": lambda users: bring(users, user("alice")),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_changes_of_user_or_password_revoke_all_tokens(
    program: Program, users: Informer[Any], ending: str
) -> None:
    bring(users, user("alice", password=HASHED))
    tokens = await program.signed_in()
    unused = await program.signed_in()
    assert await program.works(tokens["access_token"])
    ENDINGS[ending](users)
    assert not await program.works(tokens["access_token"])
    assert error_of(await program.refresh(unused["refresh_token"])) == (400, "invalid_grant")
    bring(users, user("alice", password=HASHED))
    assert not await program.works(tokens["access_token"])
    assert not await program.works(unused["access_token"])


async def test_revoking_sessions_as_administrator_revokes_all_tokens(
    program: Program, alice: Browser
) -> None:
    """User and password remain unchanged."""
    tokens = await program.signed_in()
    code = sent(await alice.get(authorize_url()))["code"]
    admin = Browser()
    await admin.login("admin")
    answer = await admin.post(
        "/clusters/host/users.iam.kubesphere.io/alice/actions/end-sessions", {"uid": "uid-alice"}
    )
    assert answer.status_code == 302
    assert not await program.works(tokens["access_token"])
    assert error_of(await program.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    used = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(used) == (400, "invalid_grant")


async def test_a_lockout_keeps_tokens(program: Program, users: Informer[Any]) -> None:
    bring(users, user("alice", password=HASHED))
    tokens = await program.signed_in()
    bring(users, user("alice", password=HASHED, state="AuthLimitExceeded"))
    assert (await program.refresh(tokens["refresh_token"])).status_code == 200


async def test_other_changes_of_the_user_keep_tokens(
    program: Program, users: Informer[Any]
) -> None:
    bring(users, user("alice", password=HASHED))
    tokens = await program.signed_in()
    changed = user("alice", password=HASHED, email="new@example.com", resourceVersion="99")
    bring(users, changed)
    assert await program.works(tokens["access_token"])
    assert (await program.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_client_without_the_grant_gets_no_refresh_token(config: Config) -> None:
    config.write([{**CLIENTS[0], "grantTypes": ["password"]}])
    program = Program()
    assert "refresh_token" not in await program.signed_in()
    assert error_of(await program.refresh("x")) == (400, "unauthorized_client")


async def test_expired_tokens_are_deleted(
    program: Program, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await program.signed_in()
    await program.refresh(old["refresh_token"])
    clock.move(hours=3)
    fresh = await program.signed_in()
    await sync_to_async(grants.discard_expired)(clock.now())
    assert await AccessToken.objects.acount() == 1
    # Reuse is still detected.
    assert await RefreshToken.objects.acount() == 3
    clock.time += timedelta(hours=9, minutes=1)
    await program.refresh(fresh["refresh_token"])
    await sync_to_async(grants.discard_expired)(clock.now())
    assert await Grant.objects.acount() == 1
    assert await RefreshToken.objects.acount() == 1
