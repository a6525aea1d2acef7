"""Authorization codes: exchange, binding to client and redirect URI, and single use."""

from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from joserfc import jwt
from joserfc.jwk import KeySet

from accounts.models import AuthorizationCode, Grant
from accounts.oauth import grants
from accounts.oauth.grants import Issued, RejectedGrant
from accounts.oauth.options import options
from console.audit.models import AuditRecord
from console.kube.informer import Informer
from tests.accounts.conftest import Browser
from tests.accounts.oauth.conftest import (
    CALLBACK,
    ORIGIN,
    PKCE,
    SECRET,
    VERIFIER,
    Program,
    authorize_url,
    error_of,
    sent,
)
from tests.accounts.races import overtaken
from tests.rbac.fakes import MovableClock
from tests.support.informers import take_away

pytestmark = pytest.mark.django_db(transaction=True)

LOOPBACK = "http://127.0.0.1:8400/cb"
OTHER = "https://other.example.com/cb"


async def code_for(alice: Browser, **more: str) -> str:
    return sent(await alice.get(authorize_url(**more)), more.get("redirect_uri", CALLBACK))["code"]


async def test_the_whole_flow_with_pkce(alice: Browser, program: Program) -> None:
    url = authorize_url(scope="openid email", nonce="n-1", **PKCE)
    back = sent(await alice.get(url))
    assert set(back) == {"code", "state", "iss"}
    assert (back["state"], back["iss"]) == ("a b&c=d", ORIGIN)
    answer = await program.token(
        "authorization_code", code=back["code"], redirect_uri=CALLBACK, code_verifier=VERIFIER
    )
    assert answer.status_code == 200
    body = answer.json()
    assert await program.works(body["access_token"])
    assert (await program.refresh(body["refresh_token"])).status_code == 200
    jwks = (await program.get("/oauth/keys")).json()
    found = jwt.decode(body["id_token"], KeySet.import_key_set(jwks), algorithms=["RS256"])
    claims = found.claims
    assert (claims["iss"], claims["aud"], claims["sub"]) == (ORIGIN, "kubesphere", "alice")
    assert (claims["nonce"], claims["email"]) == ("n-1", "alice@example.com")
    assert claims["auth_time"] <= claims["iat"] < claims["exp"]
    assert "preferred_username" not in claims


async def test_the_grant_type_name_of_kubesphere_is_accepted(
    alice: Browser, program: Program
) -> None:
    code = await code_for(alice)
    assert (await program.token("code", code=code, redirect_uri=CALLBACK)).status_code == 200


async def test_an_id_token_requires_the_openid_scope(alice: Browser, program: Program) -> None:
    code = await code_for(alice, scope="email")
    answer = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert "id_token" not in answer.json()


async def test_a_code_used_at_two_replicas_revokes_the_grant(
    alice: Browser, program: Program, clock: MovableClock
) -> None:
    code, client = await code_for(alice), options().clients["kubesphere"]
    use = partial(grants.use_code, code, client, CALLBACK, "", clock.now())
    issued, refused = await sync_to_async(overtaken)(use)
    assert isinstance(issued, Issued)
    assert refused == RejectedGrant("CodeReused")
    assert not await program.works(issued.access_token)


async def test_a_reused_code_revokes_the_grant(alice: Browser, program: Program) -> None:
    code = await code_for(alice)
    first = (await program.token("authorization_code", code=code, redirect_uri=CALLBACK)).json()
    second = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(second) == (400, "invalid_grant")
    assert not await program.works(first["access_token"])
    assert (await program.refresh(first["refresh_token"])).status_code == 400
    record = await AuditRecord.objects.filter(verb="login").alatest("id")
    assert (record.actor, record.reason) == ("alice", "CodeReused")


@pytest.mark.parametrize(
    "redirect_uri",
    [
        CALLBACK + "/x",
        CALLBACK + "?a",
        CALLBACK.replace("https", "HTTPS"),
        "https://app.example.com:443/callback",
        "https://app.example.com/with?query=1",
        OTHER,
        "x",
    ],
)
async def test_a_code_is_bound_to_its_redirect_uri(
    alice: Browser, program: Program, redirect_uri: str
) -> None:
    code = await code_for(alice)
    answer = await program.token("authorization_code", code=code, redirect_uri=redirect_uri)
    assert error_of(answer) == (400, "invalid_grant")
    assert await Grant.objects.acount() == 0


async def test_a_code_is_bound_to_its_client(alice: Browser, program: Program) -> None:
    code = await code_for(alice)
    thief = Program("other", "other-" + SECRET)
    answer = await thief.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(answer) == (400, "invalid_grant")
    assert (
        await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    ).status_code == 200


@pytest.mark.parametrize(
    ("asked", "verifier", "again"),
    [
        # A wrong verifier uses up the code.
        (PKCE, "", 400),
        (PKCE, "a" * 43, 400),
        (PKCE, PKCE["code_challenge"], 400),
        ({}, VERIFIER, 400),
        # A malformed verifier does not use up the code.
        (PKCE, VERIFIER[:-1], 200),
        (PKCE, VERIFIER + " ", 200),
        (PKCE, "a" * 200, 200),
    ],
)
async def test_the_code_verifier_must_match_the_challenge(
    alice: Browser, program: Program, asked: dict[str, str], verifier: str, again: int
) -> None:
    given = await code_for(alice, **asked)
    fields = {"code": given, "redirect_uri": CALLBACK, "code_verifier": verifier}
    answer = await program.token("authorization_code", **fields)
    assert error_of(answer) == (400, "invalid_grant")
    assert await Grant.objects.acount() == 0
    fields["code_verifier"] = VERIFIER
    assert (await program.token("authorization_code", **fields)).status_code == again


async def test_a_public_client_must_send_a_code_verifier(alice: Browser, cli: Program) -> None:
    code = await code_for(alice, client="cli", redirect_uri=LOOPBACK, **PKCE)
    fields = {"code": code, "redirect_uri": LOOPBACK}
    assert error_of(await cli.token("authorization_code", **fields)) == (400, "invalid_request")
    answer = await cli.token("authorization_code", **fields, code_verifier=VERIFIER)
    assert answer.status_code == 200
    assert (await cli.refresh(answer.json()["refresh_token"])).status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"code_challenge_method": "S256"},
        {"code_challenge": PKCE["code_challenge"]},
        {**PKCE, "code_challenge_method": "plain"},
        {**PKCE, "code_challenge_method": "s256"},
        {**PKCE, "code_challenge": "short"},
        {**PKCE, "code_challenge": "+" * 43},
    ],
)
async def test_a_public_client_must_use_pkce_with_s256(
    alice: Browser, more: dict[str, str]
) -> None:
    answer = await alice.get(authorize_url("cli", LOOPBACK, **more))
    assert sent(answer, LOOPBACK)["error"] == "invalid_request"
    assert await AuthorizationCode.objects.acount() == 0


async def test_a_code_expires_after_a_minute(
    alice: Browser, program: Program, clock: MovableClock
) -> None:
    code = await code_for(alice)
    clock.move(seconds=60)
    answer = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(answer) == (400, "invalid_grant")


async def test_a_code_of_a_deleted_user_is_refused(
    alice: Browser, program: Program, users: Informer[Any]
) -> None:
    code = await code_for(alice)
    take_away(users, (await _alice(users)).original())
    answer = await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    assert error_of(answer) == (400, "invalid_grant")


async def _alice(users: Informer[Any]) -> Any:
    return next(e for k, e in users.store.snapshot().entries.items() if k.name == "alice")
