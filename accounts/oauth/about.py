"""What anybody may know of the token service: its endpoints and its public keys.

https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata and RFC 8414, section 2.
"""

from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.oauth import endpoint, keys
from accounts.oauth.clients import CODE, PASSWORD, REFRESH
from accounts.oauth.errors import answer
from accounts.oauth.options import options
from accounts.oauth.scopes import ALL


@endpoint.endpoint("GET", "HEAD")
async def discovery(request: HttpRequest) -> HttpResponse:
    issuer = options().issuer

    def at(name: str) -> str:
        return issuer + reverse(f"accounts:oauth:{name}")

    found: dict[str, Any] = {
        "issuer": issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "userinfo_endpoint": at("userinfo"),
        "jwks_uri": at("keys"),
        "revocation_endpoint": at("revoke"),
        "scopes_supported": list(ALL),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [CODE, REFRESH, PASSWORD],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [keys.ALGORITHMS[keys.IDENTITY]],
        "token_endpoint_auth_methods_supported": [
            "client_secret_basic", "client_secret_post", "none",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "client_secret_basic", "client_secret_post", "none",
        ],
        "code_challenge_methods_supported": ["S256"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce",
            "name", "preferred_username", "email",
        ],
        "prompt_values_supported": ["none", "consent"],
        "authorization_response_iss_parameter_supported": True,
        "request_uri_parameter_supported": False,
    }  # fmt: skip
    return answer(found)


@endpoint.endpoint("GET", "HEAD")
async def jwks(request: HttpRequest) -> HttpResponse:
    found = await sync_to_async(_published)()
    return answer({"keys": found})


def _published() -> list[dict[str, Any]]:
    """With those that nobody has needed yet: who reads them once has read them all."""
    now = endpoint.clock.now()
    for purpose in keys.ALGORITHMS:
        keys.signing_key(purpose, now)
    return keys.published(now)
