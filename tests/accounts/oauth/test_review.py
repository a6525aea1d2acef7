"""`POST /oauth/authenticate`, the token webhook of kube-apiserver. `test_replicas` uses a real
kube-apiserver.
"""

import json
from typing import Any

import pytest
from django.db import DatabaseError

from accounts.oauth import review
from console.kube.informer import Informer
from tests.accounts.conftest import PASSWORD, hashed
from tests.accounts.oauth.conftest import SECRET, Program, basic, error_of
from tests.rbac.objects import user
from tests.support.informers import bring

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/oauth/authenticate"
V1 = "authentication.k8s.io/v1"
KUBE = basic("kube-apiserver", "kube-" + SECRET)


def question(token: Any, version: str = V1, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "TokenReview", "spec": {"token": token, **spec}}


async def ask(program: Program, body: Any, authorization: str = KUBE) -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    headers = {"Authorization": authorization} if authorization else {}
    return await program.send(PATH, text, content_type="application/json", **headers)


@pytest.mark.parametrize("version", [V1, "authentication.k8s.io/v1beta1"])
async def test_a_review_returns_the_user_of_the_token(program: Program, version: str) -> None:
    token = (await program.signed_in())["access_token"]
    audiences = ["https://kubernetes.default.svc"]
    answer = await ask(program, question(token, version, audiences=audiences))
    assert answer.status_code == 200
    assert answer.json() == {
        "apiVersion": version,
        "kind": "TokenReview",
        "status": {"authenticated": True, "user": {"username": "alice", "uid": "uid-alice"}},
    }


async def authenticated(program: Program, token: Any) -> bool:
    answer = await ask(program, question(token))
    assert answer.status_code == 200
    status = answer.json()["status"]
    assert status == {"authenticated": False} or status["authenticated"] is True
    return bool(status["authenticated"])


@pytest.mark.parametrize(
    "token", ["", "x", "a.b.c", "\ud800", "\0", "a" * 20_000, "\u00e9", PASSWORD]
)
async def test_malformed_tokens_are_not_authenticated(program: Program, token: str) -> None:
    assert not await authenticated(program, token)


async def test_unsuitable_tokens_are_not_authenticated(
    program: Program, users: Informer[Any]
) -> None:
    tokens = await program.signed_in()
    spare = (await program.signed_in())["refresh_token"]
    narrow = await program.refresh(spare, scope="openid")
    assert not await authenticated(program, narrow.json()["access_token"])
    assert not await authenticated(program, tokens["refresh_token"])
    assert await authenticated(program, tokens["access_token"])
    bring(users, user("alice", password=hashed(PASSWORD), state="Disabled"))
    assert not await authenticated(program, tokens["access_token"])


async def test_a_revoked_token_is_not_authenticated(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    await program.get("/oauth/logout", token)
    assert not await authenticated(program, token)


async def test_a_user_who_must_change_the_password_is_not_authenticated(
    program: Program, users: Informer[Any]
) -> None:
    annotations = {"iam.kubesphere.io/uninitialized": "true"}
    bring(users, user("new", password=hashed(PASSWORD), annotations=annotations))
    token = (await program.signed_in("new"))["access_token"]
    assert not await authenticated(program, token)


@pytest.mark.parametrize(
    "authorization",
    ["", "Basic x", basic("kube-apiserver", "x"), basic("kubesphere", SECRET), basic("cli", "")],
)
async def test_reviews_require_a_client_with_permission(
    program: Program, authorization: str
) -> None:
    token = (await program.signed_in())["access_token"]
    answer = await ask(program, question(token), authorization)
    assert error_of(answer) == (401, "invalid_client")


async def test_a_bearer_token_does_not_allow_reviews(program: Program) -> None:
    token = (await program.signed_in("admin"))["access_token"]
    answer = await ask(program, question(token), f"Bearer {token}")
    assert error_of(answer) == (401, "invalid_client")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        b"\xff",
        "[" * 30_000,
        json.dumps({**question("x"), "kind": "Pod"}),
        json.dumps({**question("x"), "apiVersion": "authentication.k8s.io/v2"}),
        json.dumps({**question("x"), "spec": None}),
        json.dumps({**question("x"), "spec": {}}),
        json.dumps(question(1)),
        json.dumps(question(None)),
        json.dumps(question("x", audiences="x")),
        '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"x","token":"y"}}',
    ],
)
async def test_malformed_reviews_get_400(program: Program, body: Any) -> None:
    assert error_of(await ask(program, body)) == (400, "invalid_request")


async def test_content_type_and_size_are_checked(program: Program) -> None:
    answer = await program.send(PATH, json.dumps(question("x")), Authorization=KUBE)
    assert error_of(answer) == (400, "invalid_request")
    assert error_of(await ask(program, "x" * 40_000)) == (413, "invalid_request")


async def test_an_unavailable_database_returns_503(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await program.signed_in())["access_token"]

    def fail(*_: object) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr("accounts.oauth.grants.grant_of_access", fail)
    answer = await ask(program, question(token))
    assert error_of(answer) == (503, "temporarily_unavailable")
    assert "Retry-After" not in answer, "kube-apiserver would wait, and so would its users"


async def test_reviews_are_rate_limited(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "RATE", 0.0)
    monkeypatch.setattr(review, "_bucket", review.RateLimiter(left=1.0))
    assert (await ask(program, question("x"))).status_code == 200
    answer = await ask(program, question("x"))
    assert error_of(answer) == (429, "slow_down")
    assert answer["Retry-After"] == "1"


def test_the_token_bucket_allows_burst_and_rate() -> None:
    bucket = review.RateLimiter(last=0.0)
    taken = sum(bucket.take(0.0) for _ in range(1000))
    assert taken == review.BURST
    assert sum(bucket.take(1.0) for _ in range(1000)) == review.RATE
