"""Exact contents of the public discovery documents, to notice every change."""

import pytest

from tests.accounts.oauth.conftest import ORIGIN, Program, error_of

pytestmark = pytest.mark.django_db(transaction=True)

BOTH = ("/.well-known/openid-configuration", "/oauth/.well-known/openid-configuration")


@pytest.mark.parametrize("path", BOTH)
async def test_discovery(program: Program, path: str) -> None:
    answer = await program.get(path)
    assert answer.status_code == 200
    assert answer.json() == {
        "issuer": ORIGIN,
        "authorization_endpoint": f"{ORIGIN}/oauth/authorize",
        "token_endpoint": f"{ORIGIN}/oauth/token",
        "userinfo_endpoint": f"{ORIGIN}/oauth/userinfo",
        "jwks_uri": f"{ORIGIN}/oauth/keys",
        "revocation_endpoint": f"{ORIGIN}/oauth/revoke",
        "scopes_supported": ["openid", "profile", "email", "api"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "password"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": [
            "client_secret_basic",
            "client_secret_post",
            "none",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "client_secret_basic",
            "client_secret_post",
            "none",
        ],
        "code_challenge_methods_supported": ["S256"],
        "claims_supported": [
            "iss",
            "sub",
            "aud",
            "exp",
            "iat",
            "auth_time",
            "nonce",
            "name",
            "preferred_username",
            "email",
        ],
        "prompt_values_supported": ["none", "consent"],
        "authorization_response_iss_parameter_supported": True,
        "request_uri_parameter_supported": False,
    }


@pytest.mark.parametrize("path", [*BOTH, "/oauth/keys"])
async def test_discovery_has_no_cors_headers_and_is_read_only(program: Program, path: str) -> None:
    answer = await program.get(path, Origin="https://e.example.com")
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert "Server" not in answer
    assert error_of(await program.post(path, {"a": "b"})) == (405, "invalid_request")


async def test_other_hosts_are_refused_and_forwarded_hosts_are_ignored(program: Program) -> None:
    usual = await program.get(BOTH[0])
    assert (await program.get(BOTH[0], Host="evil.test")).status_code == 400
    assert (await program.get(BOTH[0], X_Forwarded_Host="evil.test")).content == usual.content
