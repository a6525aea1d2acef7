"""Fuzz tests: no endpoint fails on hostile input, errors have the right format, and nothing is
stored.
"""

import json
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from asgiref.sync import sync_to_async
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import AccessToken, AuthorizationCode, Grant, RefreshToken
from tests.accounts.conftest import Browser
from tests.accounts.oauth.conftest import (
    CALLBACK,
    CLIENTS,
    PKCE,
    SECRET,
    VERIFIER,
    Program,
    basic,
)
from tests.support.depth import number

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = settings(
    max_examples=number(60, 1_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

NAMES = [
    "grant_type", "client_id", "client_secret", "username", "password", "scope", "code",
    "redirect_uri", "code_verifier", "refresh_token", "token", "token_type_hint", "state", "nonce",
    "response_type", "response_mode", "code_challenge", "code_challenge_method", "prompt", "max_age",
    "request", "request_uri", "access_token", "id_token_hint", "post_logout_redirect_uri", "audience",
]  # fmt: skip
VALUES = [
    "", "password", "refresh_token", "authorization_code", "code", "token", "kubesphere", "other", "cli",
    SECRET, "alice", "admin", "wrong", "openid", "openid email api", CALLBACK, VERIFIER, "S256", "plain",
    PKCE["code_challenge"], "none", "consent", "login", "0", "-1", "999999999", "\0", "\r\nX: y", "%00",
    "' OR 1=1 --", "../../etc/passwd", "{{7*7}}", "\u00e9", "\u202e", "\U0001f600", "a" * 3000, "[]",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", "null", "true", "https://e.example.com", "//e", "\\e",
]  # fmt: skip
value = st.one_of(st.sampled_from(VALUES), st.text(max_size=40))
pairs = st.lists(st.tuples(st.sampled_from(NAMES), value), max_size=9)


@st.composite
def encoded(draw: Any) -> bytes:
    """Strategy for a form or query that is correctly, partly or not encoded."""
    kind = draw(st.sampled_from(["all", "all", "all", "some", "none"]))
    if kind == "none":
        return bytes(draw(st.binary(max_size=200)))
    safe = "" if kind == "all" else "%&=+;\0\r\n "
    parts = [f"{n}={quote(v.encode('utf-8', 'replace'), safe=safe)}" for n, v in draw(pairs)]
    joiner: str = draw(st.sampled_from(["&", "&", "&", ";", "&&"]))
    return joiner.join(parts).encode("utf-8", "replace")


authorization = st.one_of(
    st.sampled_from(
        [
            "",
            basic("kubesphere", SECRET),
            basic("kubesphere", "wrong"),
            basic("kube-apiserver", "kube-" + SECRET),
            basic("alice", "wrong"),
            basic("\0", "\0"),
            "Basic",
            "Basic =",
            "Bearer",
            "Bearer a.b.c",
            "Bearer eyJhbGciOiJub25lIn0.e30.",
            "Negotiate x",
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
)
content_type = st.sampled_from(
    ["application/x-www-form-urlencoded"] * 4
    + ["application/json", "multipart/form-data; boundary=b", "text/plain; charset=utf-7", "/"]
)
json_text = st.one_of(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["apiVersion", "kind", "spec", "token", "audiences", "x"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    ).map(lambda found: _dumped(found)),
    st.fixed_dictionaries(
        {
            "apiVersion": st.sampled_from(["authentication.k8s.io/v1", "authentication.k8s.io/v9"]),
            "kind": st.sampled_from(["TokenReview", "Pod"]),
            "spec": st.fixed_dictionaries({"token": st.one_of(value, st.integers(), st.none())}),
        }
    ).map(lambda found: _dumped(found)),
    st.binary(max_size=100),
)


def _dumped(found: Any) -> bytes:
    return json.dumps(found).encode()


async def kept() -> int:
    tables = (Grant, AccessToken, RefreshToken, AuthorizationCode)
    return sum([await sync_to_async(table.objects.count)() for table in tables])


def check(answer: Any) -> None:
    assert 400 <= answer.status_code < 500, answer.status_code
    if answer.status_code == 415:
        # Endpoints accept only UTF-8.
        return
    assert answer["Content-Type"] == "application/json"
    assert "no-store" in answer["Cache-Control"]
    assert not answer.cookies
    body = answer.json()
    if body.get("kind") != "Status":
        assert set(body) == {"error", "error_description"}
        assert body["error_description"].isascii()


@given(path=st.sampled_from(["/oauth/token", "/oauth/revoke"]), body=encoded(),
       header=authorization, kind=content_type)  # fmt: skip
@EXAMPLES
async def test_forms(path: str, body: bytes, header: str, kind: str) -> None:
    answer = await Program().send(path, body, content_type=kind, Authorization=header)
    if path == "/oauth/revoke" and answer.status_code == 200:
        # An authenticated client gets an empty response.
        assert answer.json() == {}
    else:
        check(answer)
    assert await kept() == 0


@given(fields=st.dictionaries(st.sampled_from(NAMES), value, max_size=6),
       grant=st.sampled_from(["password", "refresh_token", "authorization_code", "code"]))  # fmt: skip
@EXAMPLES
async def test_grants_of_a_right_client(fields: dict[str, str], grant: str) -> None:
    clean = {
        n: v for n, v in fields.items() if n not in ("client_id", "client_secret", "grant_type")
    }
    body = urlencode(
        {**clean, "grant_type": grant, "client_id": "kubesphere", "client_secret": SECRET},
        errors="replace",
    )
    check(await Program().send("/oauth/token", body))
    assert await kept() == 0


@given(body=json_text, header=authorization, right=st.booleans())
@EXAMPLES
async def test_reviews(body: bytes, header: str, right: bool) -> None:
    header = basic("kube-apiserver", "kube-" + SECRET) if right else header
    answer = await Program().send(
        "/oauth/authenticate", body, content_type="application/json", Authorization=header
    )
    if answer.status_code == 200:
        assert answer.json()["status"] == {"authenticated": False}
    else:
        check(answer)
    assert await kept() == 0


GETS = ["/oauth/userinfo", "/oauth/logout", "/kapis/iam.kubesphere.io/v1alpha2/users/alice"]


@given(path=st.sampled_from(GETS), query=encoded(), header=authorization)
@EXAMPLES
async def test_endpoints_that_need_a_token(path: str, query: bytes, header: str) -> None:
    text = query.decode("latin-1").replace("#", "%23")
    check(await Program().get(f"{path}?{text}", Authorization=header))


@given(query=encoded(), header=authorization, page=st.booleans())
@EXAMPLES
async def test_authorize_anonymously(query: bytes, header: str, page: bool) -> None:
    text = query.decode("latin-1").replace("#", "%23")
    accept = "text/html" if page else "*/*"
    answer = await Program().get(f"/oauth/authorize?{text}", Authorization=header, Accept=accept)
    assert answer.status_code < 500
    if answer.status_code == 302:
        assert answer["Location"].startswith(("/login?next=", CALLBACK + "?error="))
    else:
        check(answer)
    assert await kept() == 0


@given(more=st.dictionaries(st.sampled_from(NAMES), value, max_size=5),
       client=st.sampled_from([c["name"] for c in CLIENTS]),
       page=st.sampled_from(["/oauth/authorize", "/oauth/authorize/confirm"]))  # fmt: skip
@EXAMPLES
async def test_authorize_signed_in(
    alice: Browser, more: dict[str, str], client: str, page: str
) -> None:
    fields = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": CALLBACK,
        **PKCE,
        **more,
    }
    before = await kept()
    answer = await alice.get(f"{page}?{urlencode(fields, errors='replace')}")
    assert answer.status_code in (200, 302, 400, 401), answer.status_code
    text = answer.get("Location", "") + answer.content.decode()
    if "Location" in answer:
        assert answer["Location"].startswith((CALLBACK + "?", "/oauth/authorize/confirm?"))
    issued = CALLBACK + "?code=" in text
    assert await kept() == before + issued
