"""Authentication of the gateway's clients: token, client certificate or session cookie.

A request has exactly one of them. A certificate is one of a kubeconfig
(`accounts.kubeconfigs`), if the console terminates TLS itself. It only proves the name; the
groups are those of the cache. Requests with a cookie are checked like those of pages: exact
origin and CSRF token.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256

from cryptography import x509
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.http import parse_cookie
from django.utils.translation import gettext as _

from accounts.csrf import is_forged
from accounts.oauth.bearer import Bearer, bearer_of_header, examine_token
from accounts.oauth.clients import API
from accounts.oauth.errors import OAuthError, insufficient_scope, invalid_token, no_token
from accounts.oauth.holders import Holder, holder_of
from accounts.signin.asgi import has_our_origin
from accounts.signin.presence import (
    find_session,
    live_access,
    presence_of_session,
    token_presence,
)
from accounts.signin.sessions import STEPS, State, Step
from accounts.time import now
from accounts.users.directory import UsersNotCached, trusted_users
from console.gateway.errors import Refusal
from console.gateway.paths import TLS_EXTENSION
from console.kube.gvr import Key
from console.kube.identity import Identity
from console.proxying.request import ProxyRequest
from console.ui.core.requests import UserSession
from console.views.guard import SAFE_METHODS, is_navigation
from rbac.authorizer import is_usable

#: Seconds for which the result of a token is reused. A revoked token is refused after this time.
TOKEN_SECONDS = 1.0
_MAX_TOKENS = 1024
#: kube-controller-manager dates certificates back by this time.
_BACKDATED = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated client. `account` is the user who signed in, `identity` the user whose
    permissions apply: another one while the user views the console as another user.
    """

    account: str
    identity: Identity
    presence: UserSession
    read_only: bool = False
    by_cookie: bool = False


async def authenticate(asked: ProxyRequest, *, upgrades: bool) -> Caller:
    """Return the client. Raise `Refusal`: 401 for anonymous clients."""
    try:
        return await _authenticate(asked, upgrades)
    except OAuthError as error:
        raise Refusal(error.status, error.description, **error.headers) from error
    except UsersNotCached as error:
        raise Refusal(503, _("The users are not loaded yet. Try again later.")) from error
    except DatabaseError as error:
        raise Refusal(503, _("The database is not available.")) from error


async def _authenticate(asked: ProxyRequest, upgrades: bool) -> Caller:
    authorization = asked.headers.get("authorization", "")
    token = bearer_of_header(authorization)
    key = parse_cookie(asked.headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    certificate: bytes = (asked.scope.get("extensions") or {}).get(TLS_EXTENSION, b"")
    if token is not None and key is not None:
        raise Refusal(400, _("Send either a session cookie or a token, not both."))
    if token is not None:
        return await _of_token(token)
    if authorization:
        raise no_token()
    if key is not None:
        return await _of_session(key, asked, upgrades)
    if certificate:
        return _of_certificate(x509.load_der_x509_certificate(certificate))
    raise no_token()


# Tokens

_tokens: dict[bytes, tuple[datetime, Bearer]] = {}


def forget_tokens() -> None:
    """Examine all tokens again at their next use."""
    _tokens.clear()


async def _of_token(token: str) -> Caller:
    bearer = await _examine(token)
    if bearer is None:
        raise invalid_token()
    if API not in bearer.scope:
        raise insufficient_scope(API)
    if not bearer.grants_access:
        raise _must_choose_password()
    name = bearer.holder.user.name
    presence = token_presence(token, name)
    return Caller(name, bearer.holder.identity, presence, bearer.read_only)


async def _examine(token: str) -> Bearer | None:
    """Return the token's user and scope like `examine_token`, at most `TOKEN_SECONDS` old."""
    digest, moment = sha256(token.encode()).digest(), now()
    known = _tokens.get(digest)
    if known is not None and moment - known[0] < timedelta(seconds=TOKEN_SECONDS):
        return known[1]
    found = await examine_token(token)
    _tokens.pop(digest, None)
    if found is not None:
        while len(_tokens) >= _MAX_TOKENS:
            del _tokens[next(iter(_tokens))]
        _tokens[digest] = moment, found
    return found


# Sessions


async def _of_session(key: str, asked: ProxyRequest, upgrades: bool) -> Caller:
    found = await find_session(key)
    if found.state is State.UNKNOWN:
        raise Refusal(503, _("Could not verify your session. Try again in a few seconds."))
    if found.step is not None:
        raise Refusal(403, str(STEPS[found.step][1]))
    mine, theirs = found.identity, found.acting
    if mine is None or theirs is None:
        raise no_token()
    if not await _is_from_console(asked, theirs, upgrades):
        raise Refusal(403, _("The request came from another site and was rejected."))
    presence = presence_of_session(key, mine.name, theirs.name)
    read_only = found.viewing is not None and not found.viewing.writes
    return Caller(mine.name, theirs, presence, read_only, by_cookie=True)


async def _is_from_console(asked: ProxyRequest, identity: Identity, upgrades: bool) -> bool:
    """Return True for requests of the console's pages, and for a user who opens an address."""
    if upgrades:
        return has_our_origin(asked.scope)
    headers: Mapping[str, str] = asked.headers
    site = headers.get("sec-fetch-site")
    if asked.method in SAFE_METHODS:
        return site in (None, "same-origin", "none") or is_navigation(headers)
    if site not in (None, "same-origin"):
        return False
    if "origin" in headers and not has_our_origin(asked.scope):
        return False
    request = ASGIRequest(asked.scope, io.BytesIO())
    request.identity = identity  # type: ignore[attr-defined]
    return not await is_forged(request)


# Client certificates


def _of_certificate(certificate: x509.Certificate) -> Caller:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    name = str(names[0].value) if len(names) == 1 else ""
    holder = _holder(name, certificate)
    if holder is None:
        raise no_token()
    if holder.must_choose_password:
        raise _must_choose_password()
    uid = holder.user.uid

    async def lasts() -> bool:
        try:
            current = _holder(name, certificate)
        except UsersNotCached:
            return False
        return current is not None and current.user.uid == uid

    return Caller(name, holder.identity, UserSession(lasts, partial(live_access, name)))


def _holder(name: str, certificate: x509.Certificate) -> Holder | None:
    """Return the user of a certificate, or None if it is not valid for the current user of this
    name. Raise `UsersNotCached`.
    """
    entry = trusted_users().store.get(Key("", name))
    if entry is None or not is_usable(entry.projection):
        return None
    began, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    created = entry.projection.created
    # A certificate can't be revoked, so one of a deleted user with this name is older than the user.
    if created is None or not created - _BACKDATED <= began <= now() < ends:
        return None
    return holder_of(entry)


def _must_choose_password() -> Refusal:
    return Refusal(403, str(STEPS[Step.PASSWORD][1]))
