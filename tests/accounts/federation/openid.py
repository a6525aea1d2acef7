"""An OpenID provider that can return wrong claims, signatures and keys."""

import json
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any
from urllib.parse import unquote_plus, urlencode

from aiohttp import web
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from accounts.jose import challenge_of
from tests.accounts.conftest import Browser
from tests.accounts.federation.servers import query

#: Contains characters that must be form-encoded, and the separator of client ID and secret.
CLIENT, SECRET = "console", "the secret: 100%/of+the&client="
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
#: Generated once, because generating RSA keys is slow.
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
OTHER = RSAKey.generate_key(2048, {"kid": "rsa"})
EC = ECKey.generate_key("P-256", {"kid": "ec"})

Key = RSAKey | ECKey


def signed(claims: dict[str, Any], key: Key = RSA, **header: Any) -> str:
    head = {"alg": "RS256", "kid": key.kid or "", "typ": "JWT", **header}
    payload = json.dumps(claims).encode()
    return jws.serialize_compact(head, payload, key, algorithms=[head["alg"]])


def by_hand(claims: dict[str, Any], sign: Callable[[bytes], bytes], **header: Any) -> str:
    """Return a JWT that libraries refuse to create."""
    parts = [json.dumps(part).encode() for part in (header, claims)]
    text = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    return (text + b"." + urlsafe_b64encode(sign(text)).rstrip(b"=")).decode()


def _shown(request: web.Request) -> list[str]:
    """Return client ID and secret from the Authorization header (RFC 6749, section 2.3.1)."""
    _scheme, _space, encoded = request.headers.get("Authorization", "").partition(" ")
    return [unquote_plus(part) for part in b64decode(encoded).decode().split(":")]


@dataclass
class OpenIDServer:
    url: str = ""
    claims: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "auth0|4711",
            "preferred_username": "Jane",
            "email": "jane@example.com",
            "sid": "s-1",
        }
    )
    #: Overrides claims of the next ID token. None removes a claim.
    lies: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    key: Key = field(default_factory=lambda: RSA)
    keys: list[Key] = field(default_factory=lambda: [RSA, EC])
    metadata: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    #: Replaces the whole ID token.
    token: str = ""
    asked: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def application(self) -> web.Application:
        found = web.Application()
        found.router.add_get("/.well-known/openid-configuration", self._metadata)
        found.router.add_get("/jwks", self._jwks)
        found.router.add_post("/token", self._token)
        found.router.add_get("/userinfo", self._user_info)
        return found

    def fields(self, **more: Any) -> dict[str, Any]:
        return {"issuer": self.url, "clientID": CLIENT, "clientSecret": SECRET, **more}

    def authorize(self, location: str, code: str) -> str:
        """Return the query parameters of the redirect back after consent."""
        asked = query(location)
        assert "openid" in asked["scope"].split() and asked["code_challenge_method"] == "S256"
        self._codes[code] = asked
        return f"code={code}&state={asked['state']}"

    def about(self, **more: Any) -> dict[str, Any]:
        """Return the common claims of all tokens."""
        now = int(time.time())
        return {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 120, **more}

    def logout_token(self, header: dict[str, Any] | None = None, **lies: Any) -> str:
        claims = self.about(
            jti=token_urlsafe(), sub=self.claims["sub"], sid="s-1", events={LOGOUT_EVENT: {}}
        )
        claims = {name: v for name, v in {**claims, **lies}.items() if v is not None}
        given = {"typ": "logout+jwt", **(header or {})}
        return signed(claims, given.pop("key", RSA), **given)

    async def _metadata(self, _request: web.Request) -> web.Response:
        self.asked.append("metadata")
        found = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/end",
            **self.metadata,
        }
        return web.json_response({k: v for k, v in found.items() if v is not None})

    async def _jwks(self, _request: web.Request) -> web.Response:
        self.asked.append("jwks")
        keys = [key.as_dict(private=False) for key in self.keys]
        strange = [{"kty": "XX", "kid": "x"}, "no key", {"kty": "RSA", "n": "!", "e": "!"}]
        return web.json_response({"keys": [*strange, *keys]})

    async def _token(self, request: web.Request) -> web.Response:
        self.asked.append("token")
        form = await request.post()
        asked = self._codes.pop(str(form.get("code")), None)
        right = (
            asked is not None
            and _shown(request) == [CLIENT, SECRET]
            and form.get("redirect_uri") == asked["redirect_uri"]
            and challenge_of(str(form.get("code_verifier"))) == asked["code_challenge"]
        )
        if asked is None or not right:
            return web.json_response({"error": "invalid_grant"}, status=400)
        claims = {**self.about(nonce=asked["nonce"]), **self.claims, **self.lies}
        claims = {name: value for name, value in claims.items() if value is not None}
        token = self.token or signed(claims, self.key, **self.header)
        return web.json_response(
            {"access_token": "a-token", "token_type": "Bearer", "id_token": token}
        )

    async def _user_info(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer a-token"
        return web.json_response(self.user_info)


LOGOUT = "/oauth/backchannel/oidc"


async def post_logout_token(token: str, path: str = LOGOUT) -> int:
    """Post a logout token as the provider does: without cookies and Origin."""
    answer = await Browser().client.post(
        path,
        urlencode({"logout_token": token}),
        content_type="application/x-www-form-urlencoded",
        headers={"Host": "console.example.com"},
    )
    assert answer.status_code != 500
    return int(answer.status_code)
