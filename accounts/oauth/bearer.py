"""Validation of bearer tokens at every use: signature, database entry and user.

Tokens are accepted only in the Authorization header (RFC 6750, section 2.1).
"""

import re
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from accounts import apitokens
from accounts.models import Grant
from accounts.oauth import grants
from accounts.oauth.clients import API
from accounts.oauth.errors import invalid_token, no_token
from accounts.oauth.holders import Holder, find_holder
from accounts.oauth.keys import MAX_LENGTH, InvalidToken, verify_access
from accounts.oauth.options import options
from accounts.time import now

_HEADER = re.compile(rf"bearer +([A-Za-z0-9._~+/=-]{{1,{MAX_LENGTH}}})", re.IGNORECASE)
_SCHEME = re.compile(r"bearer\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bearer:
    """Valid token and its user.

    `grant` is None for an API token created on the account page. A `read_only` token can't
    change anything and is never confirmed to kube-apiserver.
    """

    holder: Holder
    grant: Grant | None
    scope: frozenset[str]
    read_only: bool = False

    @property
    def grants_access(self) -> bool:
        """True if the token grants access to the console and the cluster, not only to the user's
        identity.

        False for a user who must choose a password first.
        """
        return API in self.scope and not self.holder.must_choose_password


def bearer_in(request: HttpRequest) -> str | None:
    """Return the token in the Authorization header, or None if another scheme is used.

    Raise `OAuthError` if the header is malformed or repeated (repeated headers are joined with a
    comma).
    """
    return bearer_of_header(request.headers.get("Authorization", ""))


def bearer_of_header(header: str) -> str | None:
    """Return the token in an Authorization header, or None if another scheme is used. Raise
    `OAuthError` if the header is malformed.
    """
    if not _SCHEME.match(header):
        return None
    found = _HEADER.fullmatch(header)
    if found is None:
        raise invalid_token()
    return found[1]


async def examine_token(token: str) -> Bearer | None:
    """Return the token's user and scope, or None if it is invalid. Raise `UsersNotCached` or
    DatabaseError.
    """
    return await sync_to_async(_examine)(token)


def bearer_of(request: HttpRequest) -> Bearer:
    """Return the token of this request. Raise `OAuthError` if it has none."""
    bearer: Bearer | None = getattr(request, "bearer", None)
    if bearer is None:
        raise no_token()
    return bearer


def _examine(token: str) -> Bearer | None:
    moment = now()
    if token.startswith(apitokens.PREFIX):
        found = apitokens.find_token(token, moment)
        return Bearer(found.holder, None, frozenset({API}), found.read_only) if found else None
    try:
        claims = verify_access(token, options().issuer, moment)
    except InvalidToken:
        return None
    grant = grants.grant_of_access(claims["jti"], moment)
    if grant is None:
        return None
    holder = find_holder(grant.user, grant.uid, grant.credential)
    if holder is None:
        # End the grant so that it stays revoked if the user is enabled again.
        grants.end_grants(Grant.objects.filter(pk=grant.pk), "UserEnded", moment)
        return None
    return Bearer(holder, grant, frozenset(str(claims.get("scope", "")).split(" ")))
