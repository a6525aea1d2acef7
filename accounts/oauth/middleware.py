"""Authentication of API clients with a bearer token instead of a session.

A request may have a session or a token, but not both. An invalid token causes a 401 response,
even for public views, so that the client notices it.
"""

import re

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from accounts.oauth.bearer import bearer_in, examine_token
from accounts.oauth.errors import OAuthError, invalid_request, invalid_token, unavailable
from accounts.signin.presence import token_presence
from accounts.users.directory import UsersNotCached
from console.ui.core.statuses import status_response
from console.web.async_middleware import AsyncMiddleware

Response = HttpResponseBase

_IN_ADDRESS = re.compile(r"(?:^|&)access_token=")
#: Path prefix of endpoints with RFC 6749 errors. Other paths return Kubernetes' `Status`. The path
#: has no other effect.
_OWN_ERRORS = "/oauth/"
#: Methods allowed with a read-only token.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Names of views that accept bearer tokens of other kinds.
OTHER_TOKENS = frozenset({"metrics", "audit_events"})


class BearerMiddleware(AsyncMiddleware):
    """Set `request.bearer`, and `account`, `identity` and `presence` if the token grants access.

    Must come after `AccountMiddleware`, whose values it replaces, and before the middleware that
    sets `access`.
    """

    async def __call__(self, request: HttpRequest) -> Response:
        return await _identify(request) or await self.get_response(request)


async def _identify(request: HttpRequest) -> HttpResponse | None:
    request.bearer = None  # type: ignore[attr-defined]
    try:
        if _IN_ADDRESS.search(request.META.get("QUERY_STRING", "")):
            raise invalid_request("Send the access token in the Authorization header.")
        # Check the header first, because most requests use a cookie and need no second URL
        # resolution.
        others = "Authorization" in request.headers and _has_other_tokens(request)
        token = None if others else bearer_in(request)
        if token is None:
            return None
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            raise invalid_request("Send either a session cookie or a token, not both.")
        await _become(request, token)
    except OAuthError as error:
        return _refused(request, error)
    except UsersNotCached:
        return _refused(request, unavailable("The users are not loaded yet. Try again later."))
    except DatabaseError:
        return _refused(request, unavailable("The database cannot be used."))
    return None


def _has_other_tokens(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).view_name in OTHER_TOKENS
    except Resolver404:
        return False


async def _become(request: HttpRequest, token: str) -> None:
    bearer = await examine_token(token)
    if bearer is None:
        raise invalid_token()
    if bearer.read_only and request.method not in SAFE_METHODS:
        raise OAuthError("insufficient_scope", "This token is read-only.", status=403)
    request.bearer = bearer  # type: ignore[attr-defined]
    if bearer.grants_access:
        request.identity = bearer.holder.identity  # type: ignore[attr-defined]
        request.account = bearer.holder.user.name  # type: ignore[attr-defined]
        request.presence = token_presence(token, bearer.holder.user.name)  # type: ignore[attr-defined]


def _refused(request: HttpRequest, error: OAuthError) -> HttpResponse:
    if request.path.startswith(_OWN_ERRORS):
        return error.response()
    response = status_response(error.status, error.description)
    for name, value in error.headers.items():
        response[name] = value
    return response
