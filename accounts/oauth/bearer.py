"""Who a bearer token is: its signature, the register, and the user, at every use.

A token is looked for in the Authorization header and nowhere else (RFC 6750, section 2.1).
"""

import re
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from accounts import apitokens
from accounts.models import Grant
from accounts.oauth import endpoint, register
from accounts.oauth.clients import API, OPENID
from accounts.oauth.errors import insufficient_scope, invalid_token, no_token
from accounts.oauth.holders import Holder, find_holder
from accounts.oauth.keys import MAX_LENGTH, NotValid, verify_access
from accounts.oauth.options import options

_HEADER = re.compile(rf"bearer +([A-Za-z0-9._~+/=-]{{1,{MAX_LENGTH}}})", re.IGNORECASE)
_SCHEME = re.compile(r"bearer\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token that counts, and whose it is. `grant` is None for one that the user made under "My
    account"; `read_only`: it changes nothing, and nobody else is told to whom it belongs."""

    holder: Holder
    grant: Grant | None
    scope: frozenset[str]
    read_only: bool = False

    @property
    def acts(self) -> bool:
        """True if it may be used for the console and the cluster, and not just to say who it is.

        A user who has to choose a password first may do nothing else.
        """
        return API in self.scope and not self.holder.must_choose


def bearer_in(request: HttpRequest) -> str | None:
    """What the header carries; None if it is about something else. Raises `OAuthError` if it carries
    no token, or is there twice, which makes it one value with a comma."""
    header = request.headers.get("Authorization", "")
    if not _SCHEME.match(header):
        return None
    found = _HEADER.fullmatch(header)
    if found is None:
        raise invalid_token()
    return found[1]


async def examine_token(token: str) -> Bearer | None:
    """None for a token that is not valid, or not any more. Raises `UsersUnknown` and DatabaseError."""
    return await sync_to_async(_examine)(token)


def bearer_of(request: HttpRequest) -> Bearer:
    """The token with which this request was made. Raises `OAuthError` if there was none."""
    bearer: Bearer | None = getattr(request, "bearer", None)
    if bearer is None:
        raise no_token()
    return bearer


def require_scope(bearer: Bearer, scope: str) -> None:
    """Raises `OAuthError`."""
    if scope not in bearer.scope:
        raise insufficient_scope(scope)


def require_grant(bearer: Bearer) -> Grant:
    """Of a token that came of a sign-in. Raises `OAuthError` for others."""
    if bearer.grant is None:
        raise insufficient_scope(OPENID)
    return bearer.grant


def _examine(token: str) -> Bearer | None:
    now = endpoint.clock.now()
    if apitokens.is_one(token):
        found = apitokens.find(token, now)
        return Bearer(found.holder, None, frozenset({API}), found.read_only) if found else None
    try:
        claims = verify_access(token, options().issuer, now)
    except NotValid:
        return None
    grant = register.grant_of_access(claims["jti"], now)
    if grant is None:
        return None
    holder = find_holder(grant.user, grant.uid, grant.credential)
    if holder is None:
        # So that it stays dead when the user is enabled again.
        register.end(Grant.objects.filter(pk=grant.pk), "UserEnded", now)
        return None
    return Bearer(holder, grant, frozenset(str(claims.get("scope", "")).split(" ")))
