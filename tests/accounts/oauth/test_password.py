"""`POST /oauth/token` with the password grant: responses and errors."""

import logging
from datetime import timedelta
from typing import Any

import bcrypt
import pytest
from django.db import DatabaseError

from accounts.models import AccessToken, Grant, RefreshToken
from accounts.signin import passwords
from accounts.signin.passwords import TooBusy
from console.audit.models import AuditRecord
from console.kube.informer import Informer
from tests.accounts.conftest import DEAR, PASSWORD, hashed
from tests.accounts.oauth.conftest import (
    ME,
    ORIGIN,
    SECRET,
    Config,
    Program,
    basic,
    claims_of,
    error_of,
)
from tests.accounts.refused_passwords import REFUSED
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import user
from tests.support.informers import bring, set_stale

pytestmark = pytest.mark.django_db(transaction=True)

#: Values with NUL are refused before the name is looked up.
WRONG = [(n, p) for n, p in REFUSED if n and p and "\0" not in n + p]


async def test_a_correct_password_returns_tokens(program: Program) -> None:
    answer = await program.login("alice")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert answer["Pragma"] == "no-cache"
    assert not answer.cookies
    body = answer.json()
    assert set(body) == {"access_token", "refresh_token", "token_type", "expires_in", "scope"}
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 7200)
    found = await program.get(ME, body["access_token"])
    assert found.status_code == 200
    assert found.json()["metadata"]["name"] == "alice"


async def test_access_token_claims(program: Program, clock: MovableClock) -> None:
    token = (await program.signed_in("alice"))["access_token"]
    header, claims = claims_of(token, 0), claims_of(token)
    assert header == {"alg": "ES256", "typ": "at+jwt", "kid": header["kid"]}
    now = int(clock.now().timestamp())
    assert claims == {
        "iss": ORIGIN,
        "aud": [ORIGIN],
        "sub": "alice",
        "username": "alice",
        "uid": "uid-alice",
        "client_id": "kubesphere",
        "token_type": "access_token",
        "scope": "openid profile email api",
        "scopes": ["openid", "profile", "email", "api"],
        "iat": now,
        "exp": now + 7200,
        "jti": claims["jti"],
    }


async def test_an_email_address_is_accepted_as_user_name(program: Program) -> None:
    token = (await program.signed_in("alice@example.com"))["access_token"]
    assert claims_of(token)["username"] == "alice"


@pytest.mark.parametrize(("name", "password"), WRONG, ids=range(len(WRONG)))
async def test_all_wrong_credentials_get_the_same_error(
    program: Program, name: str, password: str
) -> None:
    answer = await program.login(name, password)
    assert error_of(answer) == (400, "invalid_grant")
    assert answer.content == (await program.login("alice", "wrong")).content
    assert await Grant.objects.acount() == 0


@pytest.mark.parametrize(("name", "password"), WRONG, ids=range(len(WRONG)))
@pytest.mark.usefixtures("real_hashes")
async def test_every_refusal_compares_exactly_one_hash(
    program: Program, monkeypatch: pytest.MonkeyPatch, users: Any, name: str, password: str
) -> None:
    bring(users, user("alice", password=DEAR))
    checked: list[bytes] = []

    def check(_given: bytes, stored: bytes) -> bool:
        checked.append(stored)
        return False

    monkeypatch.setattr(bcrypt, "checkpw", check)
    assert (await program.login(name, password)).status_code == 400
    assert [stored[4:6] for stored in checked] == [b"10"]


async def test_a_client_can_use_basic_authentication(program: Program) -> None:
    fields = {"grant_type": "password", "username": "alice", "password": PASSWORD}
    header = basic("kubesphere", SECRET)
    assert (await program.post("/oauth/token", fields, Authorization=header)).status_code == 200
    both = {**fields, "client_id": "kubesphere"}
    assert (await program.post("/oauth/token", both, Authorization=header)).status_code == 200
    for more in ({"client_id": "other"}, {"client_id": "kubesphere", "client_secret": SECRET}):
        answer = await program.post("/oauth/token", {**fields, **more}, Authorization=header)
        assert error_of(answer) == (400, "invalid_request")


@pytest.mark.parametrize(
    "header",
    [
        basic("kubesphere", "wrong"),
        basic("nobody", SECRET),
        basic("", ""),
        basic("kubesphere", ""),
        basic("kubesphere", SECRET + "\0"),
        basic("cli", SECRET),
        "Basic",
        "Basic !!!",
        "Basic " + "A" * 9000,
        "Basic /w==",
        "Basic a3ViZXNwaGVyZQ==",
        basic("kubesphere", SECRET) + ", " + basic("kubesphere", SECRET),
    ],
)
async def test_wrong_client_credentials_get_401_with_a_challenge(
    program: Program, header: str
) -> None:
    fields = {"grant_type": "password", "username": "alice", "password": PASSWORD}
    answer = await program.post("/oauth/token", fields, Authorization=header)
    assert error_of(answer) == (401, "invalid_client")
    assert answer["WWW-Authenticate"].startswith("Basic realm=")
    assert await Grant.objects.acount() == 0


@pytest.mark.parametrize(("name", "secret"), [("kubesphere", ""), ("kubesphere", "x"), ("x", "x")])
async def test_a_wrong_secret_in_the_form_gets_401(name: str, secret: str) -> None:
    assert error_of(await Program(name, secret).login()) == (401, "invalid_client")
    record = await AuditRecord.objects.alatest("id")
    assert (record.verb, record.code, record.reason) == (
        "login",
        401,
        "InvalidClient",
    )


@pytest.mark.parametrize("name", ["other", "cli", "basic"])
async def test_the_password_grant_is_for_first_party_clients(name: str) -> None:
    secret = {"other": "other-" + SECRET, "cli": "", "basic": "basic-" + SECRET}[name]
    assert error_of(await Program(name, secret).login()) == (400, "unauthorized_client")


async def test_the_default_secret_of_kubesphere_is_refused(config: Config) -> None:
    config.write([{"name": "kubesphere", "secret": "kubesphere", "grantMethod": "auto"}])
    answer = await Program("kubesphere", "kubesphere").login()
    assert error_of(answer) == (401, "invalid_client")


GOOD = (
    f"grant_type=password&client_id=kubesphere&client_secret={SECRET}"
    "&username=alice&password=P%4088w0rd"
)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "invalid_request"),
        (GOOD + "&username=admin", "invalid_request"),
        (GOOD + "&grant_type=password", "invalid_request"),
        (GOOD + "&x=%00", "invalid_request"),
        (GOOD + "&x%00=1", "invalid_request"),
        (GOOD + "&x=%ff", "invalid_request"),
        (GOOD + "&x", "invalid_request"),
        (GOOD + "&" + "&".join(f"a{i}=1" for i in range(40)), "invalid_request"),
        (GOOD.replace("grant_type=password&", ""), "invalid_request"),
        (GOOD.replace("grant_type=password", "grant_type="), "invalid_request"),
        (GOOD.replace("username=alice", "username="), "invalid_request"),
        (GOOD.replace("password=P%4088w0rd", "password="), "invalid_request"),
        (GOOD.replace("grant_type=password", "grant_type=client_credentials"), "unsupported_grant_type"),
        (GOOD.replace("grant_type=password", "grant_type=PASSWORD"), "unsupported_grant_type"),
        (GOOD.replace("grant_type=password", "grant_type=implicit"), "unsupported_grant_type"),
        (GOOD + "&scope=%22", "invalid_scope"),
        (GOOD + "&scope=" + "a" * 600, "invalid_scope"),
        (GOOD + "\xfc", "invalid_request"),
        ('{"grant_type":"password"}', "invalid_request"),
    ],
)  # fmt: skip
async def test_ambiguous_requests_are_refused(program: Program, body: str, code: str) -> None:
    answer = await program.send("/oauth/token", body.encode("latin-1"))
    assert error_of(answer)[1] == code
    assert await Grant.objects.acount() == 0


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data; boundary=x", "text/plain", "x"]
)
async def test_other_content_types_are_refused(program: Program, content_type: str) -> None:
    answer = await program.send("/oauth/token", GOOD, content_type=content_type)
    assert error_of(answer) == (400, "invalid_request")


async def test_query_parameters_are_refused(program: Program) -> None:
    for path, body in (("/oauth/token?" + GOOD, ""), ("/oauth/token?a=b", GOOD)):
        assert error_of(await program.send(path, body)) == (400, "invalid_request")


async def test_the_body_size_is_limited(program: Program) -> None:
    for size in (40_000, 2_000_000):
        answer = await program.send("/oauth/token", GOOD + "&x=" + "a" * size)
        assert error_of(answer) == (413, "invalid_request")


async def test_other_methods_get_405(program: Program) -> None:
    answer = await program.get("/oauth/token")
    assert error_of(answer) == (405, "invalid_request")
    assert answer["Allow"] == "POST"


async def test_cross_origin_requests_are_refused(program: Program) -> None:
    answer = await program.send("/oauth/token", GOOD, Origin="https://e.example.com")
    assert answer.status_code == 403
    assert "Access-Control-Allow-Origin" not in answer


async def test_stale_users_return_503(
    program: Program, users: Informer[Any], clock: MovableClock
) -> None:
    set_stale(users, clock.now() - timedelta(minutes=6))
    answer = await program.login()
    assert error_of(answer) == (503, "temporarily_unavailable")
    assert int(answer["Retry-After"]) > 0


async def test_too_many_concurrent_requests_return_503(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> bool:
        raise TooBusy

    monkeypatch.setattr("accounts.signin.authenticate.matches", busy)
    assert error_of(await program.login()) == (503, "temporarily_unavailable")


async def test_no_token_is_issued_without_an_audit_record(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(AuditRecord, "save", fail)
    assert error_of(await program.login()) == (503, "temporarily_unavailable")
    assert await Grant.objects.acount() == 0


async def test_audit_records_contain_user_and_reason_but_no_secrets(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        tokens = await program.signed_in("alice")
        await program.login("alice", "canary-wrong")
        await program.login("canary-unknown", PASSWORD)
        await program.refresh(tokens["refresh_token"])
        await program.refresh(tokens["refresh_token"])
    rows = [
        (r.actor, r.verb, r.resource, r.subresource, r.name, r.code, r.reason)
        async for r in AuditRecord.objects.order_by("id")
    ]
    common = ("sessions", "token", "kubesphere")
    assert rows == [
        ("alice", "login", *common, 200, ""),
        ("alice", "login", *common, 400, "WrongPassword"),
        ("", "login", *common, 400, "UnknownUser"),
        ("alice", "refresh", *common, 200, ""),
        ("alice", "refresh", *common, 400, "RefreshReused"),
    ]
    canaries = [PASSWORD, SECRET, "canary", tokens["access_token"], tokens["refresh_token"]]
    everything = caplog.text + repr([r async for r in AuditRecord.objects.values()])
    assert not [one for one in canaries if one in everything]


async def test_tokens_are_not_stored_in_plain_text(program: Program) -> None:
    tokens = await program.signed_in("alice")
    rows = repr(
        [[r async for r in model.objects.values()] for model in (Grant, AccessToken, RefreshToken)]
    )
    assert tokens["access_token"] not in rows
    assert tokens["access_token"].rsplit(".", 1)[1] not in rows
    assert tokens["refresh_token"] not in rows


async def test_a_password_changed_during_verification_yields_an_invalid_token(
    program: Program, users: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = passwords.matches

    async def meanwhile(password: str, stored: str | None) -> bool:
        right = await original(password, stored)
        bring(users, user("alice", password=hashed("Another1")))
        return right

    monkeypatch.setattr("accounts.signin.authenticate.matches", meanwhile)
    token = (await program.signed_in("alice"))["access_token"]
    assert not await program.works(token)
