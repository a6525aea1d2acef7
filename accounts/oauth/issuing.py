"""Making the tokens of a grant. Within the caller's transaction."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.oauth import jose, keys
from accounts.oauth.clients import REFRESH, Client
from accounts.oauth.holders import Holder, has_first_password
from accounts.oauth.models import AccessToken, Grant, RefreshToken
from accounts.oauth.options import options
from accounts.oauth.scopes import EMAIL, OPENID, PROFILE


@dataclass(frozen=True, slots=True)
class Issued:
    """`expires_in`: of the access token, in seconds. `refresh_token` is "" where there is none."""

    access_token: str
    refresh_token: str
    expires_in: int
    scope: str
    id_token: str = ""

    def body(self) -> dict[str, Any]:
        """As RFC 6749, section 5.1, and OpenID Connect Core, section 3.1.3.3, have it."""
        found: dict[str, Any] = {
            "access_token": self.access_token,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            "scope": self.scope,
        }
        more = {"refresh_token": self.refresh_token, "id_token": self.id_token}
        return found | {name: value for name, value in more.items() if value}


def issue(
    grant: Grant, holder: Holder, client: Client, now: datetime, *, scope: str = ""
) -> Issued:
    """An access token and, for clients that may refresh, a refresh token. Neither outlives the grant."""
    scope = scope or grant.scope
    key = keys.signing_key(keys.ACCESS, now)
    token = AccessToken.objects.create(
        jti=random_token(),
        grant=grant,
        key_id=key.thumbprint(),
        expires=min(now + client.access, grant.expires),
    )
    claims = _common(holder, now, token.expires) | {
        "aud": [options().issuer],
        "jti": token.jti,
        "client_id": client.name,
        "token_type": "access_token",
        "scope": scope,
        "scopes": scope.split(" "),
        "uid": holder.user.uid,
    }
    if has_first_password(holder.user):
        claims["extra"] = {"uninitialized": ["true"]}
    return Issued(
        access_token=jose.sign(keys.ACCESS, claims, key),
        refresh_token=_refresh(grant, client, now) if REFRESH in client.grants else "",
        expires_in=int((token.expires - now).total_seconds()),
        scope=scope,
    )


def id_token(grant: Grant, holder: Holder, client: Client, nonce: str, now: datetime) -> str:
    """Says to the client, and to nobody else, who the user is; "" unless `openid` was granted."""
    if OPENID not in grant.scope.split(" "):
        return ""
    claims = _common(holder, now, min(now + client.access, grant.expires)) | {
        "aud": client.name,
        "auth_time": int(grant.authenticated.timestamp()),
        "token_type": "id_token",
        **profile(holder, grant.scope),
    }
    if nonce:
        claims["nonce"] = nonce
    return jose.sign(keys.IDENTITY, claims, keys.signing_key(keys.IDENTITY, now))


def profile(holder: Holder, scope: str) -> dict[str, Any]:
    """What the granted scopes let a client know (OpenID Connect Core, section 5.4)."""
    user, scopes = holder.user, scope.split(" ")
    found: dict[str, Any] = {"sub": user.name}
    if PROFILE in scopes:
        found |= {"name": user.name, "preferred_username": user.name}
    if EMAIL in scopes and user.email:
        found["email"] = user.email
    return found


def random_token() -> str:
    """256 bits."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What is kept of a random token. It has 256 bits, so nothing slower than SHA-256 is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def _refresh(grant: Grant, client: Client, now: datetime) -> str:
    token = random_token()
    expires = min(now + client.access + client.idle, grant.expires)
    RefreshToken.objects.create(digest=digest(token), grant=grant, expires=expires)
    return token


def _common(holder: Holder, now: datetime, expires: datetime) -> dict[str, Any]:
    return {
        "iss": options().issuer,
        "sub": holder.user.name,
        "username": holder.user.name,
        "iat": int(now.timestamp()),
        "exp": int(expires.timestamp()),
    }
