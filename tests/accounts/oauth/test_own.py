"""Userinfo, logout and revocation for the bearer of a token."""

from typing import Any

import pytest

from accounts.models import RefreshToken
from tests.accounts.conftest import PASSWORD, Browser
from tests.accounts.oauth.conftest import (
    CALLBACK,
    ME,
    SECRET,
    Program,
    authorize_url,
    basic,
    error_of,
    sent,
)

pytestmark = pytest.mark.django_db(transaction=True)

USERINFO = "/oauth/userinfo"
USERS = "/kapis/iam.kubesphere.io/v1alpha2/users/"


async def test_userinfo(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    full = {
        "sub": "alice",
        "name": "alice",
        "preferred_username": "alice",
        "email": "alice@example.com",
    }
    assert (await program.get(USERINFO, token)).json() == full
    posted = await program.post(USERINFO, {}, Authorization=f"Bearer {token}")
    assert posted.json() == full
    part = (await program.signed_in(scope="email"))["access_token"]
    answer = await program.get(USERINFO, part)
    assert error_of(answer) == (403, "insufficient_scope")
    assert 'scope="openid"' in answer["WWW-Authenticate"]
    assert error_of(await program.get(USERINFO)) == (401, "invalid_token")


async def test_logout_revokes_all_tokens_of_this_user_only(program: Program) -> None:
    first, second = [await program.signed_in() for _ in range(2)]
    admin = await program.signed_in("admin")
    answer = await program.get("/oauth/logout", first["access_token"])
    assert (answer.status_code, answer.json()) == (200, {"message": "success"})
    for tokens in (first, second):
        assert not await program.works(tokens["access_token"])
        assert (await program.refresh(tokens["refresh_token"])).status_code == 400
    assert await program.works(admin["access_token"], USERS + "admin")


async def test_logout_revokes_unused_codes(alice: Browser, program: Program) -> None:
    code = sent(await alice.get(authorize_url()))["code"]
    token = (await program.signed_in())["access_token"]
    await program.get("/oauth/logout", token)
    answer = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(answer) == (400, "invalid_grant")


async def test_logout_redirects_only_to_registered_uris(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    for uri in ("https://e.example.com", CALLBACK, "//e", "https://app.example.com/bye/"):
        answer = await program.get(f"/oauth/logout?post_logout_redirect_uri={uri}", token)
        assert error_of(answer) == (400, "invalid_request")
    assert await program.works(token)
    good = "/oauth/logout?post_logout_redirect_uri=https://app.example.com/bye&state=a%26b"
    answer = await program.get(good, token)
    assert answer["Location"] == "https://app.example.com/bye?state=a%26b"
    assert not await program.works(token)


async def test_a_link_cannot_sign_a_browser_session_out(alice: Browser) -> None:
    assert error_of(await alice.get("/oauth/logout")) == (401, "invalid_token")
    assert (await alice.get(ME)).status_code == 200


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
async def test_revoking_either_token_revokes_the_grant(program: Program, which: str) -> None:
    tokens, other = [await program.signed_in() for _ in range(2)]
    fields = {"token": tokens[which], "token_type_hint": "refresh_token"}
    answer = await program.post("/oauth/revoke", fields, Authorization=basic("kubesphere", SECRET))
    assert (answer.status_code, answer.json()) == (200, {})
    assert not await program.works(tokens["access_token"])
    assert (await program.refresh(tokens["refresh_token"])).status_code == 400
    assert await program.works(other["access_token"])


async def test_revocation_reveals_nothing_and_is_limited_to_the_client(program: Program) -> None:
    tokens = await program.signed_in()
    header = basic("other", "other-" + SECRET)
    for given in (tokens["access_token"], tokens["refresh_token"], "x", "\u00e9"):
        answer = await program.post("/oauth/revoke", {"token": given}, Authorization=header)
        assert (answer.status_code, answer.json()) == (200, {})
    assert await program.works(tokens["access_token"])
    answer = await program.post("/oauth/revoke", {"token": tokens["access_token"]})
    assert error_of(answer) == (401, "invalid_client")
    assert await RefreshToken.objects.filter(used=None).acount() == 1


def test_tokens_work_with_a_synchronous_server(client: Any) -> None:
    host = {"Host": "console.example.com"}
    fields = {"grant_type": "password", "username": "alice", "password": PASSWORD}
    form = "&".join(f"{k}={v}" for k, v in fields.items()).replace("@", "%40")
    answer = client.post(
        "/oauth/token",
        form,
        content_type="application/x-www-form-urlencoded",
        headers={**host, "Authorization": basic("kubesphere", SECRET)},
    )
    token = answer.json()["access_token"]
    path = "/clusters/host/pods?format=json"
    found = client.get(path, headers={**host, "Authorization": f"Bearer {token}"})
    # alice may not list pods.
    assert found.status_code == 403
    assert client.get(path, headers={**host, "Authorization": "Bearer x"}).status_code == 401
