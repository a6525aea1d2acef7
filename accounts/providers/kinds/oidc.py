"""OpenID Connect providers: Keycloak, Dex, Okta, Entra ID, another Quarterdeck.

Implements the code flow (https://openid.net/specs/openid-connect-core-1_0.html) with PKCE, a
nonce and the issuer in the callback (RFC 9207), and RP-initiated and back-channel logout.
"""

from collections.abc import Mapping
from typing import Any

from accounts.oauth.clients import with_query
from accounts.providers.base import (
    EndedSessions,
    Person,
    ProviderAttempt,
    ProviderRefused,
    Unreachable,
)
from accounts.providers.oauth2 import OAuthClient, access_token, code_in, text_of
from accounts.providers.openid import Discovery, Endpoints, read_id_token, read_logout_token
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import ProviderHttpClient

SCOPES = ("openid", "profile", "email")


@provider_kind("OIDCIdentityProvider")
class OpenID:
    def __init__(self, fields: Fields) -> None:
        client = OAuthClient.read(fields, SCOPES)
        scopes = client.scopes if "openid" in client.scopes else ("openid", *client.scopes)
        self._client = OAuthClient(client.name, client.secret, client.callback, scopes)
        self.callback = client.callback
        self._web = ProviderHttpClient(fields.tls())
        # Compared exactly as configured, including a trailing slash.
        fields.required_address("issuer")
        self._issuer = fields.required("issuer")
        self._discovery = Discovery(self._web, self._issuer, _fixed(fields, self._issuer))
        self._asks_user_info = fields.flag("getUserInfo")
        self._email = fields.text("emailKey", "email")
        self._name = fields.text("preferredUsernameKey", "preferred_username")

    async def begin(self, attempt: ProviderAttempt) -> str:
        endpoints = await self._discovery.endpoints()
        return self._client.location(endpoints.authorization, attempt, nonce=attempt.nonce)

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        endpoints = await self._discovery.endpoints()
        named = answer.get("iss")
        if named != self._issuer and (named is not None or endpoints.sends_issuer):
            raise ProviderRefused("WrongIssuer", "the callback's issuer is a different provider")
        tokens = await self._client.tokens(
            self._web, endpoints.token, attempt, code_in(answer), basic=endpoints.basic
        )
        token = text_of(tokens, "id_token")
        claims = await read_id_token(
            token, self._discovery, self._issuer, self._client.name, attempt.nonce
        )
        if self._asks_user_info:
            claims = {**claims, **await self._user_info(endpoints, tokens, claims)}
        return Person(
            subject=str(claims["sub"]),
            username=text_of(claims, self._name) or text_of(claims, "name"),
            email=text_of(claims, self._email),
            sid=text_of(claims, "sid"),
            id_token=token,
        )

    async def _user_info(
        self, endpoints: Endpoints, tokens: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the userinfo claims. They must have the ID token's subject (section 5.3.2)."""
        if not endpoints.user_info:
            raise Unreachable("NoUserInfo", "the provider has no userinfo endpoint")
        found = await self._web.json_at(endpoints.user_info, bearer=access_token(tokens))
        if found.get("sub") != claims["sub"]:
            raise ProviderRefused(
                "WrongSubject", "the userinfo's subject differs from the ID token's"
            )
        return {name: found[name] for name in (self._name, "name", self._email) if name in found}

    async def logout_url(self, id_token: str, back: str) -> str:
        endpoint = (await self._discovery.endpoints()).end_session
        if not endpoint:
            return ""
        asked = {
            "id_token_hint": id_token,
            "client_id": self._client.name,
            "post_logout_redirect_uri": back,
        }
        return with_query(endpoint, asked)

    async def ended(self, logout_token: str) -> EndedSessions:
        return await read_logout_token(
            logout_token, self._discovery, self._issuer, self._client.name
        )


def _fixed(fields: Fields, issuer: str) -> Endpoints | None:
    """Return the endpoints from KubeSphere's `endpoint` setting, or None. Raise ValueError if
    incomplete.
    """
    given = fields.below("endpoint")
    if not given.text("authURL"):
        return None
    return Endpoints(
        issuer=issuer,
        authorization=given.required_address("authURL"),
        token=given.required_address("tokenURL"),
        jwks=given.required_address("jwksURL"),
        user_info=given.address("userInfoURL"),
        end_session=given.address("endSessionURL"),
    )
