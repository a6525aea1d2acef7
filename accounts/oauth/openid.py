"""Public metadata of the token service, userinfo, logout and revocation.

https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata and RFC 8414, section
2.
"""

from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.models import Grant
from accounts.oauth import endpoint, grants, keys
from accounts.oauth.bearer import bearer_of, examine_token
from accounts.oauth.clients import ALL, CODE, OPENID, PASSWORD, REFRESH, Client, with_query
from accounts.oauth.endpoint import Fields, client_of, form_of, query_of, required
from accounts.oauth.errors import insufficient_scope, invalid_request, json_response
from accounts.oauth.grants import user_claims
from accounts.oauth.options import options
from accounts.time import now
from console.audit.trail import record_session


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
    return json_response(found)


@endpoint.endpoint("GET", "HEAD")
async def jwks(request: HttpRequest) -> HttpResponse:
    found = await sync_to_async(_published)()
    return json_response({"keys": found})


def _published() -> list[dict[str, Any]]:
    """Return all public keys. Keys that were never used are created, so that clients can cache the
    set.
    """
    moment = now()
    for purpose in keys.ALGORITHMS:
        keys.signing_key(purpose, moment)
    return keys.published(moment)


# Endpoints for the bearer of a token: userinfo, logout and revocation.


@endpoint.endpoint("GET", "HEAD", "POST")
async def userinfo(request: HttpRequest) -> HttpResponse:
    """Userinfo endpoint (OpenID Connect Core, section 5.3)."""
    bearer = bearer_of(request)
    if OPENID not in bearer.scope:
        raise insufficient_scope(OPENID)
    return json_response(user_claims(bearer.holder, " ".join(sorted(bearer.scope))))


@endpoint.endpoint("GET", "POST")
async def logout(request: HttpRequest) -> HttpResponse:
    """Revoke all tokens of the token's user, as KubeSphere does."""
    bearer = bearer_of(request)
    grant = bearer.grant
    if grant is None:
        # API tokens have no grant.
        raise insufficient_scope(OPENID)
    fields = query_of(request) if request.method == "GET" else form_of(request)
    where = _where_next(grant, fields)
    name = bearer.holder.user.name
    async with record_session(request, "logout", "token", actor=name):
        await sync_to_async(grants.end_user)(name, "Logout", now())
    return json_response({"message": "success"}) if where is None else HttpResponseRedirect(where)


@endpoint.endpoint("POST")
async def revoke(request: HttpRequest) -> HttpResponse:
    """Revocation endpoint (RFC 7009).

    Revokes the token's grant with all its tokens. The response is the same for an unknown token
    and for a token of another client.
    """
    fields = form_of(request)
    client = client_of(request, fields)
    grant = await _grant_of(required(fields, "token"), client)
    if grant is not None:
        async with record_session(request, "revoke", "token", name=client.name, actor=grant.user):
            grants_of_token = Grant.objects.filter(pk=grant.pk)
            await sync_to_async(grants.end_grants)(grants_of_token, "Revoked", now())
    return json_response({})


async def _grant_of(token: str, client: Client) -> Grant | None:
    grant = await sync_to_async(grants.grant_of_refresh)(token, client)
    if grant is not None:
        return grant
    bearer = await examine_token(token)
    grant = bearer.grant if bearer is not None else None
    return grant if grant is not None and grant.client == client.name else None


def _where_next(grant: Grant, fields: Fields) -> str | None:
    """Return the validated redirect URL after logout, or None. Raise `OAuthError` if it isn't
    registered.
    """
    uri = fields.get("post_logout_redirect_uri")
    if uri is None:
        return None
    client = options().clients.get(grant.client)
    if client is None or uri not in client.post_logout_uris:
        raise invalid_request("The post-logout redirect URI is not registered for this client.")
    state = {"state": fields["state"]} if "state" in fields else {}
    return with_query(uri, state) if state else uri
