"""Database records of grants, tokens and codes. Synchronous: call from a worker thread, not from
the event loop.

Each function is one transaction. A conditional UPDATE ensures that a code or refresh token is
used only once, even with concurrent requests on two replicas. Rejections are returned instead of
raised, so that the transaction is committed: a second use of a code or refresh token revokes its
grant.
"""

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import AccessToken, AuthorizationCode, Grant, RefreshToken
from accounts.oauth import keys
from accounts.oauth.clients import EMAIL, OPENID, PROFILE, REFRESH, Client
from accounts.oauth.holders import Holder, find_holder, has_first_password
from accounts.oauth.options import options
from accounts.signin.session_settings import ABSOLUTE_LIFETIME

CODE_LIFETIME = timedelta(minutes=1)


# Creation of a grant's tokens within the caller's transaction.


@dataclass(frozen=True, slots=True)
class Issued:
    """Issued tokens.

    `expires_in` is the lifetime of the access token in seconds. `refresh_token` is "" if none
    was issued.
    """

    access_token: str
    refresh_token: str
    expires_in: int
    scope: str
    id_token: str = ""

    def body(self) -> dict[str, Any]:
        """Return the token response (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3)."""
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
    """Issue an access token and, if the client may refresh, a refresh token. Neither outlives the
    grant.
    """
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
        access_token=keys.sign(keys.ACCESS, claims, key),
        refresh_token=_refresh(grant, client, now) if REFRESH in client.grants else "",
        expires_in=int((token.expires - now).total_seconds()),
        scope=scope,
    )


def id_token(grant: Grant, holder: Holder, client: Client, nonce: str, now: datetime) -> str:
    """Return an ID token for the client, or "" unless `openid` was granted."""
    if OPENID not in grant.scope.split(" "):
        return ""
    claims = _common(holder, now, min(now + client.access, grant.expires)) | {
        "aud": client.name,
        "auth_time": int(grant.authenticated.timestamp()),
        "token_type": "id_token",
        **user_claims(holder, grant.scope),
    }
    if nonce:
        claims["nonce"] = nonce
    return keys.sign(keys.IDENTITY, claims, keys.signing_key(keys.IDENTITY, now))


def user_claims(holder: Holder, scope: str) -> dict[str, Any]:
    """Return the user's claims allowed by the granted scopes (OpenID Connect Core, section 5.4)."""
    user, scopes = holder.user, scope.split(" ")
    found: dict[str, Any] = {"sub": user.name}
    if PROFILE in scopes:
        found |= {"name": user.name, "preferred_username": user.name}
    if EMAIL in scopes and user.email:
        found["email"] = user.email
    return found


def random_token() -> str:
    """Return a random token with 256 bits."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """Return the stored hash of a random token. SHA-256 is sufficient because the token has 256
    random bits.
    """
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


@dataclass(frozen=True, slots=True)
class RejectedGrant:
    """Rejection. `reason` is for the audit trail; the client always gets `invalid_grant`."""

    reason: str


@dataclass(frozen=True, slots=True)
class CodeParameters:
    """Parameters of an authorization request that are bound to its code."""

    redirect_uri: str
    scope: str
    challenge: str = ""
    nonce: str = ""


@transaction.atomic
def sign_in(holder: Holder, client: Client, scope: str, now: datetime) -> Issued:
    """Issue the first tokens after a password sign-in."""
    return issue(_begin(holder, client, scope, now, now), holder, client, now)


def make_code(
    holder: Holder, client: Client, terms: CodeParameters, authenticated: datetime, now: datetime
) -> str:
    code = random_token()
    AuthorizationCode.objects.create(
        digest=digest(code),
        client=client.name,
        user=holder.user.name,
        uid=holder.user.uid,
        credential=holder.credential,
        scope=terms.scope,
        authenticated=authenticated,
        redirect_uri=terms.redirect_uri,
        challenge=terms.challenge,
        nonce=terms.nonce,
        expires=now + CODE_LIFETIME,
    )
    return code


@transaction.atomic
def use_code(
    code: str, client: Client, redirect_uri: str, challenge: str, now: datetime
) -> Issued | RejectedGrant:
    """Exchange a code for tokens.

    `challenge` is derived from the code verifier, or "" without one. Raise `UsersNotCached`.
    """
    found = AuthorizationCode.objects.filter(digest=digest(code), client=client.name).first()
    if found is None:
        return RejectedGrant("UnknownCode")
    # Mark the code as used before any other check, so that it counts as used even if the request is
    # rejected.
    if not AuthorizationCode.objects.filter(pk=found.pk, used=None).update(used=now):
        found.refresh_from_db()
        if found.grant is not None:
            end_grants(Grant.objects.filter(pk=found.grant.pk), "CodeReused", now)
        return RejectedGrant("CodeReused")
    if found.expires <= now:
        return RejectedGrant("CodeExpired")
    if found.redirect_uri != redirect_uri:
        return RejectedGrant("WrongRedirectURI")
    if found.challenge != challenge:
        return RejectedGrant("WrongVerifier")
    holder = find_holder(found.user, found.uid, found.credential)
    if holder is None:
        return RejectedGrant("UserEnded")
    grant = _begin(holder, client, found.scope, found.authenticated, now)
    AuthorizationCode.objects.filter(pk=found.pk).update(grant=grant)
    issued = issue(grant, holder, client, now)
    return replace(issued, id_token=id_token(grant, holder, client, found.nonce, now))


@transaction.atomic
def use_refresh(token: str, client: Client, scope: str, now: datetime) -> Issued | RejectedGrant:
    """Exchange a refresh token for new tokens.

    `scope` is "" or a subset of the granted scopes. Raise `UsersNotCached`.
    """
    found = _refresh_token(token, client)
    if found is None:
        return RejectedGrant("UnknownToken")
    grant = found.grant
    if not RefreshToken.objects.filter(pk=found.pk, used=None).update(used=now):
        end_grants(Grant.objects.filter(pk=grant.pk), "RefreshReused", now)
        return RejectedGrant("RefreshReused")
    if grant.ended is not None or min(found.expires, grant.expires) <= now:
        return RejectedGrant("TokenExpired")
    holder = find_holder(grant.user, grant.uid, grant.credential)
    if holder is None:
        end_grants(Grant.objects.filter(pk=grant.pk), "UserEnded", now)
        return RejectedGrant("UserEnded")
    return issue(grant, holder, client, now, scope=scope)


def user_of_code(code: str, client: Client) -> str:
    """Return the username of a code, used or not, or "" if it isn't a code of this client."""
    rows = AuthorizationCode.objects.filter(digest=digest(code), client=client.name)
    return rows.values_list("user", flat=True).first() or ""


def grant_of_refresh(token: str, client: Client) -> Grant | None:
    """Return the grant of a refresh token, used or not, or None if it isn't a token of this client."""
    found = _refresh_token(token, client)
    return found.grant if found is not None else None


def grant_of_access(jti: str, now: datetime) -> Grant | None:
    """Return the grant of a valid access token, or None."""
    found = AccessToken.objects.select_related("grant").filter(jti=jti, expires__gt=now).first()
    if found is None or found.grant.ended is not None or found.grant.expires <= now:
        return None
    return found.grant


def end_grants(grants: QuerySet[Grant], reason: str, now: datetime) -> int:
    """End grants and thereby all their tokens. Return the number of grants that were active."""
    return grants.filter(ended=None).update(ended=now, reason=reason)


def end_user(name: str, reason: str, now: datetime) -> int:
    """End all grants and codes of a user."""
    AuthorizationCode.objects.filter(user=name, used=None).update(used=now)
    return end_grants(Grant.objects.filter(user=name), reason, now)


@transaction.atomic
def discard_expired(now: datetime) -> None:
    """Delete expired rows that are no longer needed to detect reuse."""
    Grant.objects.filter(expires__lte=now).delete()
    AccessToken.objects.filter(expires__lte=now).delete()
    AuthorizationCode.objects.filter(grant=None, expires__lte=now - CODE_LIFETIME).delete()
    keys.discard_expired(now)


def _begin(
    holder: Holder, client: Client, scope: str, authenticated: datetime, now: datetime
) -> Grant:
    if not options().multiple_login:
        end_user(holder.user.name, "AnotherLogin", now)
    return Grant.objects.create(
        client=client.name,
        user=holder.user.name,
        uid=holder.user.uid,
        credential=holder.credential,
        scope=scope,
        authenticated=authenticated,
        created=now,
        expires=now + max(ABSOLUTE_LIFETIME, client.access + client.idle),
    )


def _refresh_token(token: str, client: Client) -> Any:
    rows = RefreshToken.objects.select_related("grant")
    return rows.filter(digest=digest(token), grant__client=client.name).first()
